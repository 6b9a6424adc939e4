use nomina::prelude::*;

dims! { N, Edge, V }

fn main() {
    let edges = Tensor::<(N, Edge)>::zeros([2, 3]);
    let values = Tensor::<(V,)>::zeros([4]);
    let places = edges.searchsorted(&values);
}

// fix 7: let values = Tensor::<(N, V)>::zeros([2, 4]);
