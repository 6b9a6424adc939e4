use nomina::prelude::*;

dims! { N, C, H, Batch }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let y = x.flatten_others((C, H), Batch);
    let _: Tensor<(Batch, C)> = y.sum(H);
}

// fix 6: let x = Tensor::<(N, C, H)>::ones([2, 3, 4]);
