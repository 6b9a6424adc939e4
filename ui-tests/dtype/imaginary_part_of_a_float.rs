use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = x.imag();
}

// fix: let y = x.to::<Complex<f32>>().imag();
