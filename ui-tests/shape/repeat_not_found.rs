use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.repeat(H.of(2));
}

// fix: let y = x.repeat(C.of(2));
