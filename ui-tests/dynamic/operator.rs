use nomina::prelude::*;

dims! { N }

fn main() {
    let d = DynTensor::zeros(&[2], names!["N"]).unwrap();
    let e = &d + &d;
}

// fix: let e = d.add(&d).unwrap();
