use nomina::prelude::*;

dims! { N, C, L, K }

fn main() {
    let x = Tensor::<(N, C, L)>::zeros([2, 3, 4]);
    let weight = Tensor::<(N, C, K)>::zeros([5, 3, 2]);
    let y = x.conv1d(C, L, &weight);
}

// fix 3: dims! { N, C, L, K, Out }
// fix: let y = x.conv1d(C, L, &weight.rename(N, Out));
