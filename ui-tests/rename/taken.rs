use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.rename(N, C);
}

// fix: let y = x.rename((N, C), (C, N));
