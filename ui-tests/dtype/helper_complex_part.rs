use nomina::prelude::*;

dims! { N }

fn pair<T: nomina::ComplexPart>(x: &Tensor<(N,), T>) {
    let _ = x.complex(x);
}

fn main() {
    let x = Tensor::<(N,)>::zeros([2]).to::<f16>();
    let y = pair(&x);
}

// fix: let y = pair(&x.to::<f32>());
