use nomina::prelude::*;

dims! { N }

fn main() {
    fn take(_: &Tensor<(N,)>) {}
    let x = tensor!([1, 2]; N);
    take(&x);
}

// fix: take(&x.to::<f32>());
