use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let _ = fuse!(|x, x| x * x);
}

// fix: let _ = fuse!(|x| x * x);
