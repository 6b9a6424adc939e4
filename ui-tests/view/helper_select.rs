use nomina::prelude::*;

dims! { N, C }

fn first<D: Dims + Has<N>>(x: &Tensor<D>) -> Tensor<Without<D, N>> {
    x.select(N, 0)
}

fn main() {
    let x = Tensor::<(C,)>::zeros([3]);
    let y = first(&x);
}

// fix 10: let x = Tensor::<(N, C)>::zeros([2, 3]);
