use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.expand((N, C));
}

// fix: let y = x.expand((N.of(2), C.of(3)));
