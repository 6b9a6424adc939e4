use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.squeeze(H);
}

// fix 6: let x = Tensor::<(N, C, H)>::zeros([2, 3, 1]);
