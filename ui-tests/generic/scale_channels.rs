use nomina::prelude::*;

dims! { N, C, H }

fn scale_channels<D: Dims + Has<C>>(x: &Tensor<D>, scale: &Tensor<(C,)>) -> Tensor<D> {
    x * scale.align_as(x)
}

fn main() {
    let x = Tensor::<(N, H)>::ones([2, 4]);
    let y = scale_channels(&x, &tensor!([1., 2., 3.]; C));
    let _: Tensor<(N,)> = y.sum(H);
}

// fix 10: let x = Tensor::<(N, C, H)>::ones([2, 3, 4]);
// fix 12: let _: Tensor<(N, C)> = y.sum(H);
