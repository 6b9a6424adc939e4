use nomina::prelude::*;

fn main() {
    let d = DynTensor::zeros(&[2, 3], "N C").unwrap();
}

// fix: let d = DynTensor::zeros(&[2, 3], names!["N", "C"]).unwrap();
