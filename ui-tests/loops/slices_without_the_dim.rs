//! A function of each slice of a tensor that lacks the dim.
use nomina::loops::map_over;
use nomina::prelude::*;
dims! { N, C, T }

fn main() {
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let sums = map_over(T, |row: Tensor<(N, C)>| row.sum(C), &x);
    let _ = sums;
}
// fix: let sums = map_over(N, |row: Tensor<(C,)>| row.sum(C), &x);
