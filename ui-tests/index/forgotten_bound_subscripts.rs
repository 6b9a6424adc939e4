use nomina::prelude::*;

fn part<D: Dims, S: nomina::Subscripts>(x: &Tensor<D>, at: S) {
    let y = x.at(at);
}

fn main() {}

// fix 3: fn part<D: Dims, S: SubscriptsOf<D>>(x: &Tensor<D>, at: S) {
