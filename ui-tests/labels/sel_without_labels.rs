use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64, C }

fn main() {
    let x = Labelled::new(Tensor::<(Lat, C)>::zeros([2, 3]));
    let y = x.sel(C, 1.0..);
}

// fix: let y = x.isel(C, 1..);
