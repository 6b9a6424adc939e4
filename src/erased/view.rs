//! Views: other layouts of the same buffer.

use std::ops::{Bound, RangeBounds};

use nomina_core::{Error, ErrorKind, Names, Result, rule};
use nomina_runtime::Raw;
use nomina_runtime::memory::list;

use super::{Erased, ErasedRef, Static, Wilds, explain, wilds};

/// Wraps a view of `x` with the run-time names `wild`.
fn seen(x: ErasedRef<'_>, raw: Result<Raw>, wild: Wilds) -> Result<Erased> {
    Ok(Erased {
        raw: raw.map_err(|error| x.blame(error))?,
        wild,
    })
}

/// Returns the run-time names without the dim at `dim`.
fn without(x: ErasedRef<'_>, dim: usize, out: &Static) -> Wilds {
    x.wild
        .and_then(|names| wilds(rule::remove(names, &[dim]), out))
}

/// Returns a range of indices as start and end.
pub(crate) fn ends(range: impl RangeBounds<usize>, size: usize) -> (usize, usize) {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&start) => start.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&end) => end.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => size,
    };
    (start, end)
}

/// Returns the length of a range of dim `dim`.
pub(crate) fn length((start, end): (usize, usize), dim: usize) -> Result<usize> {
    end.checked_sub(start).ok_or_else(|| {
        let what = format!("the range {start}..{end} ends before it starts");
        Error::new(ErrorKind::Index, "narrow", what)
            .at(0, dim)
            .hint("ranges ascend; `flip` reverses a dim")
    })
}

/// Returns a range of a dim, given as start and end.
pub(crate) fn range(x: ErasedRef<'_>, dim: usize, ends: (usize, usize)) -> Result<Erased> {
    let length = length(ends, dim).map_err(|error| x.blame(error))?;
    narrow(x, dim, (ends.0, length))
}

/// Returns a range of a dim, given as start and length.
pub(crate) fn narrow(x: ErasedRef<'_>, dim: usize, part: (usize, usize)) -> Result<Erased> {
    seen(x, x.raw.narrow(dim, part.0, part.1), x.wild())
}

/// Returns an index that may count from the end.
pub(crate) fn index(op: &'static str, x: ErasedRef<'_>, dim: usize, index: i64) -> Result<usize> {
    rule::index_in(op, &x.names(), x.raw.shape(), dim, index)
}

/// Returns the slice at one index of a dim.
pub(crate) fn select(
    x: ErasedRef<'_>,
    dim: usize,
    at: i64,
    out: &'static Static,
) -> Result<Erased> {
    // The common case, in range and not negative, needs no names.
    let at = match usize::try_from(at) {
        Ok(at) if at < x.raw.shape()[dim] => at,
        _ => index("select", x, dim, at)?,
    };
    seen(x, x.raw.select(dim, at), without(x, dim, out))
}

/// Returns all slices along a dim.
pub(crate) fn unbind(x: ErasedRef<'_>, dim: usize, out: &'static Static) -> Result<Vec<Erased>> {
    let each = |at| seen(x, x.raw.select(dim, at), without(x, dim, out));
    let count = x.raw.shape()[dim];
    let mut slices = list("unbind", [count])?;
    for at in 0..count {
        slices.push(each(at)?);
    }
    Ok(slices)
}

/// Splits a dim into pieces of `size`; the last may be smaller.
pub(crate) fn split(x: ErasedRef<'_>, dim: usize, size: usize) -> Result<Vec<Erased>> {
    let total = x.raw.shape()[dim];
    if size == 0 && total > 0 {
        let what = format!("pieces of size 0 do not cover {total} elements");
        return Err(x
            .blame(Error::new(ErrorKind::Argument, "split", what))
            .at(0, dim)
            .hint("give a size of at least 1"));
    }
    let count = if total == 0 { 1 } else { total.div_ceil(size) };
    let piece = |i: usize| narrow(x, dim, (i * size, size.min(total - i * size)));
    let mut pieces = list("split", [count])?;
    for at in 0..count {
        pieces.push(piece(at)?);
    }
    Ok(pieces)
}

/// Splits a dim into pieces of the given sizes.
pub(crate) fn split_sizes(x: ErasedRef<'_>, dim: usize, sizes: &[usize]) -> Result<Vec<Erased>> {
    let total = x.raw.shape()[dim];
    if sizes
        .iter()
        .try_fold(0_usize, |sum, &size| sum.checked_add(size))
        != Some(total)
    {
        let what = format!("pieces of sizes {sizes:?} do not add up to {total}");
        return Err(x
            .blame(Error::new(ErrorKind::Shape, "split", what))
            .at(0, dim)
            .hint("give sizes whose sum is the dim's"));
    }
    let mut start = 0;
    let piece = |&size: &usize| {
        start += size;
        narrow(x, dim, (start - size, size))
    };
    sizes.iter().map(piece).collect()
}

