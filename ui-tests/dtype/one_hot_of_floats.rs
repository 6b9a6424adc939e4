use nomina::prelude::*;

dims! { N, Classes }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.one_hot(Classes.of(3));
}

// fix: let y = x.to::<i64>().one_hot(Classes.of(3));
