use nomina::prelude::*;

dims! { N, C }

fn main() {
    let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    let p = Tensor::<(N,)>::full([2], 0.5);
    x.bernoulli_(&p);
}

// fix: x.bernoulli_(&p.align_as(&x));
