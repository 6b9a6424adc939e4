use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.rename(N, "Batch");
}

// fix 3: dims! { N, C, Batch }
// fix 7: let y = x.rename(N, Batch);
