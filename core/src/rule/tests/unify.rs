use alloc::format;

use super::{fails, kind, n};
use crate::error::ErrorKind;
use crate::name::Names;
use crate::rule::{
    equal_names, in_place, masked_fill, masked_fill_in_place, matches, out, out_shape, resize_as,
    unify, unify_all, unify_in_place,
};

#[test]
fn the_more_specific_name_wins_from_the_right() {
    assert_eq!(unify("add", &n("N _"), &n("_ C")).unwrap(), n("N C"));
    assert_eq!(unify("add", &n("C"), &n("N C")).unwrap(), n("N C"));
    assert_eq!(unify("add", &n(""), &n("N C")).unwrap(), n("N C"));
    assert_eq!(unify("add", &n("_"), &n("A B _")).unwrap(), n("A B _"));
    assert_eq!(
        unify_all("where", [&n("_ C"), &n("C"), &n("N _")]).unwrap(),
        n("N C")
    );
    assert_eq!(unify_all("cat", []).unwrap(), Names::default());
}

#[test]
fn a_missing_dim_is_searched_for_nowhere_and_none_is() {
    assert_eq!(
        kind(unify("add", &n("C _"), &n("_ C"))),
        ErrorKind::Misaligned
    );
    assert_eq!(
        kind(unify("add", &n("N _"), &n("N"))),
        ErrorKind::Misaligned
    );
    assert_eq!(
        kind(unify("add", &n("N"), &n("N _"))),
        ErrorKind::Misaligned
    );
    // The first fault from the right is reported.
    assert_eq!(
        kind(unify("add", &n("C A"), &n("_ C"))),
        ErrorKind::NameMismatch
    );
}

#[test]
fn texts_say_both_operands_and_the_way_out() {
    fails(
        unify("add", &n("N C"), &n("N")),
        ErrorKind::NameMismatch,
        "add: dim `C` and dim `N` are at the same position from the right but do not match; \
         dims (N, C) and (N,); align by name first: `y.align_as(&x)`",
    );
    fails(
        unify("mul", &n("N"), &n("C N H")),
        ErrorKind::NameMismatch,
        "mul: dim `N` and dim `H` are at the same position from the right but do not match; \
         dims (N,) and (C, N, H); align by name first: `x.align_as(&y)`",
    );
    fails(
        unify("add", &n("N C"), &n("N K")),
        ErrorKind::NameMismatch,
        "add: dim `C` and dim `K` are at the same position from the right but do not match; \
         dims (N, C) and (N, K); if they are the same dim, rename one: `y.rename(K, C)`",
    );
    let error = fails(
        unify("add", &n("C _"), &n("_ C")),
        ErrorKind::Misaligned,
        "add: dim `C` is at different positions from the right; dims (C, _) and (_, C); \
         name the unnamed dims first: `x.refine_names(..)`",
    );
    let sized = error.with_shapes([&[2, 3][..], &[3, 2]]);
    assert!(format!("{sized}").contains("dims (C=2, _=3) and (_=3, C=2)"));
}

#[test]
fn names_match_or_one_is_none() {
    let (a, b) = (n("N"), n("C"));
    assert!(matches(&a[0], &a[0]) && matches(&a[0], &None) && matches(&None, &None));
    assert!(!matches(&a[0], &b[0]));
    assert!(equal_names(&a, &n("N")) && !equal_names(&a, &n("_")));
}

#[test]
fn an_out_without_names_receives_them_any_other_must_have_them() {
    assert_eq!(out("add", &n("_ _"), &n("N C")).unwrap(), n("N C"));
    assert_eq!(out("add", &n("_ _"), &n("_ _")).unwrap(), n("_ _"));
    assert_eq!(out("add", &n("N C"), &n("N C")).unwrap(), n("N C"));
    assert_eq!(
        kind(out("add", &n("N C"), &n("_ _"))),
        ErrorKind::NameMismatchOut
    );
    fails(
        in_place("add_", &n("_ C"), &n("N C")),
        ErrorKind::NameMismatchOut,
        "add_: self has dims (_, C), the result has dims (N, C); dims (_, C) and (N, C); \
         refine or rename it first, or drop its names to take those of the result",
    );
    assert_eq!(
        unify_in_place("copy_", &n("_ _"), &n("N")).unwrap(),
        n("_ N")
    );
    assert_eq!(
        kind(unify_in_place("copy_", &n("_ C"), &n("N C"))),
        ErrorKind::NameMismatchOut
    );
}

#[test]
fn a_named_tensor_is_never_resized() {
    assert_eq!(out_shape("add", &n("_ _"), &[1, 1], &[2, 3]), Ok(true));
    assert_eq!(out_shape("add", &n("N C"), &[2, 3], &[2, 3]), Ok(false));
    assert_eq!(
        kind(out_shape("add", &n("N C"), &[1, 1], &[2, 3])),
        ErrorKind::Resize
    );
    let same = resize_as("resize_as_", (&n("N"), &[2]), (&n("_"), &[2]));
    assert_eq!(kind(same), ErrorKind::NameMismatchOut);
    let (names, shape) = resize_as("resize_as_", (&n("_"), &[9]), (&n("N C"), &[2, 3])).unwrap();
    assert_eq!((names, shape.as_slice()), (n("N C"), &[2, 3][..]));
}

#[test]
fn a_mask_names_the_input() {
    assert_eq!(
        masked_fill("masked_fill", &n("_ _"), &n("N C")).unwrap(),
        n("N C")
    );
    assert_eq!(
        kind(masked_fill("masked_fill", &n("_"), &n("N C"))),
        ErrorKind::Rank
    );
    // Without any names, the mask may have more dims.
    assert_eq!(
        masked_fill("masked_fill", &n("_"), &n("_ _")).unwrap(),
        n("_ _")
    );
    assert_eq!(
        kind(masked_fill_in_place("masked_fill_", &n("N C"), &n("C"))),
        ErrorKind::Rank
    );
    let longer = masked_fill_in_place("masked_fill_", &n("C"), &n("N C"));
    assert_eq!(kind(longer), ErrorKind::Shape);
}
