use nomina::prelude::*;

dims! { N, K, M, A, B }

fn layer<D: Dims + MatMul<E>, E: Dims>(x: &Tensor<D>, w: &Tensor<E>) -> Tensor<Product<D, E>> {
    x.matmul(w)
}

fn main() {
    let x = Tensor::<(A, N, K)>::zeros([2, 3, 4]);
    let w = Tensor::<(B, K, M)>::zeros([2, 4, 5]);
    let y = layer(&x, &w);
}

// fix: let y = layer(&x, &w.rename(B, A));
