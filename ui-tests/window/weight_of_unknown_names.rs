use nomina::prelude::*;

dims! { N, C, L, Out, K }

fn main() {
    let x = Tensor::<(N, C, L)>::zeros([2, 3, 4]);
    let weight = Tensor::<(Out, C, K)>::zeros([5, 3, 2]).drop_names();
    let y = x.conv1d(C, L, &weight);
}

// fix: let y = x.conv1d(C, L, &weight.refine_names((Out, C, K)));
