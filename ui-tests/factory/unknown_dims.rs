use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::zeros([2, 3]);
}
