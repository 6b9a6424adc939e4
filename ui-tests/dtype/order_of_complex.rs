use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::zeros([2]).to::<Complex<f32>>();
    let y = x.sign();
}

// fix: let y = x.sgn();
