use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(Wild, C)>::zeros([2, 3]);
    let y = x.align_to((C, N));
}

// fix: let y = x.refine_names((N, C)).align_to((C, N));
