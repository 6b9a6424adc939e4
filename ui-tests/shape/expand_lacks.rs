use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.expand((N.of(2), H.of(4)));
}

// fix: let y = x.expand((H.of(4), N.of(2), C.of(3)));
