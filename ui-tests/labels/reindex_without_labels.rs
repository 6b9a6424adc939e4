use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64, C }

fn main() {
    let x = Labelled::new(Tensor::<(Lat, C)>::zeros([2, 3])).with(Lat, [1.0, 2.0]);
    let y = x.sort_by(C);
}

// fix: let y = x.sort_by(Lat);
