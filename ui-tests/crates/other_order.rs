use nomina::prelude::*;

mod model {
    nomina::dims! { pub N, pub C }

    pub fn rows(x: &nomina::Tensor<(N, C)>) -> usize {
        x.size(N)
    }
}

dims! { N, C }

fn main() {
    let x = Tensor::<(C, N)>::zeros([3, 2]);
    let rows = model::rows(&x.to_dims());
}

// fix: let rows = model::rows(&x.align_to((N, C)).to_dims());
