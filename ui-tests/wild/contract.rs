use nomina::prelude::*;

dims! { K, M }

fn main() {
    let x = Tensor::<(Wild, K)>::zeros([2, 3]);
    let w = Tensor::<(K, M)>::zeros([3, 4]);
    let y = x.contract(&w, K);
}

// fix 3: dims! { N, K, M }
// fix: let y = x.refine_names((N, K)).contract(&w, K);
