use nomina::prelude::*;

dims! { N, C }

fn add<D: Dims + Broadcast<E>, E: Dims>(x: &Tensor<D>, y: &Tensor<E>) -> Tensor<Sum<D, E>> {
    x + y
}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([2]);
    let z = add(&x, &y);
}

// fix: let z = add(&x, &y.align_as(&x));
