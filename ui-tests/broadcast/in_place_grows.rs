use nomina::prelude::*;

dims! { N, C }

fn main() {
    let mut x = Tensor::<(C,)>::zeros([3]);
    let y = Tensor::<(N, C)>::zeros([2, 3]);
    x += &y;
}

// fix: let z = &x + &y;
