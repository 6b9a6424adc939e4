use nomina::prelude::*;

dims! { N, C }

fn accumulate<D: Absorbs<E>, E: Dims>(x: &mut Tensor<D>, y: &Tensor<E>) {
    *x += y;
}

fn main() {
    let mut sum = tensor!([0., 0.]; C);
    accumulate(&mut sum, &Tensor::<(N, C)>::ones([3, 2]));
}

// fix 10: let mut sum = tensor!([[0., 0.], [0., 0.], [0., 0.]]; N, C);
