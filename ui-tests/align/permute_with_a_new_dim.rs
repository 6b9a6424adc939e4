use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.permute((H, C, N));
}

// fix: let y = x.align_to((H, C, N));
