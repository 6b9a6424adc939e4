use nomina::prelude::*;

dims! { N, M }
dims! { Rgb = 3, Classes = 10 }

fn main() {
    let x = Tensor::<(N, Rgb)>::zeros([2, 3]);
    let w = Tensor::<(Classes, M)>::zeros([10, 4]);
    let y = x.matmul(&w);
}

// fix 8: let w = Tensor::<(Rgb, M)>::zeros([3, 4]);
