use nomina::prelude::*;

dims! { N, C }

fn row<B: Dim>(x: &Tensor<(N,)>) {
    let y = x.unsqueeze(B::default());
}

fn main() {
    row::<C>(&Tensor::zeros([2]));
}

// fix 5: fn row<B: Dim + nomina::dims::Insert<(N,)>>(x: &Tensor<(N,)>) {