/// Removes a dim of size 1.
pub(crate) fn squeeze(x: ErasedRef<'_>, dim: usize, out: &'static Static) -> Result<Erased> {
    let size = x.raw.shape()[dim];
    if size != 1 {
        let what = format!("a dim of size {size} cannot be dropped");
        return Err(x
            .blame(Error::new(ErrorKind::Shape, "squeeze", what))
            .at(0, dim)
            .hint("take one slice with `select`, or reduce it"));
    }
    seen(x, x.raw.squeeze(dim), without(x, dim, out))
}

/// Inserts a first dim of size 1.
pub(crate) fn unsqueeze(x: ErasedRef<'_>, out: &'static Static) -> Result<Erased> {
    let wild = match x.wild {
        Some(names) => {
            let mut names = names.clone();
            names.insert(0, None);
            super::order::settled("unsqueeze", x, names, out)?
        }
        None => None,
    };
    check_sizes("unsqueeze", &[&[1], x.raw.shape()].concat(), out)?;
    seen(x, x.raw.unsqueeze(0), wild)
}

/// Repeats dims of size 1 and adds new dims on the left, without a copy.
pub(crate) fn expand(x: ErasedRef<'_>, sizes: &[usize], out: &'static Static) -> Result<Erased> {
    let mut wild = None;
    // A name of self stays even if the type of the result has a `Wild` there.
    if x.wild.is_some() || out.wild {
        let own = x.names();
        let new = std::iter::repeat_n(None, sizes.len() - own.len());
        let names = new.chain(own.iter().cloned()).collect();
        named_alike(x, &names, out)?;
        wild = super::order::settled("expand", x, names, out)?;
    }
    check_sizes("expand", sizes, out)?;
    seen(x, x.raw.expand(sizes), wild)
}

/// Like [`expand`], but to the sizes of another tensor.
pub(crate) fn expand_as(x: ErasedRef<'_>, other: ErasedRef<'_>) -> Result<Erased> {
    let sizes = other.raw.shape();
    rule::expand_as(x.raw.shape(), sizes).map_err(|error| explain(error, &[x, other]))?;
    expand(x, sizes, other.of).map_err(|error| error.in_op("expand_as"))
}

/// Types name a `Wild` dim; checks that it does not have another name at run time.
fn named_alike(x: ErasedRef<'_>, names: &Names, out: &'static Static) -> Result<()> {
    let mut both = out.names.iter().zip(names);
    let apart = both.find_map(|(known, own)| match (known, own) {
        (Some(known), Some(own)) if own != known => Some((known, own)),
        _ => None,
    });
    let Some((known, own)) = apart else {
        return Ok(());
    };
    let what = format!("dim `{own}` is not `{known}`");
    Err(x
        .blame(Error::new(ErrorKind::NameMismatch, "expand", what))
        .hint("name it first: `x.refine_names(..)`"))
}

/// Swaps two dims.
pub(crate) fn transpose(
    x: ErasedRef<'_>,
    a: usize,
    b: usize,
    out: &'static Static,
) -> Result<Erased> {
    let wild = x.wild.and_then(|names| {
        let mut names = names.clone();
        names.swap(a, b);
        wilds(names, out)
    });
    seen(x, x.raw.transpose(a, b), wild)
}

/// Merges consecutive dims; a view if strides allow.
pub(crate) fn flatten(
    x: ErasedRef<'_>,
    dims: &[Option<&str>],
    out: &'static Static,
) -> Result<Erased> {
    let start = |name: &Option<&str>| name.is_some() && *name == dims[0];
    let start = x.of.names.iter().position(start).unwrap_or_default();
    let (shape, len) = (x.raw.shape(), dims.len());
    let merged = rule::numel("flatten", &shape[start..start + len]).map_err(|e| x.blame(e))?;
    let mut sizes = rule::Shape::from_slice(&shape[..start]);
    sizes.push(merged);
    sizes.extend_from_slice(&shape[start + len..]);
    check_sizes("flatten", &sizes, out)?;
    let wild = match x.wild {
        Some(names) => {
            let mut left: Names = names[..start].iter().cloned().collect();
            left.push(None);
            names[start + len..]
                .iter()
                .for_each(|name| left.push(name.clone()));
            super::order::settled("flatten", x, left, out)?
        }
        None => None,
    };
    seen(
        x,
        x.raw
            .reshape(&sizes)
            .map_err(|error| error.in_op("flatten")),
        wild,
    )
}

