use nomina::prelude::*;

dims! { N, C }

fn main() {
    let x = Tensor::<(N, C)>::zeros([2, 3]);
    let y = x.softmax(..);
}

// fix: let y = x.flatten((N, C), C).softmax(C);
