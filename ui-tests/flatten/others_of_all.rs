use nomina::prelude::*;

dims! { N, C, Batch }

fn main() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    let y = x.flatten_others(.., Batch);
}

// fix 7: let y = x.flatten_others(N, Batch);
