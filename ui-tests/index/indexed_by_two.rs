use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x[[0, 2]];
}

// fix 7: let y = x.get((N.i(0), C.i(2)));
