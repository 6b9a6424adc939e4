use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.sum(vec![N, C]);
}

// fix 7: let y = x.sum((N, C));
