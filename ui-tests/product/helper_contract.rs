use nomina::prelude::*;

dims! { N, K, M, Features }

fn linear<D: Dims>(x: &Tensor<D>, w: &Tensor<(K, M)>) -> Tensor<Contracted<D, (K, M), K>>
where
    K: Contract<D, (K, M)>,
{
    x.contract(w, K)
}

fn main() {
    let x = Tensor::<(N, Features)>::zeros([2, 3]);
    let y = linear(&x, &Tensor::zeros([3, 4]));
}

// fix: let y = linear(&x.rename(Features, K), &Tensor::zeros([3, 4]));
