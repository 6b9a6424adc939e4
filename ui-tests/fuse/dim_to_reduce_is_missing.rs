use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _ = fuse!(|x| (x * 2.0).sum(H));
}

// fix: let _ = fuse!(|x| (x * 2.0).sum(C));
