use nomina::prelude::*;

dims! { N, C, L, K }

fn main() {
    let x = Tensor::<(N, C, L)>::zeros([2, 3, 4]);
    let weight = Tensor::<(N, C, K)>::zeros([5, 3, 2]);
    let y = x.conv1d(C, L, &weight);
}
