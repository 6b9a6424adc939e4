use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let bias = Tensor::<(N,)>::zeros([3]);
    let _ = fuse!(|x, bias| (x.exp() + bias).tanh());
}

// fix: let _ = fuse!(|x, bias = bias.rename(N, C)| (x.exp() + bias).tanh());
