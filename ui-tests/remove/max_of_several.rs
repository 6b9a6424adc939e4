use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.max((N, C));
}

// fix: let y = x.amax((N, C));
