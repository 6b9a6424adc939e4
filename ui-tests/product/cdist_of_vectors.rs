use nomina::prelude::*;

dims! { K }

fn main() {
    let x = Tensor::<(K,)>::zeros([3]);
    let y = x.cdist(&x);
}

// fix 3: dims! { K, N, M }
// fix 7: let y = x.align_to((N, K)).cdist(&x.align_to((M, K)));
