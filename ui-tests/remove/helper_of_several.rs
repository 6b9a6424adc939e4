use nomina::prelude::*;

dims! { N, C, H, W }

fn pool<D: Dims + Has<H> + Has<W>>(x: &Tensor<D>) -> Tensor<Without<D, (H, W)>> {
    x.mean((H, W))
}

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = pool(&x);
}

// fix 10: let x = Tensor::<(N, C, H, W)>::zeros([2, 3, 4, 5]);
