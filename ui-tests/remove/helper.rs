use nomina::prelude::*;

dims! { N, C, H }

fn pool<D: Dims + Has<H>>(x: &Tensor<D>) -> Tensor<Without<D, H>> {
    x.sum(H)
}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = pool(&x);
}

// fix 10: let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
