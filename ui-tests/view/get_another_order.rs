use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.get((N.i(0), H.i(1)));
}

// fix: let y = x.get((N.i(0), C.i(1)));
