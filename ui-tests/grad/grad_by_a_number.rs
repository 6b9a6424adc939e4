use nomina::grad::grad;
use nomina::prelude::*;

dims! { C }

fn main() {
    let v = Tensor::<(C,)>::zeros([3]);
    let g = grad(|_| v.sum(..), 1.0);
}

// fix: let g = grad(|v| v.sum(..), &v);
