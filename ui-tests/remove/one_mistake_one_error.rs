use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.sum(H).sum(C);
}

// fix: let y = x.sum(N).sum(C);
