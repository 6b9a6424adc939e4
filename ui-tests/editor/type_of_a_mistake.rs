use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = &x + x.sum(C);
    let z: Tensor<(N,)> = y.sum(C);
}

// fix: let y = &x + x.sum(keep(C));
