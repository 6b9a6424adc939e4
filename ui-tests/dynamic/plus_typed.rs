use nomina::prelude::*;

dims! { N }

fn main() {
    let d = DynTensor::zeros(&[2], names!["N"]).unwrap();
    let x = Tensor::<(N,)>::zeros([2]);
    let y = &x + &d;
}

// fix: let y = &x + d.typed::<(N,), f32>().unwrap();
