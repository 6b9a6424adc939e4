use alloc::vec::Vec;

use super::{fails, kind, n};
use crate::error::ErrorKind;
use crate::rule::{
    NameItem, align_as, align_to, diagonal, flatten, flatten_range, flatten_shape, movedim, mt,
    permute, refine_names, rename, rename_map, t, transpose, unflatten,
};

fn items(text: &str) -> Vec<NameItem<'_>> {
    let item = |text| {
        if text == "_" {
            NameItem::Unnamed
        } else {
            NameItem::from(text)
        }
    };
    text.split_ascii_whitespace().map(item).collect()
}

#[test]
fn an_order_takes_every_dim_and_adds_new_ones() {
    let aligned = align_to("align_to", &n("N C"), &items("C _ H N")).unwrap();
    assert_eq!(aligned.positions.as_slice(), [Some(1), None, None, Some(0)]);
    assert_eq!(aligned.names, n("C _ H N"));
    let rest = align_to("align_to", &n("N _ C H"), &items("C ... N")).unwrap();
    assert_eq!(
        rest.positions.as_slice(),
        [Some(2), Some(1), Some(3), Some(0)]
    );
    assert_eq!(rest.names, n("C _ H N"));
    assert_eq!(
        align_as("align_as", &n("C"), &n("N C _")).unwrap().names,
        n("N C _")
    );
    fails(
        align_to("align_to", &n("N C"), &items("C H")),
        ErrorKind::Align,
        "align_to: dim `N` is not in (C, H); dims (N, C); \
         list all of `N`, `C`; `..` means the rest",
    );
    let kinds = |names: &str, order: &str| kind(align_to("align_to", &n(names), &items(order)));
    assert_eq!(kinds("N _", "N"), ErrorKind::UnnamedDim);
    assert_eq!(kinds("N", "... _"), ErrorKind::Align);
    assert_eq!(kinds("N", "... ..."), ErrorKind::Ellipsis);
    assert_eq!(kinds("N C", "N N C"), ErrorKind::DuplicateNames);
    assert_eq!(kinds("N", "N 2"), ErrorKind::InvalidName);
}

#[test]
fn renamed_by_position_and_by_map() {
    assert_eq!(
        rename("rename", &n("N C H"), &items("A ... B")).unwrap(),
        n("A C B")
    );
    assert_eq!(
        rename("rename", &n("N C"), &items("_ ...")).unwrap(),
        n("_ C")
    );
    assert_eq!(
        kind(rename("rename", &n("N"), &items("A ... B"))),
        ErrorKind::NamesLen
    );
    let swap = [("N", "C".into()), ("C", "N".into())];
    assert_eq!(rename_map("rename", &n("N C"), &swap).unwrap(), n("C N"));
    let drop = [("N", NameItem::Unnamed)];
    assert_eq!(rename_map("rename", &n("N C"), &drop).unwrap(), n("_ C"));
    let twice = [("N", "A".into()), ("N", "B".into())];
    assert_eq!(
        kind(rename_map("rename", &n("N C"), &twice)),
        ErrorKind::DuplicateNames
    );
    let rest = [("N", NameItem::Rest)];
    assert_eq!(
        kind(rename_map("rename", &n("N C"), &rest)),
        ErrorKind::Ellipsis
    );
    fails(
        rename_map("rename", &n("N C"), &[("K", "A".into())]),
        ErrorKind::NameNotFound,
        "rename: dim `K` not found; dims (N, C); use one of `N`, `C`",
    );
}

#[test]
fn only_none_is_refined() {
    assert_eq!(
        refine_names("refine_names", &n("_ C"), &items("N ...")).unwrap(),
        n("N C")
    );
    assert_eq!(
        refine_names("refine_names", &n("_ _"), &items("_ C")).unwrap(),
        n("_ C")
    );
    assert_eq!(
        kind(refine_names("refine_names", &n("N C"), &items("N _"))),
        ErrorKind::Refine
    );
    fails(
        refine_names("refine_names", &n("N C"), &items("N K")),
        ErrorKind::Refine,
        "refine_names: dim 1 is `C` and can't be refined to `K`; dims (N, C); \
         to give another name: `x.rename(C, K)`",
    );
}

