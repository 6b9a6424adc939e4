use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let _ = fuse!(|x| { let h = x * 2.0; x });
}

// fix: let _ = fuse!(|x| { let h = x * 2.0; h * x });
