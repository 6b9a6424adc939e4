use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let _ = fuse!(|x| (x + 1.0).bitwise_not());
}

// fix: let _ = fuse!(|x| (x + 1.0).to::<i64>().bitwise_not());
