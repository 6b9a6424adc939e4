use nomina::prelude::*;

dims! { C, K }

fn main() {
    let ids = tensor!([0., 1.]; K);
    let picked = C.i(&ids);
}

// fix 6: let ids = tensor!([0, 1]; K);
