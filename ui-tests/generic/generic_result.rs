use nomina::prelude::*;

dims! { N, C }

fn totals<B: Dim>(x: &Tensor<(N, B)>) {
    let y = x.sum(B::default());
}

fn main() {
    totals(&Tensor::<(N, C)>::zeros([2, 3]));
}

// fix 5: fn totals<B: Dim>(x: &Tensor<(N, B)>) where (N, B): Distinct {
