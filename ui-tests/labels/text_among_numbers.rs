use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64 }

fn main() {
    let x = Labelled::new(Tensor::<(Lat,)>::zeros([2])).with(Lat, [1.0, 2.0]);
    let y = x.sel(Lat, "2020-01");
}

// fix: let y = x.sel(Lat, 1.0..2.0);
