use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.slice_scatter(&x, C.i(1));
}

// fix: let y = x.slice_scatter(&x, C.i(..));
