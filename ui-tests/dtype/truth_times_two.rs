use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.where_cond(&x, 0.0);
}

// fix: let y = x.gt(0.0).where_cond(&x, 0.0);
