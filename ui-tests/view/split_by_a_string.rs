use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let parts = x.split(C, "2");
}

// fix: let parts = x.split(C, 2);
