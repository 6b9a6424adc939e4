use nomina::prelude::*;

dims! { N, C, NC }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.reshape([6]);
}

// fix 7: let y = x.flatten((N, C), NC);
