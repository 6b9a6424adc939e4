//! A loader of tensors of which one lacks the dim of the rows.
use nomina::prelude::*;
use nomina_nn::prelude::*;
dims! { N, C, Row }

fn main() {
    let (x, y) = (Tensor::<(N, C)>::zeros([4, 2]), Tensor::<(Row,), i64>::zeros([4]));
    let loader = Loader::from_tensors(N, (x, y), 2);
    let _ = loader.items();
}
// fix: let loader = Loader::from_tensors(N, (x, y.rename(Row, N)), 2);
