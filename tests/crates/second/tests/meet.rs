//! Two crates with separate dims exchange tensors by spelling, in both directions.

use named::prelude::*;
use second::{C, N, Rgb, Rows};

/// Dims declared through the other crate's re-export.
mod through_first {
    first::nomina::dims! { pub N, pub C, pub Colour("Rgb") = 3 }
}

/// Passes a table of this crate to both kinds of functions of `first`.
fn through_both(x: Tensor<(N, C)>) -> Tensor<(N,)> {
    let rows = first::per_row(&x.to_dims());
    let twice: Tensor<(N, C)> = first::doubled(x.into_dims()).into_dims();
    // With `first`'s dims on the right, the result has the left operand's markers.
    twice.mean(C) + rows
}

#[test]
fn operators_and_relations_need_no_conversion() {
    let theirs = first::table(2, 3);
    let ours = Tensor::<(N, C)>::ones([2, 3]);
    let sum: Tensor<(N, C)> = &ours + &theirs;
    let same: Tensor<(first::N, first::C)> = &theirs + &ours;
    assert_eq!(sum.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert!(sum.equal(&same));
    let by_row: Tensor<(first::N,)> = theirs.sum(C);
    assert_eq!(by_row.to_vec(), [3.0, 12.0]);
    let product: Tensor<(N,)> = ours.contract(&theirs.select(N, 1), first::C);
    assert_eq!(product.to_vec(), [12.0, 12.0]);
    let turned: Tensor<(C, N)> = theirs.align_to((C, N));
    assert_eq!(turned.to_vec(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    let mut into = ours.clone();
    into += &theirs;
    assert!(into.equal(&sum));
    let listed: Tensor<(N, first::C)> = einsum!(ours[N, first::C] * theirs[C, N] -> [N, first::C]);
    assert_eq!(listed.to_vec(), theirs.to_vec());
    let joined: Tensor<(N, C)> = cat((&ours, &theirs), first::N);
    assert_eq!(joined.shape(), [4, 3]);
}

#[test]
fn generic_functions_take_anyones_dims() {
    let ours = tensor!([[1., 3.], [5., 7.]]; N, C);
    let pooled: Tensor<(N,)> = first::pool(&ours);
    assert_eq!(pooled.to_vec(), [2.0, 6.0]);
    let by = Tensor::<(C,)>::ones([2]);
    let shifted: Tensor<(N, C)> = first::shifted(&ours, &by.to_dims());
    assert_eq!(shifted.to_vec(), [0.0, 2.0, 4.0, 6.0]);
    assert_eq!(second::columns(&first::table(2, 3)), 3);
}

#[test]
fn a_function_over_its_own_dims_takes_ours_once_converted() {
    let ours = tensor!([[1., 3.], [5., 7.]]; N, C);
    let by_row: Tensor<(first::N,)> = first::per_row(&ours.to_dims());
    assert_eq!(by_row.to_vec(), [4.0, 12.0]);
    assert_eq!(through_both(ours).to_vec(), [8.0, 24.0]);
    let theirs = first::table(2, 2);
    let weighted = second::weighted(&theirs.to_dims(), &first::per_row(&theirs).into_dims());
    assert_eq!(weighted.to_vec(), [0.0, 1.0, 10.0, 15.0]);
}

#[test]
fn conversion_moves_no_element() {
    let theirs = first::table(2, 3);
    let start = theirs.as_slice().unwrap().as_ptr();
    let shared: Tensor<(N, C)> = theirs.to_dims();
    assert_eq!(shared.as_slice().unwrap().as_ptr(), start);
    let moved: Tensor<(N, C)> = theirs.into_dims();
    assert_eq!(moved.as_slice().unwrap().as_ptr(), start);
}

#[test]
fn constant_sizes_meet() {
    let tint = first::tint();
    let image = Tensor::<(N, Rgb)>::ones((N.of(2), Rgb));
    let tinted: Tensor<(N, Rgb)> = &image * &tint;
    assert_eq!(tinted.to_vec(), [0.25, 0.5, 0.25, 0.25, 0.5, 0.25]);
    let grey: Tensor<(N,)> = first::grey(&image);
    assert_eq!(grey.to_vec(), [1.0, 1.0]);
    let renamed: Tensor<(through_first::Colour,)> = tint.to_dims();
    assert_eq!(renamed.size(Rgb), 3);
}

/// A dim that is also spelled `N`, with a constant size of 2.
mod pairs {
    named::dims! { pub N = 2 }
}

#[test]
fn a_constant_size_that_only_one_crate_gives_is_checked_at_run_time() {
    let two: Tensor<(pairs::N, C)> = first::table(2, 3).to_dims();
    assert_eq!(two.shape(), [2, 3]);
    let open: Tensor<(N, C)> = two.into_dims();
    assert_eq!(open.size(pairs::N), 2);
    let error = first::table(4, 3)
        .try_to_dims::<(pairs::N, C)>()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let text = error.to_string();
    assert!(text.contains("size 4, but the dim's type says 2"), "{text}");
}

#[test]
fn the_spelling_counts_and_not_the_identifier() {
    let theirs = first::batch(3);
    let ours: Tensor<(Rows,)> = theirs.to_dims();
    assert_eq!(ours.names(), names!["batch"]);
    let total: Tensor<()> = theirs.sum(Rows);
    assert_eq!(total.item(), 3.0);
    let both: Tensor<(Rows,)> = ours + theirs;
    assert_eq!(both.to_vec(), [0.0, 2.0, 4.0]);
}

#[test]
fn a_name_that_rustc_does_not_know_stays_unknown() {
    let x = first::table(2, 3).drop_names();
    let same: Tensor<(Wild, Wild)> = x.to_dims();
    assert_eq!(same.names(), names![_, _]);
    let named: Tensor<(N, first::C)> = same.refine_names((N, first::C));
    assert_eq!(first::per_row(&named.to_dims()).to_vec(), [3.0, 12.0]);
}

#[test]
fn macros_work_through_a_re_export() {
    use through_first as third;
    let x: Tensor<(third::N, third::C)> = first::nomina::tensor!([[1., 2.]]; third::N, third::C);
    let sum: Tensor<(N, C)> = Tensor::<(N, C)>::ones([1, 2]) + &x;
    assert_eq!(sum.to_vec(), [2.0, 3.0]);
    let all: Tensor<()> = first::nomina::einsum!(x[N, C] -> []);
    assert_eq!(all.item(), 3.0);
    assert_eq!(first::nomina::names!["N", "C"], x.names());
}
