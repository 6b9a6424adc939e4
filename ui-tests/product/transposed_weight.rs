use nomina::prelude::*;

dims! { N, In, Out }

fn main() {
    let x = Tensor::<(N, In)>::zeros([2, 3]);
    let w = Tensor::<(Out, In)>::zeros([4, 3]);
    let y: Tensor<(N, Out)> = x.matmul(&w);
}

// fix: let y: Tensor<(N, Out)> = x.contract(&w, In);
