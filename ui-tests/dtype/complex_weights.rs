use nomina::prelude::*;

dims! { N }

fn main() {
    let x = tensor!([0, 1]; N);
    let w = Tensor::<(N,)>::ones([2]).to::<Complex<f32>>();
    let y = x.bincount_weighted(&w, default());
}

// fix 7: let w = Tensor::<(N,)>::ones([2]);
