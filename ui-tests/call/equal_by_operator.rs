use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = Tensor::<(N, C)>::zeros([2, 3]);
    assert!(x == y);
}

// fix 8: assert!(x.equal(&y));
