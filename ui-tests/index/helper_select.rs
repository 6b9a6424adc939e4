use nomina::prelude::*;

dims! { N, C, K }

fn pick<D: Dims + Has<N>, E: Dims + IndexOf<D, N>>(x: &Tensor<D>, ids: &Tensor<E, i64>) -> Tensor<Selected<D, N, E>> {
    x.index_select(N, ids)
}

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let ids = tensor!([0, 1]; C);
    let y = pick(&x, &ids);
}

// fix 11: let ids = tensor!([0, 1]; K);
