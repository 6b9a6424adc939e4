use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _ = fuse!(|x| x.exp().sum(N).mean(C));
}

// fix: let _ = fuse!(|x| x.exp().sum(N)).mean(C);
