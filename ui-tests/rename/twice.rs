use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.rename((N, C), (H, H));
}

// fix: let y = x.rename((N, C), (H, N));
