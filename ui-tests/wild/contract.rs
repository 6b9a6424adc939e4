use nomina::prelude::*;

dims! { K, M }

fn main() {
    let x = Tensor::<(Wild, K)>::zeros([2, 3]);
    let w = Tensor::<(K, M)>::zeros([3, 4]);
    let y = x.contract(&w, K);
}
