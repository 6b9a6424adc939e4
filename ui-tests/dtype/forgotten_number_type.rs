use nomina::prelude::*;

dims! { N }

fn scale<S: Number>(x: &Tensor<(N,)>, s: S) {
    let z = x.mul(s);
}

fn main() {}

// fix 5: fn scale<S: RealNumber>(x: &Tensor<(N,)>, s: S) {
