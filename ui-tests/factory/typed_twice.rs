use nomina::prelude::*;

dims! { N }

fn main() {
    let x = DynTensor::zeros(&[2, 2], names!["N", _]).unwrap();
    let y = x.typed::<(N, N), f32>().unwrap();
}

// fix: let y = x.typed::<(N, Wild), f32>().unwrap();
