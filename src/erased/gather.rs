//! Indexing.

use nomina_core::op::Op;
use nomina_core::rule::{self, DimRef};
use nomina_core::{Names, Result};
use nomina_runtime::tensor::{DiagonalOptions, DynTensorMut, Index, IndexPutOptions, unlike_part};
use nomina_runtime::{DynTensor, Raw, RawMut};
use smallvec::SmallVec;

use super::view::check_sizes;
use super::{Dest, Erased, ErasedRef, Static, Wilds, compose, explain, names, typed, wilds};

/// A selection along a dim.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Pick<'a> {
    /// One index.
    At(i64),
    /// Start, end and step.
    Range(Option<i64>, Option<i64>, i64),
    /// The indices, or the mask, in a tensor.
    Tensor(ErasedRef<'a>),
}

/// The selection of each dim, by position.
#[doc(hidden)]
pub type Picks<'a> = SmallVec<[(usize, Pick<'a>); 4]>;

/// Index tensors and the dims that they index, by position.
#[doc(hidden)]
pub type OperandList<'a> = SmallVec<[(usize, ErasedRef<'a>); 4]>;

/// Returns a position in the form that [`DynTensor`] takes.
pub(crate) fn at(position: usize) -> DimRef<'static> {
    DimRef::Index(position as i64)
}

/// Like [`compose::call_for_tensor`], but the result may have a dim of constant size from an operand without
/// it.
pub(crate) fn call_and_check_sizes(
    operands: &[ErasedRef<'_>],
    out: &'static Static,
    compute: impl Fn(&[DynTensor]) -> Result<DynTensor>,
) -> Result<Erased> {
    let result = compose::call_for_tensor(operands, out, compute)?;
    check_sizes("index", result.raw.shape(), out)?;
    Ok(result)
}

/// Lets `write` change a tensor, which keeps its dims. The buffer is copied only if it is shared.
pub(crate) fn in_place(
    own: &mut Erased,
    of: &'static Static,
    others: &[ErasedRef<'_>],
    write: impl Fn(&mut DynTensor, &[DynTensor]) -> Result<()>,
) -> Result<()> {
    let named = of.wild || others.iter().any(|x| x.of.wild);
    let known = |x: &ErasedRef<'_>| {
        if named {
            x.names()
        } else {
            Names::unnamed(x.raw.rank())
        }
    };
    let given = others
        .iter()
        .map(|x| DynTensor::from_parts(x.raw.clone(), known(x)))
        .collect::<Result<Vec<_>>>()?;
    let mut x = DynTensor::from_parts(own.raw.clone(), known(&own.erased(of)))?;
    // Drop the other handle, so that the buffer is written to and not copied.
    own.replace_elements(Raw::from_vec(Vec::<u8>::new(), &[0])?);
    let done = typed(|| write(&mut x, &given));
    let (raw, names) = x.into_parts();
    own.replace_elements(raw);
    match done {
        Ok(()) if named => own.wild = wilds(names, of),
        Ok(()) => {}
        Err(error) if named => return Err(error),
        Err(error) => {
            // An error about sizes or dtypes occurs again with names, and then shows them.
            let mut operands = vec![own.erased(of)];
            operands.extend_from_slice(others);
            let again = compose::call_dynamic(&operands, |given| {
                let mut x = given[0].clone();
                write(&mut x, &given[1..])
            });
            return again.and(Err(error));
        }
    }
    Ok(())
}

/// Returns the part at numbers, ranges and index tensors.
pub(crate) fn part(x: ErasedRef<'_>, picks: &Picks<'_>, out: &'static Static) -> Result<Erased> {
    let mut operands = vec![x];
    operands.extend(picks.iter().filter_map(|(_, pick)| match pick {
        Pick::Tensor(x) => Some(*x),
        Pick::At(_) | Pick::Range(..) => None,
    }));
    compose::call_for_tensor(&operands, out, |given| {
        let mut tensors = given[1..].iter();
        given[0].at(picks.iter().map(|(position, pick)| {
            let index = match *pick {
                Pick::At(index) => Index::At(index),
                Pick::Range(start, end, step) => Index::Range { start, end, step },
                Pick::Tensor(_) => match tensors.next() {
                    Some(index) => Index::Tensor(index),
                    None => (..).into(),
                },
            };
            (at(*position), index)
        }))
    })
}

/// Returns the part at numbers and ranges, for writing.
pub(crate) fn part_mut<'a>(
    raw: RawMut<'a>,
    wild: &Wilds,
    of: &'static Static,
    picks: &Picks<'_>,
    out: &'static Static,
) -> Result<(RawMut<'a>, Wilds)> {
    let whole = DynTensorMut::from_parts(raw, names(wild.as_deref(), of))?;
    let part = whole.at(picks.iter().map(|(position, pick)| {
        let index = match *pick {
            Pick::At(index) => Index::At(index),
            Pick::Range(start, end, step) => Index::Range { start, end, step },
            // Unreachable: its type is not a `SubscriptView`.
            Pick::Tensor(_) => (..).into(),
        };
        (at(*position), index)
    }))?;
    let (raw, names) = part.into_parts();
    Ok((raw, wilds(names, out)))
}

