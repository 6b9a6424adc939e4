use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.repeat_interleave(1.5, C);
}

// fix: let y = x.repeat_interleave(2, C);
