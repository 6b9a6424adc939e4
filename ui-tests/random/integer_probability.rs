//! An integer where a probability is a float.
use nomina::prelude::*;

dims! { N }

fn main() {
    let mut x = Tensor::<(N,)>::zeros([2]);
    x.bernoulli_(1);
}

// fix: x.bernoulli_(1.0);
