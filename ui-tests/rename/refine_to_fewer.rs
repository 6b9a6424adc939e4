use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]).drop_names();
    let y = x.refine_names((N,));
}

// fix: let y = x.refine_names((N, C));
