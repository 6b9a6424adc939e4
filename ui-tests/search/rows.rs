use nomina::prelude::*;

dims! { M, N, Edge, V }

fn main() {
    let edges = Tensor::<(M, Edge)>::zeros([2, 3]);
    let values = Tensor::<(N, V)>::zeros([2, 4]);
    let places = edges.searchsorted(&values);
}

// fix: let places = edges.rename(M, N).searchsorted(&values);
