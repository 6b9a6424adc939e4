use nomina::prelude::*;

dims! { N, H, Features }

fn main() {
    let x = Tensor::<(N, Features)>::zeros([2, 12]);
    let y = x.unflatten(Features, (N.of(3), H.of(4)));
}

// fix 3: dims! { N, C, H, Features }
// fix: let y = x.unflatten(Features, (C.of(3), H.of(4)));
