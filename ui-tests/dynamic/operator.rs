use nomina::prelude::*;

dims! { N }

fn main() {
    let d = DynTensor::zeros(&[2], names!["N"]).unwrap();
    let e = (&d + &d).mean("N");
}

// fix: let e = (&d + &d).unwrap().mean("N").unwrap();
