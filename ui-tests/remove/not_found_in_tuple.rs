use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.sum((N, H));
}

// fix: let y = x.sum((N, C));
