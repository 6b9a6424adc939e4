use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([1, 3]);
    let y = x.expand([2, 2, 3]);
}

// fix 3: dims! { B, N, C }
// fix: let y = x.expand((B.of(2), N.of(2), C.of(3)));
