use nomina::grad::hessian;
use nomina::prelude::*;

dims! { C }

fn main() {
    let v = Tensor::<(C,)>::zeros([3]);
    let h = hessian(|v| v * v, &v);
}

// fix: let h = hessian(|v| (v * v).sum(..), &v);
