use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N, N)>::zeros([2, 3]);
}

// fix: let x = Tensor::<(N, Prime<N>)>::zeros([2, 3]);
