//! Dims with the same spelling are the same dim, no matter which crate declares them, statically
//! and at run time.

use nomina::prelude::*;

mod data {
    nomina::dims! { pub N, pub C, pub Batch = "batch" }
}

mod model {
    nomina::dims! { pub N, pub C, pub Rows = "batch" }
}

#[test]
fn relations_and_operators_take_both_for_one() {
    let x: Tensor<(data::N, data::C)> = Tensor::ones([2, 3]);
    let y: Tensor<(model::N, model::C)> = Tensor::ones([2, 3]);
    // The result has the left operand's markers.
    let sum: Tensor<(data::N, data::C)> = &x + &y;
    assert_eq!(sum.to_vec(), [2.0; 6]);
    let by_column: Tensor<(data::N,)> = x.sum(model::C);
    assert_eq!(by_column.to_vec(), [3.0; 2]);
    let turned: Tensor<(model::C, model::N)> = x.align_to((model::C, model::N));
    assert_eq!(turned.shape(), [3, 2]);
    let product: Tensor<(data::N,)> = x.contract(&y.select(model::N, 0), model::C);
    assert_eq!(product.to_vec(), [3.0; 2]);
}

#[test]
fn the_run_time_spelling_counts_not_the_markers() {
    let x: Tensor<(data::Batch,)> = Tensor::ones([2]);
    let y: Tensor<(model::Rows,)> = Tensor::ones([2]);
    let sum = &x + &y;
    assert_eq!(sum.to_vec(), [2.0; 2]);
    assert_eq!(x.into_dyn().names(), y.into_dyn().names());
}

#[test]
fn a_dynamic_tensor_takes_any_marker_of_the_spelling() {
    let d = DynTensor::zeros(&[2, 3], names!["N", "C"]).unwrap();
    assert_eq!(
        d.typed::<(data::N, data::C), f32>().unwrap().shape(),
        [2, 3]
    );
    assert_eq!(
        d.typed::<(model::N, model::C), f32>().unwrap().shape(),
        [2, 3]
    );
    assert!(d.typed::<(data::C, data::N), f32>().is_err());
}
