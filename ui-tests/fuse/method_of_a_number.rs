use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let _ = fuse!(|x| x * (2.0).exp());
}

// fix: let _ = fuse!(|x| x * { 2.0_f32.exp() });
