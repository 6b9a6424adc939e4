use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, Wild)>::zeros([2, 3]);
    let y = Tensor::<(N,)>::zeros([3]);
    let z = &x + &y;
}

// fix 7: let y = Tensor::<(C,)>::zeros([3]);
