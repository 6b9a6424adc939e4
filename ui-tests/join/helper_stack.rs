use nomina::prelude::*;

dims! { N, B }

fn batch<D: Dims, X: OneDim + Insert<D>>(x: &Tensor<D>, dim: X) -> Tensor<Inserted<D, X>> {
    stack(&[x, x], dim)
}

fn main() {
    let x = Tensor::<(B, N)>::zeros([2, 3]);
    let y = batch(&x, B);
}

// fix: let y = batch(&x.select(B, 0), B);
