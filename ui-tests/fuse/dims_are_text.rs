use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let _ = fuse!(|x| (x * 2.0).sum("C"));
}

// fix: let _ = fuse!(|x| (x * 2.0).sum(C));
