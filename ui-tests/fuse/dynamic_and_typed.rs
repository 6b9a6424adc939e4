use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C).into_dyn();
    let b = tensor!([1., 2.]; C);
    let _ = fuse!(|x, b| (x * 2.0).sub(b));
}

// fix: let _ = fuse!(|x, b = b.into_dyn()| (x * 2.0).sub(b));
