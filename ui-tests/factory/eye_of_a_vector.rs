use nomina::prelude::*;

dims! { N }

fn main() {
    let x = Tensor::<(N,)>::eye([2]);
}

// fix: let x = Tensor::<(N, Prime<N>)>::eye([2, 2]);
