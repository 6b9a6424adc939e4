use super::{fails, kind, n};
use crate::error::ErrorKind;
use crate::name::Names;
use crate::rule::{Cat, NamedShape, cat, stack};

fn join(operands: &[(&Names, &[usize])], dim: &str) -> crate::Result<Cat> {
    cat("cat", operands, dim.into())
}

#[test]
fn cat_adds_up_one_dim_and_unifies() {
    let (a, b) = (n("N _"), n("_ C"));
    let got = join(&[(&a, &[2, 3]), (&b, &[4, 3])], "N").unwrap();
    assert_eq!(
        (got.dim, got.names, got.shape.as_slice()),
        (0, n("N C"), &[6, 3][..])
    );
    // A name is looked up in the first tensor only.
    assert_eq!(
        kind(join(&[(&b, &[2, 3]), (&a, &[4, 3])], "N")),
        ErrorKind::NameNotFound
    );
    assert_eq!(kind(cat("cat", &[], 0.into())), ErrorKind::Argument);
    fails(
        join(&[(&a, &[2, 3]), (&b, &[4, 5])], "N"),
        ErrorKind::Shape,
        "cat: dim 1 of the first operand has size 3 and dim `C` of the second 5; \
         dims (N=2, _=3) and (_=4, C=5); \
         sizes match in every dim but the one the tensors are joined along",
    );
}

#[test]
fn rank_then_names_then_sizes() {
    let (nc, nk, one, zero) = (n("N C"), n("N K"), n("N"), n(""));
    assert_eq!(
        kind(join(&[(&nc, &[2, 3]), (&nk, &[9, 9])], "N")),
        ErrorKind::NameMismatch
    );
    assert_eq!(
        kind(join(&[(&nc, &[2, 3]), (&one, &[9])], "N")),
        ErrorKind::Rank
    );
    assert_eq!(
        kind(join(&[(&nc, &[2, 3]), (&zero, &[])], "N")),
        ErrorKind::Rank
    );
}

#[test]
fn an_empty_vector_is_skipped_among_unnamed_tensors() {
    let (two, one, named) = (n("_ _"), n("_"), n("N C"));
    let empty: NamedShape<'_> = (&one, &[0]);
    let got = cat("cat", &[empty, (&two, &[2, 3]), empty], (-1).into()).unwrap();
    assert_eq!((got.dim, got.shape.as_slice()), (1, &[2, 3][..]));
    let got = cat("cat", &[empty, empty], 0.into()).unwrap();
    assert_eq!((got.names, got.shape.as_slice()), (n("_"), &[0][..]));
    assert_eq!(
        kind(cat("cat", &[empty, (&named, &[2, 3])], 0.into())),
        ErrorKind::Rank
    );
}

#[test]
fn sizes_that_add_up_beyond_usize() {
    let names = n("N C");
    let huge: NamedShape<'_> = (&names, &[usize::MAX, 0]);
    assert_eq!(kind(cat("cat", &[huge, huge], 0.into())), ErrorKind::Shape);
}

#[test]
fn stack_puts_a_new_dim() {
    let (a, b) = (n("N _"), n("_ C"));
    let operands: [NamedShape<'_>; 2] = [(&a, &[2, 3]), (&b, &[2, 3])];
    let got = stack("stack", &operands, 0, Some("K")).unwrap();
    assert_eq!(
        (got.dim, got.names, got.shape.as_slice()),
        (0, n("K N C"), &[2, 2, 3][..])
    );
    let got = stack("stack", &operands, -1, None).unwrap();
    assert_eq!((got.dim, got.names), (2, n("N C _")));
    assert_eq!(
        kind(stack("stack", &operands, 0, Some("C"))),
        ErrorKind::DuplicateNames
    );
    assert_eq!(kind(stack("stack", &operands, 3, None)), ErrorKind::Index);
    assert_eq!(
        kind(stack("stack", &[(&a, &[2, 3]), (&b, &[2, 1])], 0, None)),
        ErrorKind::Shape
    );
    assert_eq!(kind(stack("stack", &[], 0, None)), ErrorKind::Argument);
}
