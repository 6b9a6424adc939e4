use nomina::grad::jacobian;
use nomina::prelude::*;

dims! { C }

fn main() {
    let v = Tensor::<(C,)>::zeros([3]);
    let j = jacobian(|v| v.outer(&v.prime(C)), &v);
}

// fix: let j = jacobian(|v| v.outer(&v.prime(C)).sum(Prime(C)), &v);
