use nomina::prelude::*;

dims! { N, C, H }

fn main() {
    let x = Tensor::<(N, C, H)>::ones([2, 3, 4]);
    let y = x.flatten_others((C, H), H);
}

// fix 7: let y = x.flatten_others((C, H), N);
