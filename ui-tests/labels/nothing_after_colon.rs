use nomina::prelude::*;

dims! { Lat:, C }

fn main() {
    let _x = Tensor::<(Lat, C)>::zeros([2, 3]);
}

// fix 3: dims! { Lat: f64, C }
