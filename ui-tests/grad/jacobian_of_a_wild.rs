use nomina::grad::jacobian;
use nomina::prelude::*;

dims! { C }

fn main() {
    let v = Tensor::<(Wild,)>::zeros([3]);
    let j = jacobian(|v| v * v, &v);
}

// fix: let j = jacobian(|v| v * v, &v.refine_names((C,)));
