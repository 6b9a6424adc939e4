use nomina::prelude::*;

dims! { N, C, H, Batch }

fn main() {
    let x = Tensor::<(N, C, H)>::ones([2, 3, 4]);
    let z = x.sum(N).unflatten_as(Batch, &x);
    let _: Tensor<(N, C)> = z.sum(H);
}

// fix 7: let z = x.flatten_others((C, H), Batch).unflatten_as(Batch, &x);
