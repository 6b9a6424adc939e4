use nomina::prelude::*;

dims! { N, C, H, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N, H)>::zeros([2, 3]);
    let z = stack((&x, &y), K);
}

// fix: let z = stack((&x, &y.rename(H, C)), K);
