use nomina::prelude::*;

dims! { N, C, H }

fn scale<D: Dims + Broadcast<(C,)>>(x: &Tensor<D>, s: &Tensor<(C,)>) -> Tensor<Sum<D, (C,)>> {
    x * s
}

fn main() {
    let x = Tensor::<(N, H)>::zeros([2, 3]);
    let y = scale(&x, &Tensor::zeros([3]));
}

// fix 10: let x = Tensor::<(N, C)>::zeros([2, 3]);
