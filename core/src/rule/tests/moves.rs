use super::{kind, n};
use crate::error::ErrorKind;
use crate::rule::{
    DimArg, NameItem, block_diag, diag_embed, meshgrid, movedim, repeat, repeat_interleave,
    reshape, tile, unfold,
};

#[test]
fn counts_go_to_the_last_dims() {
    let names = n("N C");
    let (all, counts) = repeat("repeat", &names, &[2, 3], &[4, 1, 2]).unwrap();
    assert_eq!((all, counts.as_slice()), (n("_ N C"), &[4, 1, 2][..]));
    assert_eq!(
        kind(repeat("repeat", &names, &[2, 3], &[2])),
        ErrorKind::Rank
    );
    assert_eq!(
        kind(repeat("repeat", &names, &[2, 3], &[2, -1])),
        ErrorKind::Shape
    );
    let (same, counts) = tile("tile", &names, &[2, 3], &[5]).unwrap();
    assert_eq!((same, counts.as_slice()), (names, &[1, 5][..]));
}

#[test]
fn what_is_interleaved_whole_has_no_name() {
    let names = n("N C");
    assert_eq!(
        repeat_interleave("repeat_interleave", &names, &"C".into()),
        Ok((Some(1), n("N C")))
    );
    assert_eq!(
        repeat_interleave("repeat_interleave", &names, &DimArg::all()),
        Ok((None, n("_")))
    );
    assert_eq!(
        kind(repeat_interleave("repeat_interleave", &names, &"X".into())),
        ErrorKind::NameNotFound
    );
}

#[test]
fn a_window_is_a_dim_behind() {
    let names = n("N T");
    assert_eq!(
        unfold("unfold", &names, "T".into(), Some("K")),
        Ok((Some(1), n("N T K")))
    );
    assert_eq!(unfold("unfold", &n(""), 0.into(), None), Ok((None, n("_"))));
    assert_eq!(
        kind(unfold("unfold", &names, "T".into(), Some("N"))),
        ErrorKind::DuplicateNames
    );
}

#[test]
fn a_plane_may_take_the_name_that_goes() {
    let names = n("N T");
    let plane = [NameItem::Name("T"), NameItem::Name("U")];
    assert_eq!(
        diag_embed("diag_embed", &names, (-2, -1), &plane),
        Ok((1, 2, n("N T U")))
    );
    assert_eq!(
        diag_embed("diag_embed", &names, (2, 0), &plane),
        Ok((2, 0, n("U N T")))
    );
    for (dims, wanted) in [
        ((0, 0), ErrorKind::Index),
        ((0, 3), ErrorKind::Index),
        ((0, i64::MIN), ErrorKind::Index),
    ] {
        assert_eq!(kind(diag_embed("diag_embed", &names, dims, &plane)), wanted);
    }
    let taken = [NameItem::Name("N"), NameItem::Unnamed];
    assert_eq!(
        kind(diag_embed("diag_embed", &names, (-2, -1), &taken)),
        ErrorKind::DuplicateNames
    );
}

#[test]
fn a_grid_has_a_dim_of_each() {
    let (x, y, z) = (n("X"), n("Y"), n(""));
    let (names, sizes) = meshgrid("meshgrid", &[(&x, &[2]), (&y, &[3]), (&z, &[])]).unwrap();
    assert_eq!((names, sizes.as_slice()), (n("X Y _"), &[2, 3, 1][..]));
    assert_eq!(
        kind(meshgrid("meshgrid", &[(&x, &[2]), (&x, &[2])])),
        ErrorKind::DuplicateNames
    );
    assert_eq!(
        kind(meshgrid("meshgrid", &[(&n("X Y"), &[2, 2])])),
        ErrorKind::Rank
    );
    assert_eq!(kind(meshgrid("meshgrid", &[])), ErrorKind::Argument);
}

#[test]
fn blocks_unify_rows_and_columns() {
    let names = block_diag(
        "block_diag",
        &[(&n("_ C"), &[1, 1]), (&n("N _"), &[2, 1]), (&n(""), &[])],
    );
    assert_eq!(names, Ok(n("N C")));
    assert_eq!(
        kind(block_diag(
            "block_diag",
            &[(&n("N C"), &[1, 1]), (&n("N D"), &[1, 1])]
        )),
        ErrorKind::NameMismatch
    );
}

#[test]
fn names_do_not_survive_other_sizes() {
    let (bare, named) = (n("_ _"), n("N C"));
    let (names, shape) = reshape("reshape", &bare, &[2, 3], &[3, -1]).unwrap();
    assert_eq!((names, shape.as_slice()), (n("_ _"), &[3, 2][..]));
    assert_eq!(
        reshape("reshape", &named, &[2, 3], &[2, -1]).unwrap().0,
        named
    );
    assert_eq!(
        kind(reshape("reshape", &named, &[2, 3], &[6])),
        ErrorKind::Resize
    );
    assert_eq!(
        kind(reshape("reshape", &bare, &[2, 3], &[4, -1])),
        ErrorKind::Shape
    );
    assert_eq!(reshape("reshape", &n("_"), &[1], &[]).unwrap().0, n(""));
    assert_eq!(
        reshape("reshape", &n("_ _"), &[0, 2], &[0, 5])
            .unwrap()
            .1
            .as_slice(),
        [0, 5]
    );
}

#[test]
fn a_destination_may_be_a_dim() {
    let moved = movedim("movedim", &n("N C H"), &"N".into(), &"H".into()).unwrap();
    assert_eq!(moved.as_slice(), [1, 2, 0]);
}
