use nomina::prelude::*;

dims! { N, C }

fn main() {
    let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    x.bernoulli_("often");
}

// fix: x.bernoulli_(0.9);
