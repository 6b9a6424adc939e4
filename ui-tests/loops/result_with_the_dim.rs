//! A function of each slice whose result has the dim already.
use nomina::loops::map_over;
use nomina::prelude::*;
dims! { N, C, K }

fn main() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let products = map_over(N, |row: Tensor<(C,)>| &x * row, &x);
    let _ = products;
}
// fix: let products = map_over(N, |row: Tensor<(C,)>| x.rename(N, K) * row, &x);
