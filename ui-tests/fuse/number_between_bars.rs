use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let rate = 0.5_f32;
    let _ = fuse!(|x, rate| x * rate);
}

// fix: let _ = fuse!(|x| x * { rate });
