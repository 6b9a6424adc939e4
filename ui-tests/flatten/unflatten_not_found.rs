use nomina::prelude::*;

dims! { N, C, H, K, Features }

fn main() {
    let x = Tensor::<(N, Features)>::zeros([2, 12]);
    let y = x.unflatten(K, (C.of(3), H.of(4)));
}

// fix: let y = x.unflatten(Features, (C.of(3), H.of(4)));
