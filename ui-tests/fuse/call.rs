use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let _ = fuse!(|x| f32::sin(x));
}

// fix: let _ = fuse!(|x| x.sin());
