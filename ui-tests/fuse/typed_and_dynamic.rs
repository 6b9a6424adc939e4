use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let b = tensor!([1., 2.]; C).into_dyn();
    let _ = fuse!(|x, b| x + b);
}

// fix: let _ = fuse!(|x, b = b.typed::<(C,), f32>().unwrap()| x + b);
