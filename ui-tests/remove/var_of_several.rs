use nomina::prelude::*;

dims! { N, C, H, W }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.var((H, W));
}

// fix: let y = x.var((N, C));