/// Splits one dim into several; always a view.
pub(crate) fn unflatten(
    x: ErasedRef<'_>,
    dim: usize,
    sizes: &[usize],
    out: &'static Static,
) -> Result<Erased> {
    let shape = x.raw.shape();
    let product = rule::numel("unflatten", sizes).ok();
    if product != Some(shape[dim]) {
        let what = format!("sizes {sizes:?} do not multiply to {}", shape[dim]);
        return Err(x
            .blame(Error::new(ErrorKind::Flatten, "unflatten", what))
            .at(0, dim)
            .hint("give sizes whose product is the dim's"));
    }
    let all = [&shape[..dim], sizes, &shape[dim + 1..]].concat();
    check_sizes("unflatten", &all, out)?;
    let wild = match x.wild {
        Some(names) => {
            let mut split: Names = names[..dim].iter().cloned().collect();
            sizes.iter().for_each(|_| split.push(None));
            names[dim + 1..]
                .iter()
                .for_each(|name| split.push(name.clone()));
            super::order::settled("unflatten", x, split, out)?
        }
        None => None,
    };
    seen(
        x,
        x.raw
            .reshape(&all)
            .map_err(|error| error.in_op("unflatten")),
        wild,
    )
}

/// Merges all dims except those that stay, into a first dim.
pub(crate) fn flatten_others(
    x: ErasedRef<'_>,
    stay: &[usize],
    out: &'static Static,
) -> Result<Erased> {
    let shape = x.raw.shape();
    let others: rule::Shape = (0..shape.len()).filter(|dim| !stay.contains(dim)).collect();
    let each: rule::Shape = others.iter().map(|&dim| shape[dim]).collect();
    let mut sizes = rule::Shape::new();
    sizes.push(rule::numel("flatten_others", &each).map_err(|error| x.blame(error))?);
    sizes.extend(stay.iter().map(|&dim| shape[dim]));
    check_sizes("flatten_others", &sizes, out)?;
    let order: Vec<Option<usize>> = others.iter().chain(stay).copied().map(Some).collect();
    let raw = x.raw.align(&order).and_then(|raw| raw.reshape(&sizes));
    seen(x, raw.map_err(|error| error.in_op("flatten_others")), None)
}

/// Splits the dim at `at` into the dims of `like` that `x` lacks, and orders all dims as in `like`;
/// `places` are their positions in `x`.
pub(crate) fn unflatten_as(
    x: ErasedRef<'_>,
    at: usize,
    places: &[Option<usize>],
    like: ErasedRef<'_>,
) -> Result<Erased> {
    let (shape, sizes) = (x.raw.shape(), like.raw.shape());
    let mut order = vec![Some(at)];
    let mut parts = rule::Shape::new();
    for (dim, &place) in places.iter().enumerate() {
        match place.filter(|&place| place != at) {
            Some(place) => order.push(Some(place)),
            None => parts.push(sizes[dim]),
        }
    }
    if rule::numel("unflatten_as", &parts).ok() != Some(shape[at]) {
        let what = format!("sizes {parts:?} do not multiply to {}", shape[at]);
        return Err(x
            .blame(Error::new(ErrorKind::Flatten, "unflatten_as", what))
            .at(0, at)
            .hint("give the tensor that was flattened"));
    }
    let (mut part, mut rest) = (0, parts.len());
    let new = parts.len();
    parts.extend(order[1..].iter().flatten().map(|&place| shape[place]));
    // The current position of each dim of the result: new ones in front, then those that stayed.
    let back: Vec<Option<usize>> = places
        .iter()
        .map(|place| {
            let next = match place.filter(|&place| place != at) {
                Some(_) => &mut rest,
                None => &mut part,
            };
            *next += 1;
            Some(*next - 1)
        })
        .collect();
    debug_assert_eq!(part, new, "each new dim has its place");
    let raw = x.raw.align(&order).and_then(|raw| raw.reshape(&parts));
    let raw = raw
        .and_then(|raw| raw.align(&back))
        .map_err(|error| x.blame(error.in_op("unflatten_as")))?;
    check_sizes("unflatten_as", raw.shape(), like.of)?;
    seen(x, Ok(raw), like.wild())
}

/// Checks sizes against those of the type. Only sizes that arrive at run time can be wrong.
pub(crate) fn check_sizes(op: &'static str, shape: &[usize], of: &Static) -> Result<()> {
    let wrong = |(&size, known): (&usize, &Option<usize>)| known.is_some_and(|known| known != size);
    match shape.iter().zip(of.sizes).position(wrong) {
        None => Ok(()),
        Some(dim) => Err(wrong_size(op, shape, of, dim)),
    }
}

/// Checks that an in-place result has the sizes of self.
pub(crate) fn same_shape(
    op: &'static str,
    own: ErasedRef<'_>,
    result: ErasedRef<'_>,
) -> Result<()> {
    if own.raw.shape() == result.raw.shape() {
        return Ok(());
    }
    let what = format!("the result has dims {}", result.operand());
    Err(own
        .blame(Error::new(ErrorKind::Shape, op, what))
        .hint("in place, a result has self's sizes"))
}

#[cold]
fn wrong_size(op: &'static str, shape: &[usize], of: &Static, dim: usize) -> Error {
    let known = of.sizes[dim].unwrap_or_default();
    let what = format!("size {}, but the dim's type says {known}", shape[dim]);
    Error::new(ErrorKind::Shape, op, what)
        .operand(&Names::from_static(of.names), shape)
        .at(0, dim)
        .hint("the size declared in `dims!` is the only one allowed")
}
