use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C, H)>::zeros([2, 3, 4]);
    let y = x.align_to((N, C));
}

// fix: let y = x.align_to((N, C, ..));
