use nomina::prelude::*;

dims! { N, C, K }

fn main() {
    let x = Tensor::<(Wild, C)>::zeros([2, 3]);
    let y = x.refine_names((N, K));
}

// fix: let y = x.refine_names((N, C)).rename(C, K);
