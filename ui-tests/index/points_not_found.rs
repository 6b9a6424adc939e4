use nomina::prelude::*;

dims! { N, C, H, K }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let ids = tensor!([0, 1]; K);
    let y = x.index((N.i(&ids), H.i(&ids)));
}

// fix: let y = x.index((N.i(&ids), C.i(&ids)));
