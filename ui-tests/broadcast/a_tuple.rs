use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.add((1.0, 2.0));
}

// fix: let y = x.add(&tensor!([1.0, 2.0]; N));
