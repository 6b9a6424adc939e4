use nomina::prelude::*;
use nomina::Labelled;

dims! { Time: f64 }

fn main() {
    let x = Labelled::new(Tensor::<(Time,)>::zeros([2])).with(Time, [1.0, 2.0]);
    let y = x.resample(Time, "MS").mean();
}

// fix: let y = x.mean(Time);
