use nomina::prelude::*;
use nomina::Labelled;

dims! { Lat: f64, C }

fn main() {
    let x = Labelled::new(Tensor::<(Lat, C)>::zeros([2, 3]));
    let y = x.try_labels(C).is_ok();
}

// fix: let y = x.has_labels(C);
