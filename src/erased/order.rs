//! Names and order: align, rename, refine.

use nomina_core::rule::{self, NameItem};
use nomina_core::{Error, ErrorKind, Name, Names, Result};

use super::view::check_sizes;
use super::{Erased, ErasedRef, Static, Wilds, wilds};

/// Returns the run-time names of a view with dims `out`: from the type if it knows them, else from
/// `names`.
///
/// Types do not notice a name of theirs that a `Wild` has at run time.
pub(crate) fn settled(
    op: &'static str,
    x: ErasedRef<'_>,
    names: Names,
    out: &'static Static,
) -> Result<Wilds> {
    let known = out.names.iter().map(|name| name.map(Name::from_static));
    let all: Names = known
        .zip(&names)
        .map(|(known, own)| known.or_else(|| own.clone()))
        .collect();
    if let Some(name) = all.duplicate() {
        let what = format!("dim `{name}` appears more than once in {all}");
        return Err(x
            .blame(Error::new(ErrorKind::DuplicateNames, op, what))
            .hint("a `Wild` dim has that name; name it first: `x.refine_names(..)`"));
    }
    Ok(wilds(all, out))
}

/// Reorders dims; `None` is a new dim of size 1, which gets the name of the dim of `like` at the
/// same position.
pub(crate) fn align(
    op: &'static str,
    x: ErasedRef<'_>,
    places: &[Option<usize>],
    like: Option<ErasedRef<'_>>,
    out: &'static Static,
) -> Result<Erased> {
    let raw = x.raw.align(places);
    let raw = raw.map_err(|error| x.blame(error.in_op(op)))?;
    let like = like.and_then(|like| like.wild);
    let mut wild = None;
    if x.wild.is_some() || like.is_some() {
        let own = x.names();
        let named = places.iter().enumerate().map(|(i, place)| match place {
            Some(at) => own[*at].clone(),
            None => like.and_then(|names| names[i].clone()),
        });
        wild = settled(op, x, named.collect(), out)?;
    }
    Ok(Erased { raw, wild })
}

/// Renames dims.
pub(crate) fn rename(x: ErasedRef<'_>, out: &'static Static) -> Result<Erased> {
    check_sizes("rename", x.raw.shape(), out)?;
    let wild = match x.wild {
        Some(names) => settled("rename", x, names.clone(), out)?,
        None => None,
    };
    Ok(Erased {
        raw: x.raw.clone(),
        wild,
    })
}

/// Names dims that have no name in types.
pub(crate) fn refine(x: ErasedRef<'_>, out: &'static Static) -> Result<Erased> {
    check_sizes("refine_names", x.raw.shape(), out)?;
    let names = x.names();
    let items: Vec<NameItem<'_>> = out
        .names
        .iter()
        .zip(&names)
        .map(|(new, own)| match (new, own) {
            (Some(new), _) => NameItem::Name(new),
            (None, Some(own)) => NameItem::Name(own.as_str()),
            (None, None) => NameItem::Unnamed,
        })
        .collect();
    let refined = rule::refine_names("refine_names", &names, &items);
    let refined = refined.map_err(|error| x.blame(error))?;
    Ok(Erased {
        raw: x.raw.clone(),
        wild: wilds(refined, out),
    })
}

/// Replaces markers by others of equal names, which types have compared; a constant size may be
/// new.
pub(crate) fn same_names(op: &'static str, x: Erased, out: &'static Static) -> Result<Erased> {
    check_sizes(op, x.raw.shape(), out)?;
    Ok(x)
}
