use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let classes = Tensor::<(N,)>::zeros([2]).to::<Complex<f32>>();
    let loss = x.cross_entropy(&classes, C);
}

// fix 7: let classes = tensor!([0, 2]; N);
