use nomina::prelude::*;

dims! { N }

fn main() {
    let d = DynTensor::zeros(&[2], names!["N"]).unwrap();
    let x = Tensor::<(N,)>::zeros([2]);
    let y = (&d + &x).unwrap();
}

// fix: let y = (&d + &x.to_dyn()).unwrap();
