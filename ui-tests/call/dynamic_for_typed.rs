use nomina::prelude::*;

dims! { N, C }

fn main() {
    fn take(_: &Tensor<(N, C)>) {}
    let x = DynTensor::zeros(&[2, 3], names!["N", "C"]).unwrap();
    take(&x);
}

// fix: take(&x.typed().unwrap());
