use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = nomina::Sparse::<(N, C)>::from_entries(&[([0, 1], 2.0)], [2, 3]);
    let y = Tensor::<(C,)>::zeros([3]);
    let z = x.mul(&y);
}

// fix: let z = x.to_dense() * &y;
