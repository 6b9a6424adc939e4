use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.expand(3);
}

// fix: let y = x.expand([2, 3]);
