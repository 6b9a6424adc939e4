use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<N>::zeros([2]);
}

// fix: let x = Tensor::<(N,)>::zeros([2]);
