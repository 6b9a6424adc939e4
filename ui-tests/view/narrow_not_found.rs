use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.narrow(H, 0..1);
}

// fix: let y = x.narrow(C, 0..1);
