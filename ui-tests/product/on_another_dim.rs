use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let w = Tensor::<(H, C)>::zeros([3, 3]);
    let y = x.matmul_on(C, &w);
}

// fix 8: let y = x.contract(&w, C);
