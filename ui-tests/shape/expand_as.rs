use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = Tensor::<(N, C)>::zeros([2, 3]);
    let z = x.expand_as(&y);
}

// fix: let z = x.align_as(&y).expand_as(&y);
