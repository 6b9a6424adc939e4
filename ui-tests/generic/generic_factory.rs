use nomina::prelude::*;

dims! { N, C }

fn noise<R: Dim, I: Dim>() -> Tensor<(R, I)> {
    Tensor::randn([2, 3])
}

fn main() {
    let _ = noise::<N, C>();
}

// fix 5: fn noise<R: Dim, I: Dim>() -> Tensor<(R, I)> where (R, I): Distinct {
