use nomina::prelude::*;

dims! { N, C, H }

#[relations(D: Has<X>)]
fn layer_norm<D, X>(x: &Tensor<D>, dim: X, weight: &Tensor<(X,)>) -> Tensor<D> {
    let centred = x - x.mean(keep(dim));
    &centred / (&centred * &centred).mean(keep(dim)).sqrt() * weight.align_as(x)
}

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let weight = tensor!([1., 2.]; H);
    let y = layer_norm(&x, H, &weight);
    let _: Tensor<(N,)> = y.sum(C);
}

// fix 12: let x = Tensor::<(N, C, H)>::ones([2, 3, 2]);
// fix 15: let _: Tensor<(N, H)> = y.sum(C);
