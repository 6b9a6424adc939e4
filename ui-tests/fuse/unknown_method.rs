use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _ = fuse!(|x| x.sigmoidd() * 2.0);
}

// fix: let _ = fuse!(|x| x.sigmoid() * 2.0);
