use nomina::prelude::*;

dims! { N }

fn scale<S: RealNumber>(x: &Tensor<(N,)>, s: S) -> Tensor<(N,)> {
    x * s
}

fn main() {
    let x = Tensor::<(N,)>::zeros([2]);
    let y = scale(&x, Complex::new(0.0_f32, 1.0));
}

// fix: let y = scale(&x, 2.0);
