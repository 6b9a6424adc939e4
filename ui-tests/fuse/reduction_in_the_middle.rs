use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _ = fuse!(|x| x / x.sum(N));
}

// fix: let _ = fuse!(|x, s = x.sum(N)| x / s);
