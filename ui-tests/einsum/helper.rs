use nomina::prelude::*;

dims! { N, K, M }

fn squares(x: &Tensor<(N, K)>) -> Tensor<(N,)> {
    einsum!(x[N, K] * x[N, K] -> [N])
}

fn main() {
    let x = Tensor::<(N, M)>::zeros([2, 3]);
    let y = squares(&x);
}

// fix: let y = squares(&x.rename(M, K));
