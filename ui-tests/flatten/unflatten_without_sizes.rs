use nomina::prelude::*;

dims! { N, C, H, Features }

fn main() {
    let x = Tensor::<(N, Features)>::zeros([2, 12]);
    let y = x.unflatten(Features, (C, H));
}

// fix: let y = x.unflatten(Features, (C.of(3), H.of(4)));
