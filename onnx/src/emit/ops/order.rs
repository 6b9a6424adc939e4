//! Order and number of dims, joining and cutting.

use nomina_core::Result;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

use crate::emit::expr::Expr;
use crate::emit::site::Site;
use crate::graph::ValueId;
use crate::ops::slice_range;

pub fn transpose(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let rank = x.dims.len();
    let order = match site.call.ints("perm")? {
        Some(perm) => perm
            .iter()
            .map(|&p| site.call.axis(p, rank))
            .collect::<Result<Vec<_>>>()?,
        None => (0..rank).rev().collect(),
    };
    let dims: Vec<String> = order.iter().map(|&at| x.dims[at].clone()).collect();
    Ok(site.align(x, &dims))
}

pub fn concat(site: &mut Site<'_, '_>) -> Result<Expr> {
    let first = site.x(0)?;
    let dims = site.target_or(&first.dims);
    let axis = site.call.axis(site.call.int("axis", 1)?, dims.len())?;
    let count = site.node().inputs.len();
    if count == 1 {
        return site.x_as(0, &dims);
    }
    let all = (0..count)
        .map(|at| Ok(site.x_as(at, &dims)?.argument()))
        .collect::<Result<Vec<_>>>()?;
    let dim = site.emitter.names.dim_value(&dims[axis]);
    Ok(Expr {
        text: quote!(cat(&[#(#all),*], #dim)),
        dims,
        dtype: first.dtype,
        form: crate::emit::expr::Form::Call,
    })
}

/// A range of a dim, by its ends in each run.
struct Range {
    axis: usize,
    starts: Vec<usize>,
    ends: Vec<usize>,
}

fn narrow(site: &mut Site<'_, '_>, x: Expr, id: ValueId, range: &Range) -> Result<Expr> {
    let sizes = site.emitter.samples.extent(id, range.axis);
    let from_start = range.starts.iter().all(|&n| n == 0);
    let to_end = range.ends == sizes;
    if from_start && to_end {
        return Ok(x);
    }
    let start = if from_start && !to_end {
        quote!()
    } else {
        site.size(&range.starts)?
    };
    let end = if to_end {
        quote!()
    } else {
        site.size(&range.ends)?
    };
    let dim = site.emitter.names.dim_value(&x.dims[range.axis]);
    Ok(x.then(quote!(.narrow(#dim, #start..#end))))
}

pub fn split(site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
    let id = site.input(0).ok_or_else(|| site.call.fail("no input"))?;
    let x = site.x(0)?;
    let axis = site.call.axis(site.call.int("axis", 0)?, x.dims.len())?;
    let mut starts = vec![0; site.emitter.samples.runs()];
    let mut all = Vec::new();
    for at in 0..site.node().outputs.len() {
        let Some(out) = site.output(at) else {
            let pieces = site.fixed_integers("split", 1)?;
            let known = pieces.and_then(|pieces| usize::try_from(*pieces.get(at)?).ok());
            let piece =
                known.ok_or_else(|| site.call.fail("the size of an unused piece is unknown"))?;
            starts.iter_mut().for_each(|n| *n += piece);
            all.push(x.clone());
            continue;
        };
        let sizes = site.emitter.samples.extent(out, axis);
        let ends: Vec<usize> = starts.iter().zip(&sizes).map(|(a, b)| a + b).collect();
        let range = Range {
            axis,
            starts: std::mem::replace(&mut starts, ends.clone()),
            ends,
        };
        all.push(narrow(site, x.clone(), id, &range)?);
    }
    Ok(all)
}

pub fn slice(site: &mut Site<'_, '_>) -> Result<Expr> {
    let id = site.input(0).ok_or_else(|| site.call.fail("no input"))?;
    let mut x = site.x(0)?;
    let starts = site
        .integers("starts", 1)?
        .ok_or_else(|| site.call.fail("the starts are missing"))?;
    let ends = site
        .integers("ends", 2)?
        .ok_or_else(|| site.call.fail("the ends are missing"))?;
    let count = starts[0].len();
    let axes = site
        .fixed_integers("axes", 3)?
        .unwrap_or_else(|| (0..count as i64).collect());
    let steps = site
        .fixed_integers("", 4)?
        .unwrap_or_else(|| vec![1; count]);
    for at in 0..count {
        let axis = site.call.axis(axes[at], x.dims.len())?;
        let sizes = site.emitter.samples.extent(id, axis);
        let step = steps[at];
        let ranges: Option<Vec<(i64, usize)>> = sizes
            .iter()
            .enumerate()
            .map(|(run, &n)| slice_range(n as i64, starts[run][at], ends[run][at], step))
            .collect();
        let ranges = ranges.ok_or_else(|| site.call.fail("a step is 0"))?;
        if step == 1 {
            let starts: Vec<usize> = ranges.iter().map(|range| range.0 as usize).collect();
            let ends = ranges
                .iter()
                .map(|range| range.0 as usize + range.1)
                .collect();
            x = narrow(site, x, id, &Range { axis, starts, ends })?;
            continue;
        }
        let dim = site.emitter.names.dim_value(&x.dims[axis]);
        let whole = |run: usize| ranges[run] == (sizes[run] as i64 - 1, sizes[run]);
        if step == -1 && (0..sizes.len()).all(whole) {
            x = x.then(quote!(.flip(#dim)));
            continue;
        }
        // The elements of each step, as an index.
        let count: Vec<usize> = ranges.iter().map(|range| range.1).collect();
        let count = site.size(&count)?;
        let start = ranges[0].0;
        site.call.require(
            ranges.iter().all(|range| range.0 == start),
            "a start depends on sizes",
        )?;
        let kind = site
            .emitter
            .names
            .list_type(std::slice::from_ref(&x.dims[axis]));
        let (start, step) = (
            Literal::i64_unsuffixed(start),
            Literal::i64_unsuffixed(step.abs()),
        );
        site.call
            .require(steps[at] > 0, "a negative step is not imported")?;
        x = x.then(quote!(.index_select(#dim, &Tensor::<#kind, i64>::arange(#start, #start + #step * (#count) as i64, #step))));
    }
    Ok(x)
}

pub fn squeeze(site: &mut Site<'_, '_>) -> Result<Expr> {
    let id = site.input(0).ok_or_else(|| site.call.fail("no input"))?;
    let x = site.x(0)?;
    let shape = site.shape(id);
    let axes = match site.fixed_integers("axes", 1)? {
        Some(axes) => site.call.axes(&axes, shape.len())?,
        None => (0..shape.len())
            .filter(|&at| site.emitter.samples.extent(id, at).iter().all(|&n| n == 1))
            .collect(),
    };
    Ok(without(site, x, &axes))
}

fn without(site: &mut Site<'_, '_>, mut x: Expr, axes: &[usize]) -> Expr {
    let gone: Vec<String> = axes.iter().map(|&axis| x.dims[axis].clone()).collect();
    for name in gone {
        let dim = site.emitter.names.dim_value(&name);
        let dims = x.dims.iter().filter(|dim| **dim != name).cloned().collect();
        x = x.then_dims(quote!(.squeeze(#dim)), dims);
    }
    x
}

pub fn unsqueeze(site: &mut Site<'_, '_>) -> Result<Expr> {
    let x = site.x(0)?;
    let axes = site
        .fixed_integers("axes", 1)?
        .ok_or_else(|| site.call.fail("the axes are missing"))?;
    let rank = x.dims.len() + axes.len();
    let axes = site.call.axes(&axes, rank)?;
    let dims = match site.target(0) {
        // The other dims keep their names until the result has its own.
        Some(target) => target,
        None => site.emitter.names.invented(rank, &x.dims),
    };
    let mut all = Vec::with_capacity(rank);
    let mut own = x.dims.iter();
    let mut renamed = x.dims.clone();
    for (at, name) in dims.iter().enumerate() {
        if axes.contains(&at) {
            all.push(name.clone());
        } else {
            let kept = own.next().cloned().unwrap_or_default();
            all.push(kept);
        }
    }
    // A new dim whose name the operand has: the operand's is renamed first.
    let mut kept = dims.iter().enumerate().filter(|dim| !axes.contains(&dim.0));
    if (axes.iter()).any(|&axis| x.dims.contains(&dims[axis])) {
        for name in &mut renamed {
            if let Some((_, target)) = kept.next() {
                name.clone_from(target);
            }
        }
        all = dims;
    }
    let x = site.rename(x, &renamed)?;
    Ok(site.align(x, &all))
}

/// A group of dims on both sides whose sizes have the same product.
struct Group {
    from: std::ops::Range<usize>,
    to: std::ops::Range<usize>,
}

/// Divides two lists of sizes, each known in every run, into the smallest groups of equal products.
fn groups(from: &[Vec<usize>], to: &[Vec<usize>]) -> Vec<Group> {
    let is_one = |size: &Vec<usize>| size.iter().all(|&n| n == 1);
    let (mut a, mut b, mut all) = (0, 0, Vec::new());
    while a < from.len() || b < to.len() {
        let (start_a, start_b) = (a, b);
        match (from.get(a), to.get(b)) {
            (Some(x), Some(y)) if x == y => (a, b) = (a + 1, b + 1),
            (_, Some(y)) if is_one(y) => b += 1,
            (Some(x), _) if is_one(x) => a += 1,
            _ => {
                let product = |sizes: &[Vec<usize>], run: usize| {
                    sizes.iter().map(|size| size[run]).product::<usize>()
                };
                (a, b) = ((a + 1).min(from.len()), (b + 1).min(to.len()));
                let runs = from.first().or(to.first()).map_or(0, Vec::len);
                loop {
                    let order = (0..runs).map(|run| {
                        product(&from[start_a..a], run).cmp(&product(&to[start_b..b], run))
                    });
                    let order = order.fold(None, |all, one| match all {
                        None => Some(one),
                        Some(all) if all == one => Some(one),
                        _ => Some(std::cmp::Ordering::Less).filter(|_| false),
                    });
                    match order {
                        Some(std::cmp::Ordering::Equal) => break,
                        Some(std::cmp::Ordering::Less) if a < from.len() => a += 1,
                        Some(std::cmp::Ordering::Greater) if b < to.len() => b += 1,
                        _ if a < from.len() => a += 1,
                        _ if b < to.len() => b += 1,
                        _ => break,
                    }
                }
            }
        }
        all.push(Group {
            from: start_a..a,
            to: start_b..b,
        });
    }
    all
}

/// Spells a reshape by names: dims are kept, merged, split, added and removed.
pub fn reshape(site: &mut Site<'_, '_>) -> Result<Expr> {
    let id = site.input(0).ok_or_else(|| site.call.fail("no input"))?;
    let out = site.output(0).ok_or_else(|| site.call.fail("no output"))?;
    let mut x = site.x(0)?;
    let extents = |id: ValueId| {
        let rank = site.shape(id).len();
        (0..rank)
            .map(|axis| site.emitter.samples.extent(id, axis))
            .collect::<Vec<_>>()
    };
    let (from, to) = (extents(id), extents(out));
    let target = match site.target(0) {
        Some(dims) => dims,
        None => site.emitter.names.invented(to.len(), &x.dims),
    };
    let groups = groups(&from, &to);
    let source = x.dims.clone();
    // Names that are in use already are given at the end.
    let mut names: Vec<String> = Vec::with_capacity(to.len());
    let taken = [&source[..], &target[..]].concat();
    let mut spare = site.emitter.names.invented(to.len() + 1, &taken);
    let mut changes = Vec::<(Group, Vec<String>)>::new();
    for group in groups {
        let kept = group.from.len() == 1 && group.to.len() == 1;
        let mut own = Vec::new();
        for at in group.to.clone() {
            let name = if kept {
                source[group.from.start].clone()
            } else if source.contains(&target[at])
                && !(group.from.len() > 1
                    && group.to.len() == 1
                    && source[group.from.clone()].contains(&target[at]))
            {
                spare.remove(0)
            } else {
                target[at].clone()
            };
            own.push(name);
        }
        names.extend(own.iter().cloned());
        changes.push((group, own));
    }
    let mut added = Vec::new();
    for (group, own) in &changes {
        match (group.from.len(), group.to.len()) {
            (1, 1) => {}
            (_, 0) => {
                let axes: Vec<usize> = group
                    .from
                    .clone()
                    .filter_map(|at| x.dims.iter().position(|dim| *dim == source[at]))
                    .collect();
                x = without(site, x, &axes);
            }
            (0, _) => added.extend(own.iter().cloned()),
            (many, few) => {
                let merged = if many == 1 {
                    source[group.from.start].clone()
                } else {
                    let name = if few == 1 {
                        own[0].clone()
                    } else {
                        spare.remove(0)
                    };
                    x = flatten(site, x, &source[group.from.clone()], &name);
                    name
                };
                if few > 1 {
                    x = unflatten(site, x, &merged, own, &to[group.to.clone()])?;
                }
            }
        }
    }
    let x = if added.is_empty() {
        x
    } else {
        site.align(x, &names)
    };
    site.rename(x, &target)
}

fn flatten(site: &mut Site<'_, '_>, x: Expr, from: &[String], to: &str) -> Expr {
    let (list, dim) = (
        site.emitter.names.list_value(from),
        site.emitter.names.dim_value(to),
    );
    let mut dims = x.dims.clone();
    let at = dims.iter().position(|dim| *dim == from[0]).unwrap_or(0);
    dims.splice(at..at + from.len(), [to.to_owned()]);
    x.then_dims(quote!(.flatten(#list, #dim)), dims)
}

fn unflatten(
    site: &mut Site<'_, '_>,
    x: Expr,
    from: &str,
    to: &[String],
    sizes: &[Vec<usize>],
) -> Result<Expr> {
    let mut list = Vec::new();
    for (name, size) in to.iter().zip(sizes) {
        list.push(sized(site, name, size)?);
    }
    let dim = site.emitter.names.dim_value(from);
    let mut dims = x.dims.clone();
    let at = dims.iter().position(|dim| dim == from).unwrap_or(0);
    dims.splice(at..=at, to.iter().cloned());
    Ok(x.then_dims(quote!(.unflatten(#dim, (#(#list),*))), dims))
}

fn sized(site: &mut Site<'_, '_>, name: &str, size: &[usize]) -> Result<TokenStream> {
    let size = site.size(size)?;
    let dim = site.emitter.names.dim_value(name);
    Ok(quote!(#dim.of(#size)))
}

pub fn expand(site: &mut Site<'_, '_>) -> Result<Expr> {
    let out = site.output(0).ok_or_else(|| site.call.fail("no output"))?;
    let rank = site.shape(out).len();
    let own = site.x(0)?;
    let dims = match site.target(0) {
        Some(dims) => dims,
        None if own.dims.len() == rank => own.dims,
        None => site.emitter.names.invented(rank, &own.dims),
    };
    let id = site.input(0).unwrap_or(0);
    let same = site.shape(id).len() == rank
        && (0..rank)
            .all(|at| site.emitter.samples.extent(id, at) == site.emitter.samples.extent(out, at));
    let x = site.broadcast(0, &dims)?;
    if same {
        return Ok(x);
    }
    let mut sizes = Vec::new();
    for (at, name) in dims.iter().enumerate() {
        let size = site.emitter.samples.extent(out, at);
        sizes.push(sized(site, name, &size)?);
    }
    Ok(x.then_dims(quote!(.expand((#(#sizes,)*))), dims))
}

pub fn tile(site: &mut Site<'_, '_>) -> Result<Expr> {
    let counts = site
        .fixed_integers("repeats", 1)?
        .ok_or_else(|| site.call.fail("the repeats are missing"))?;
    let counts = counts.iter().map(|&n| Literal::i64_unsuffixed(n));
    Ok(site.x(0)?.then(quote!(.repeat([#(#counts),*]))))
}
