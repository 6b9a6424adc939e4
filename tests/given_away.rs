//! An operator writes into the buffer of an operand passed by value, left or right, if nothing else
//! can see that and the result has the same strides.

use nomina::prelude::*;

dims! { N, C }

type Matrix<T = f32> = Tensor<(N, C), T>;

fn x() -> Matrix {
    tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C)
}

/// Returns a matrix with an unshared buffer.
fn y() -> Matrix {
    tensor!([[6., 5., 4.], [3., 2., 1.]]; N, C)
}

fn row() -> Tensor<(C,)> {
    tensor!([10., 20., 30.]; C)
}

fn address<D: Dims, T: Element>(x: &Tensor<D, T>) -> *const T {
    x.as_slice().expect("contiguous").as_ptr()
}

/// Asserts that the result of `f` on `own` is `wanted` and is in the buffer of `own`.
#[track_caller]
fn reused<D: Dims, T: Element>(
    own: Tensor<D, T>,
    compute: impl Fn(Tensor<D, T>) -> Tensor<D, T>,
    wanted: &Tensor<D, T>,
) {
    let before = address(&own);
    let result = compute(own);
    assert_eq!(address(&result), before);
    assert_eq!(result.to_vec(), wanted.to_vec());
}

#[test]
fn the_right_operand_in_its_order() {
    reused(y(), |y| &x() + y, &(&x() + &y()));
    reused(y(), |y| &x() - y, &(&x() - &y()));
    reused(y(), |y| &x() * y, &(&x() * &y()));
    reused(y(), |y| &x() / y, &(&x() / &y()));
}

#[test]
fn the_left_one_first() {
    reused(x(), |x| x - &y(), &(&x() - &y()));
    reused(x(), |x| x / y(), &(&x() / &y()));
    reused(x(), |x| x - row(), &(&x() - &row()));
}

#[test]
fn the_right_one_where_the_left_is_too_small() {
    reused(y(), |y| row() - y, &(&row() - &y()));
    reused(y(), |y| &row() / y, &(&row() / &y()));
}

#[test]
fn beside_a_number() {
    reused(x(), |x| 2.0 * x, &(2.0 * &x()));
    reused(x(), |x| 1.0 - x, &(1.0 - &x()));
    reused(x(), |x| 1.0 / x, &(1.0 / &x()));
    reused(x(), |x| x - 1.0, &(&x() - 1.0));
    let whole = || tensor!([[1_i64, 2], [3, 4]]; N, C);
    reused(whole(), |x| 2 - x, &(2 - &whole()));
    reused(x(), |x| -x, &-&x());
    reused(whole(), |x| !x, &!&whole());
}

#[test]
fn large_ones_too() {
    let steps: Tensor<(C,)> = Tensor::arange(0.0, 300.0, 1.0);
    let large = |start: f32| Matrix::full([1000, 300], start) + &steps;
    reused(
        large(1.0),
        |y| &large(2.0) - y,
        &(&large(2.0) - &large(1.0)),
    );
    reused(large(1.0), |y| 1.0 - y, &(1.0 - &large(1.0)));
}

#[test]
fn not_where_somebody_else_sees_it() {
    let (own, x) = (y(), x());
    let seen = own.clone();
    let result = &x - own;
    assert_eq!(seen.to_vec(), y().to_vec());
    assert_eq!(result.to_vec(), (&x - &seen).to_vec());
    let part = seen.select(N, 1);
    drop(seen);
    let negative = -part;
    assert_eq!(negative.to_vec(), [-3.0, -2.0, -1.0]);
}

#[test]
fn not_where_the_result_is_another() {
    let own = tensor!([1_i32, 2, 3]; C);
    let quotient = 6 / own;
    assert_eq!(quotient.to_vec(), [6.0, 3.0, 2.0]);
    let wide = tensor!([1., 2., 3.]; C);
    let sum: Tensor<(N, C)> = &x() + wide;
    assert_eq!(sum.to_vec(), (&x() + &tensor!([1., 2., 3.]; C)).to_vec());
    // Its layout differs from that of the result with borrowed operands.
    let turned = || tensor!([[6., 3.], [5., 2.], [4., 1.]]; C, N).align_to((N, C));
    let result = &x() - turned();
    let borrowed = &x() - &turned();
    assert_eq!(result.strides(), borrowed.strides());
    assert_eq!(result.to_vec(), borrowed.to_vec());
}

#[test]
fn what_fails_names_both() {
    let error = std::panic::catch_unwind(|| x() - Matrix::<f32>::ones([3, 3]));
    let text = error.unwrap_err().downcast::<String>().unwrap();
    assert!(
        text.contains("N=2, C=3") && text.contains("N=3, C=3"),
        "{text}"
    );
}

/// A run-time name that only one operand has.
#[test]
fn names_behind_wild_are_found() {
    let wild = |x: Matrix| -> Tensor<(Wild, C)> { x.into_dyn().typed().unwrap() };
    let sum = wild(y()) - wild(x());
    assert_eq!(sum.names(), names!["N", "C"]);
}
