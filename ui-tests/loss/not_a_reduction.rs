use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let classes = tensor!([0, 2]; N);
    let loss = x.cross_entropy_with(&classes, C, "mean", default());
}

// fix: let loss = x.cross_entropy_with(&classes, C, nomina::reduction::Mean, default());
