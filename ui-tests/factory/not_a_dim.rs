use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N, u32)>::zeros([2, 3]);
}

// fix 3: dims! { N, C }
// fix: let x = Tensor::<(N, C)>::zeros([2, 3]);
