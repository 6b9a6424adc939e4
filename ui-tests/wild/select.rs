use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(Wild, C)>::zeros([2, 3]);
    let y = x.select(N, 0);
}

// fix: let y = x.refine_names((N, C)).select(N, 0);