/// Returns the diagonal of two dims, for writing.
pub(crate) fn diagonal_mut<'a>(
    dest: Dest<'a>,
    dims: (usize, usize),
    (to, options): (Option<&str>, DiagonalOptions),
    out: &'static Static,
) -> Result<(RawMut<'a>, Wilds)> {
    let Dest { raw, wild, of } = dest;
    let whole = DynTensorMut::from_parts(raw, names(wild.as_deref(), of))?;
    let part = whole.diagonal(at(dims.0), at(dims.1), to, options)?;
    let (raw, names) = part.into_parts();
    Ok((raw, wilds(names, out)))
}

/// The positions of several index tensors for [`DynTensor::index`], and of the dims of the result:
/// in types, they replace the first dim given.
struct PointPositions {
    /// The dims, in the order of the indices.
    dims: Vec<usize>,
    /// The position of the dims from [`DynTensor::index`], and the one in types.
    from: usize,
    to: usize,
    /// The number of the dims.
    count: usize,
}

impl PointPositions {
    fn new(operands: &OperandList<'_>) -> Self {
        let given: Vec<usize> = operands.iter().map(|(dim, _)| *dim).collect();
        let first = given.first().copied().unwrap_or(0);
        let mut dims = given.clone();
        dims.sort_unstable();
        let ranks = operands.iter().map(|(_, x)| x.raw.rank());
        Self {
            dims: given,
            from: rule::index_place(&dims),
            to: first - dims.iter().filter(|&&dim| dim < first).count(),
            count: ranks.max().unwrap_or(0),
        }
    }

    /// Returns the indices as [`DynTensor::index`] takes them; `given` has them in the order of
    /// `operands`.
    fn list<'b>(&self, given: &'b [DynTensor]) -> Vec<Option<&'b DynTensor>> {
        let len = self.dims.iter().map(|dim| dim + 1).max().unwrap_or(0);
        let mut list = vec![None; len];
        for (&dim, index) in self.dims.iter().zip(given) {
            list[dim] = Some(index);
        }
        list
    }

    /// Moves the dims at `from` to `to`.
    fn moved(&self, x: &DynTensor, from: usize, to: usize) -> Result<DynTensor> {
        if from == to {
            return Ok(x.clone());
        }
        let rank = x.rank();
        let block = from..from + self.count;
        let mut order: Vec<i64> = (0..rank)
            .filter(|dim| !block.contains(dim))
            .map(|dim| dim as i64)
            .collect();
        order.splice(to..to, block.map(|dim| dim as i64));
        x.permute(&order[..])
    }
}

/// Returns the elements at several indices.
pub(crate) fn points(
    x: ErasedRef<'_>,
    operands: &OperandList<'_>,
    out: &'static Static,
) -> Result<Erased> {
    let points = PointPositions::new(operands);
    let mut all = vec![x];
    all.extend(operands.iter().map(|(_, x)| *x));
    call_and_check_sizes(&all, out, |given| {
        let found = given[0].index(&points.list(&given[1..]))?;
        points.moved(&found, points.from, points.to)
    })
}

/// Writes values at several indices. `rank` is that of the result of [`points`].
pub(crate) fn put_points(
    own: &mut Erased,
    of: &'static Static,
    operands: &OperandList<'_>,
    values: ErasedRef<'_>,
    rank: usize,
    options: IndexPutOptions,
) -> Result<()> {
    let points = PointPositions::new(operands);
    let mut others = vec![values];
    others.extend(operands.iter().map(|(_, x)| *x));
    in_place(own, of, &others, |own, given| {
        let mut values = given[0].clone();
        if points.from != points.to {
            while values.rank() < rank {
                values = values.unsqueeze(0, None)?;
            }
            values = points.moved(&values, points.to, points.from)?;
        }
        own.index_put_with_(&points.list(&given[1..]), &values, options)
            .map(drop)
    })
}

/// Returns a copy with `src` in place of a range of a dim.
pub(crate) fn slice_scatter(
    x: ErasedRef<'_>,
    src: ErasedRef<'_>,
    dim: usize,
    pick: &Pick<'_>,
) -> Result<Erased> {
    let Pick::Range(start, end, step) = *pick else {
        return Ok(Erased {
            raw: x.raw.clone(),
            wild: x.wild(),
        });
    };
    call_and_check_sizes(&[x, src], x.of, |given| {
        let range = || [(at(dim), Index::Range { start, end, step })];
        let (own, src) = (&given[0], &given[1]);
        let part = own.at(range())?;
        if part.shape() != src.shape() {
            let error = unlike_part(
                Op::SliceScatter,
                own.shape(),
                part.shape(),
                src.shape(),
                Some,
            );
            return Err(error.with_names([own.names(), src.names()]));
        }
        // Self keeps its names: a part takes no new ones.
        rule::unify("slice_scatter", part.names(), src.names()).map_err(|e| explain(e, &[x]))?;
        let mut result = own.clone();
        result.at_mut(range())?.copy_(&src.drop_names())?;
        Ok(result)
    })
}
