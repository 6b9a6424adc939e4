use nomina::prelude::*;

dims! { N, C }

fn shares<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N, B)> {
    x.softmax(B::default())
}

fn main() {
    let _ = shares(&Tensor::<(N, C)>::zeros([2, 3]));
}

// fix 5: fn shares<B: Dim>(x: &Tensor<(N, B)>) -> Tensor<(N, B)> where (N, B): Distinct {
