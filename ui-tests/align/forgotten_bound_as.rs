use nomina::prelude::*;

fn scaled<D: Dims, E: Dims>(x: &Tensor<D>, scale: &Tensor<E>) -> Tensor<D> {
    x * scale.align_as(x)
}

fn main() {}

// fix 3: fn scaled<D: Dims, E: Dims + AlignInto<D>>(x: &Tensor<D>, scale: &Tensor<E>) -> Tensor<D> {
