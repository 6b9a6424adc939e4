use alloc::{format, vec};

use super::{fails, kind, n};
use crate::error::ErrorKind;
use crate::rule::{
    DimArg, DimRef, NameItem, insert_position, names_of, reduce, reduce_shape, remove, squeeze,
    unsqueeze,
};

#[test]
fn a_dim_by_name_and_by_index() {
    let names = n("N C _");
    assert_eq!(DimRef::from("C").position("sum", &names), Ok(1));
    assert_eq!(DimRef::from(-1).position("sum", &names), Ok(2));
    assert_eq!(DimRef::from(&names[0]).position("sum", &names), Ok(0));
    assert_eq!(
        kind(DimRef::from(&names[2]).position("sum", &names)),
        ErrorKind::UnnamedDim
    );
    fails(
        DimRef::from("H").position("sum", &names),
        ErrorKind::NameNotFound,
        "sum: dim `H` not found; dims (N, C, _); use one of `N`, `C`",
    );
    fails(
        DimRef::from("*").position("sum", &names),
        ErrorKind::InvalidName,
        "sum: \"*\" is not a valid dim name; dims (N, C, _); a name is an ASCII identifier: \
         letters, digits and `_`, no leading digit",
    );
    fails(
        DimRef::from(3).position("sum", &names),
        ErrorKind::Index,
        "sum: dim 3 is out of range for 3 dims; dims (N, C, _); use -3 to 2",
    );
    for index in [-4, i64::MIN, i64::MAX] {
        assert_eq!(
            kind(DimRef::from(index).position("sum", &names)),
            ErrorKind::Index
        );
    }
    assert_eq!(
        kind(DimRef::from(usize::MAX).position("sum", &names)),
        ErrorKind::Index
    );
}

#[test]
fn lists_of_dims() {
    let names = n("N C H");
    let positions = |dims: DimArg<'_>| dims.positions("sum", &names).map(|p| p.to_vec());
    assert_eq!(positions(["H", "N"].into()), Ok(vec![2, 0]));
    assert_eq!(positions((-1, 0).into()), Ok(vec![2, 0]));
    assert_eq!(positions((..).into()), Ok(vec![0, 1, 2]));
    assert_eq!(positions(DimArg::list::<DimRef<'_>>([])), Ok(vec![0, 1, 2]));
    assert_eq!(
        DimArg::list::<DimRef<'_>>([])
            .listed("flip", &names)
            .unwrap()
            .len(),
        0
    );
    assert_eq!(
        kind(positions(["N", "N"].into())),
        ErrorKind::DuplicateNames
    );
    assert_eq!(kind(positions([0, -3].into())), ErrorKind::Index);
    fails(
        positions(("N", 1).into()),
        ErrorKind::Argument,
        "sum: names and indices in [\"N\", 1]; dims (N, C, H); \
         list the dims all by name or all by index",
    );
    assert_eq!(
        format!("{:?}", DimArg::from(["N", "C"]).keep()),
        "keep([\"N\", \"C\"])"
    );
}

#[test]
fn one_dim() {
    let names = n("N C");
    assert_eq!(DimArg::from("C").single("softmax", &names), Ok(Some(1)));
    assert_eq!(DimArg::from(["C"]).single("softmax", &names), Ok(Some(1)));
    assert_eq!(
        kind(DimArg::from(["N", "C"]).single("softmax", &names)),
        ErrorKind::Argument
    );
    assert_eq!(
        kind(DimArg::from(..).single("softmax", &names)),
        ErrorKind::Argument
    );
    assert_eq!(DimArg::from(..).single_or("mode", &names, -1), Ok(Some(1)));
    // A number counts as a vector of 1 element.
    assert_eq!(DimArg::from(-1).single("softmax", &n("")), Ok(None));
    assert_eq!(DimArg::from(..).single_or("mode", &n(""), -1), Ok(None));
    assert_eq!(
        kind(DimArg::from(1).single("softmax", &n(""))),
        ErrorKind::Index
    );
    assert_eq!(DimArg::from(0).positions("sum", &n("")).unwrap().len(), 0);
}

#[test]
fn removed_dims() {
    assert_eq!(remove(&n("N C H"), &[2, 0]), n("C"));
    assert_eq!(reduce(&n("N C H"), &[1], true), n("N C H"));
    assert_eq!(reduce_shape(&[2, 3, 4], &[1], true).as_slice(), [2, 1, 4]);
    assert_eq!(reduce_shape(&[2, 3, 4], &[0, 1], false).as_slice(), [4]);
}

#[test]
fn squeeze_keeps_what_is_not_one() {
    let left = |dims: DimArg<'_>| {
        squeeze("squeeze", &n("N C H"), &[1, 3, 1], &dims).map(|positions| positions.to_vec())
    };
    assert_eq!(left((..).into()), Ok(vec![1]));
    assert_eq!(left("C".into()), Ok(vec![0, 1, 2]));
    assert_eq!(left(["C", "H"].into()), Ok(vec![0, 1]));
    assert_eq!(kind(left("W".into())), ErrorKind::NameNotFound);
}

#[test]
fn a_new_dim() {
    assert_eq!(unsqueeze("unsqueeze", &n("N"), -1, None), Ok((1, n("N _"))));
    assert_eq!(
        unsqueeze("unsqueeze", &n("N"), 0, Some("C")),
        Ok((0, n("C N")))
    );
    assert_eq!(
        kind(unsqueeze("unsqueeze", &n("N"), 0, Some("N"))),
        ErrorKind::DuplicateNames
    );
    assert_eq!(
        kind(unsqueeze("unsqueeze", &n("N"), 0, Some("2"))),
        ErrorKind::InvalidName
    );
    fails(
        insert_position("stack", 2, 3),
        ErrorKind::Index,
        "stack: position 3 of a new dim is out of range for a tensor with 2 dims; use -3 to 2",
    );
    let full = crate::name::Names::unnamed(crate::MAX_DIMS);
    assert_eq!(
        kind(unsqueeze("unsqueeze", &full, 0, None)),
        ErrorKind::Rank
    );
}

#[test]
fn names_of_a_factory() {
    assert_eq!(
        names_of("zeros", &["N".into(), NameItem::Unnamed], 2).unwrap(),
        n("N _")
    );
    assert_eq!(
        names_of("zeros", &["_a".into(), "__".into()], 2).unwrap(),
        n("_a __")
    );
    let kinds = |items: &[NameItem<'_>]| kind(names_of("zeros", items, 2));
    assert_eq!(kinds(&["N".into(), "N".into()]), ErrorKind::DuplicateNames);
    assert_eq!(kinds(&["N".into(), "*".into()]), ErrorKind::InvalidName);
    assert_eq!(kinds(&["N".into(), "...".into()]), ErrorKind::Ellipsis);
    fails(
        names_of("zeros", &["N".into()], 2),
        ErrorKind::NamesLen,
        "zeros: 1 name (N,) for 2 dims; give one name per dim, `None` for a dim without one",
    );
}
