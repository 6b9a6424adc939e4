use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64 }

fn main() {
    let x = Labelled::new(Tensor::<(Lat,)>::zeros([2]));
    let y = x.with(Lat, ["a", "b"]);
}

// fix: let y = x.with(Lat, [1.0, 2.0]);
