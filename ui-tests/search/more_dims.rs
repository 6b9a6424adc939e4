use nomina::prelude::*;

dims! { N, Edge, V }

fn main() {
    let edges = Tensor::<(N, Edge)>::zeros([2, 3]);
    let values = Tensor::<(V,)>::zeros([4]);
    let places = edges.searchsorted(&values);
}
