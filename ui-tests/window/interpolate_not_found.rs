use nomina::prelude::*;

dims! { N, H, W }

fn main() {
    let x = Tensor::<(N, H)>::zeros([2, 4]);
    let y = x.interpolate((W.of(8),), InterpolateMode::Nearest);
}

// fix: let y = x.interpolate((H.of(8),), InterpolateMode::Nearest);
