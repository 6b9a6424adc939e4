use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let labels = tensor!([0., 2.]; N);
    let loss = x.cross_entropy(&labels, C);
}

// fix: let loss = x.cross_entropy(&labels.long(), C);