#[test]
fn permuted() {
    let names = n("N C H");
    assert_eq!(
        permute("permute", &names, &["H", "N", "C"].into())
            .unwrap()
            .as_slice(),
        [2, 0, 1]
    );
    assert_eq!(
        kind(permute("permute", &names, &["H", "N"].into())),
        ErrorKind::Rank
    );
    assert_eq!(
        transpose("transpose", &names, "N".into(), (-1).into()).unwrap()[..],
        [2, 1, 0]
    );
    assert_eq!(
        transpose("transpose", &n(""), 0.into(), (-1).into())
            .unwrap()
            .len(),
        0
    );
    assert_eq!(t("t", &n("N C")).unwrap().as_slice(), [1, 0]);
    assert_eq!(t("t", &n("N")).unwrap().as_slice(), [0]);
    assert_eq!(kind(t("t", &names)), ErrorKind::Rank);
    assert_eq!(mt("mT", &names).unwrap().as_slice(), [0, 2, 1]);
    assert_eq!(kind(mt("mT", &n("N"))), ErrorKind::Rank);
    let moved = movedim("movedim", &names, &["N"].into(), &[-1].into()).unwrap();
    assert_eq!(moved.as_slice(), [1, 2, 0]);
    let moved = movedim("movedim", &names, &["H", "C"].into(), &[0, 1].into()).unwrap();
    assert_eq!(moved.as_slice(), [2, 1, 0]);
    assert_eq!(
        kind(movedim("movedim", &names, &["N"].into(), &[0, 1].into())),
        ErrorKind::Rank
    );
}

#[test]
fn a_diagonal_comes_last() {
    let plane = diagonal("diagonal", &n("N C H"), "C".into(), 0.into(), Some("N")).unwrap();
    assert_eq!((plane.dim1, plane.dim2, plane.names), (1, 0, n("H N")));
    assert_eq!(
        kind(diagonal("diagonal", &n("N C"), 0.into(), "N".into(), None)),
        ErrorKind::Index
    );
}

#[test]
fn flattened_dims_follow_each_other() {
    let names = n("N C H W");
    let flat = flatten("flatten", &names, &["C", "H"].into(), Some("C")).unwrap();
    assert_eq!((flat.start, flat.len, &flat.names), (1, 2, &n("N C W")));
    assert_eq!(
        flatten_shape("flatten", &[2, 3, 4, 5], &flat)
            .unwrap()
            .as_slice(),
        [2, 12, 5]
    );
    let all = flatten_range("flatten", &names, 0.into(), (-1).into(), None).unwrap();
    assert_eq!((all.len, all.names), (4, n("_")));
    let number = flatten("flatten", &n(""), &(..).into(), Some("N")).unwrap();
    assert_eq!(
        flatten_shape("flatten", &[], &number).unwrap().as_slice(),
        [1]
    );
    let back = flatten_range("flatten", &names, 2.into(), 1.into(), None);
    assert_eq!(kind(back), ErrorKind::Flatten);
    fails(
        flatten("flatten", &names, &["C", "W"].into(), Some("F")),
        ErrorKind::Flatten,
        "flatten: dim `W` does not follow dim `C`; dims (N, C, H, W); \
         bring them together first: `x.align_to((.., C, W))`",
    );
}

#[test]
fn unflattened_sizes_multiply_up() {
    let split = |size: usize, sizes: &[(&'static str, i64)]| {
        let sizes: Vec<_> = sizes
            .iter()
            .map(|(name, size)| ((*name).into(), *size))
            .collect();
        unflatten("unflatten", &n("N C"), &[2, size], "C".into(), &sizes)
    };
    let got = split(12, &[("A", 3), ("C", -1)]).unwrap();
    assert_eq!(
        (got.position, got.sizes.as_slice(), got.names),
        (1, &[3, 4][..], n("N A C"))
    );
    assert_eq!(
        split(0, &[("A", 3), ("B", -1)]).unwrap().sizes.as_slice(),
        [3, 0]
    );
    assert_eq!(kind(split(12, &[("A", -1), ("B", -1)])), ErrorKind::Flatten);
    assert_eq!(kind(split(12, &[("A", -2), ("B", -6)])), ErrorKind::Flatten);
    assert_eq!(kind(split(12, &[("A", 5), ("B", -1)])), ErrorKind::Flatten);
    assert_eq!(kind(split(0, &[("A", 0), ("B", -1)])), ErrorKind::Flatten);
    assert_eq!(kind(split(12, &[])), ErrorKind::Flatten);
    // 2^32 · 2^32 is 0 modulo 2^64: the product must not wrap.
    assert_eq!(
        kind(split(0, &[("A", 1 << 32), ("B", 1 << 32)])),
        ErrorKind::Flatten
    );
    assert_eq!(
        kind(split(12, &[("A", 3), ("N", 4)])),
        ErrorKind::DuplicateNames
    );
    fails(
        split(12, &[("A", 3), ("B", 5)]),
        ErrorKind::Flatten,
        "unflatten: sizes [3, 5] do not multiply to 12 at dim `C`; dims (N=2, C=12); \
         one size may be -1, which is computed",
    );
}
