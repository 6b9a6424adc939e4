use nomina::prelude::*;

dims! { N, C, H, Batch, K }

fn main() {
    let x = Tensor::<(N, C, H)>::ones([2, 3, 4]);
    let y = x.flatten_others(H, Batch).rename(H, K);
    let z = y.unflatten_as(Batch, &x);
    let _: Tensor<(N, C)> = z.sum(H);
}

// fix 8: let z = y.rename(K, H).unflatten_as(Batch, &x);
