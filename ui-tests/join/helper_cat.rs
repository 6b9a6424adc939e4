use nomina::prelude::*;

dims! { N, C }

fn twice<D: Dims + Has<N>>(x: &Tensor<D>) -> Tensor<D> {
    cat(&[x, x], N)
}

fn main() {
    let x = Tensor::<(C,)>::zeros([3]);
    let y = twice(&x);
}

// fix 10: let x = Tensor::<(N, C)>::zeros([2, 3]);
