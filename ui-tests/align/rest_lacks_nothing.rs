use nomina::prelude::*;

dims! { N, C, H, W }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.align_to((N, .., N));
}

// fix: let y = x.align_to((N, ..));
