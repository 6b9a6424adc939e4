use nomina::prelude::*;

fn pick<D: Dims, P: nomina::Points>(x: &Tensor<D>, at: P) {
    let y = x.index(at);
}

fn main() {}

// fix 3: fn pick<D: Dims, P: PointsOf<D>>(x: &Tensor<D>, at: P) {
