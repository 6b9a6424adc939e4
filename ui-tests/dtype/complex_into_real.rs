use nomina::prelude::*;

dims! { N }

fn main() {
    let mut x = Tensor::<(N,)>::zeros([2]);
    x *= Complex::new(0.0_f32, 1.0);
}

// fix: let y = &x * Complex::new(0.0_f32, 1.0);
