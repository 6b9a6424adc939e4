use nomina::prelude::*;

fn scale<D: Dims, R: Number>(x: &Sparse<D>, by: R) {
    let y = x.mul(by);
}

fn main() {}

// fix 3: fn scale<D: Dims, R: RealNumber>(x: &Sparse<D>, by: R) {
