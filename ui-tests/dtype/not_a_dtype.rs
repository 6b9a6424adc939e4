use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.to::<u64>();
}

// fix: let y = x.to::<i64>();
