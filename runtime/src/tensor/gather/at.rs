//! Indexing by name: `x.at([("N", 0.into()), ("H", (2..10).into())])`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use nomina_core::op::Op;
use nomina_core::rule::{self, DimArg, DimRef};
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use crate::call;
use crate::raw::{Raw, RawMut};
use crate::tensor::{DynTensor, DynTensorMut, about};

/// A selection along a dim.
#[derive(Clone, Copy, Debug)]
pub enum Index<'a> {
    /// One index, which removes the dim. A negative index counts from the end.
    At(i64),
    /// A range, which keeps the dim. Negative ends count from the end of the dim; an end before the
    /// start gives no elements.
    Range {
        /// The first index; by default that of the dim.
        start: Option<i64>,
        /// The index after the last; by default that of the dim.
        end: Option<i64>,
        /// The distance between indices, at least 1.
        step: i64,
    },
    /// The indices of a tensor of i64 or i32, whose dims replace the dim; or a bool mask along the
    /// dim, which stays.
    Tensor(&'a DynTensor),
}

impl Index<'_> {
    /// Returns the same range with only every `step`-th index.
    #[must_use]
    pub fn step(self, step: i64) -> Self {
        match self {
            Self::Range { start, end, .. } => Self::Range { start, end, step },
            other => other,
        }
    }
}

impl<'a> From<&'a DynTensor> for Index<'a> {
    fn from(index: &'a DynTensor) -> Self {
        Self::Tensor(index)
    }
}

/// A range of a dim: any range of integers, or `..`. Negative ends count from the end of the dim.
pub trait IndexRange: Into<Index<'static>> {}

impl From<RangeFull> for Index<'_> {
    fn from(_: RangeFull) -> Self {
        range(None, None)
    }
}

impl IndexRange for RangeFull {}

fn range<'a>(start: Option<i64>, end: Option<i64>) -> Index<'a> {
    Index::Range {
        start,
        end,
        step: 1,
    }
}

/// Returns the end of a range that includes `last`; -1 is the last index of the dim.
fn behind(last: i64) -> Option<i64> {
    (last != -1).then(|| last.saturating_add(1))
}

macro_rules! from_ints {
    ($($int:ty)*) => {$(
        impl From<$int> for Index<'_> {
            fn from(index: $int) -> Self {
                Self::At(wide(index))
            }
        }
        from_ints!(@range Range<$int>, r => Some(wide(r.start)), Some(wide(r.end)));
        from_ints!(@range RangeFrom<$int>, r => Some(wide(r.start)), None);
        from_ints!(@range RangeTo<$int>, r => None, Some(wide(r.end)));
        from_ints!(@range RangeInclusive<$int>, r =>
            Some(wide(*r.start())), behind(wide(*r.end())));
        from_ints!(@range RangeToInclusive<$int>, r => None, behind(wide(r.end)));
    )*};
    (@range $range:ty, $r:ident => $start:expr, $end:expr) => {
        impl From<$range> for Index<'_> {
            fn from($r: $range) -> Self {
                range($start, $end)
            }
        }

        impl IndexRange for $range {}
    };
}
from_ints!(i32 i64 isize usize u32 u64);

/// Converts an index; one beyond `i64` is out of range for any dim.
fn wide(index: impl TryInto<i64>) -> i64 {
    index.try_into().unwrap_or(i64::MAX)
}

/// A resolved range of a dim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DimRange {
    pub start: usize,
    pub len: usize,
    pub step: isize,
}

impl DimRange {
    /// Resolves a range that must be within the dim.
    fn within(size: usize, start: Option<i64>, end: Option<i64>, step: i64) -> Result<Self> {
        let limit = i64::try_from(size).unwrap_or(i64::MAX);
        let settle = |at: i64| {
            let from_start = if at < 0 { at.saturating_add(limit) } else { at };
            if (0..=limit).contains(&from_start) {
                return Ok(from_start);
            }
            let what = format!("index {at} of the range is out of range for size {size}");
            Err(Error::new(ErrorKind::Index, "at", what)
                .hint(format!("ranges lie between {} and {limit}", -limit)))
        };
        let (start, end) = (settle(start.unwrap_or(0))?, settle(end.unwrap_or(limit))?);
        Self::new(start, end, step)
    }

    /// Resolves a range clipped to the dim, like in Python.
    pub(super) fn cut(
        size: usize,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<Self> {
        let limit = i64::try_from(size).unwrap_or(i64::MAX);
        let settle = |at: i64| {
            let from_start = if at < 0 { at.saturating_add(limit) } else { at };
            from_start.clamp(0, limit)
        };
        Self::new(
            settle(start.unwrap_or(0)),
            settle(end.unwrap_or(limit)),
            step,
        )
    }

    /// Resolves a range of two indices that are within the dim.
    fn new(start: i64, end: i64, step: i64) -> Result<Self> {
        if step < 1 {
            let what = format!("a step of {step}");
            return Err(Error::new(ErrorKind::Argument, "at", what)
                .hint("steps are at least 1; `flip` the dim to go backwards"));
        }
        let len = (end - start).max(0);
        Ok(Self {
            start: start as usize,
            // Rounded up, without overflow.
            len: (len / step + i64::from(len % step != 0)) as usize,
            step: isize::try_from(step).unwrap_or(isize::MAX),
        })
    }
}

/// The views that an index makes, for reading or writing.
pub(super) trait Parts: Sized {
    fn select(self, dim: usize, index: usize) -> Result<Self>;
    fn slice(self, dim: usize, span: DimRange) -> Result<Self>;
}

impl Parts for Raw {
    fn select(self, dim: usize, index: usize) -> Result<Self> {
        Self::select(&self, dim, index)
    }
    fn slice(self, dim: usize, span: DimRange) -> Result<Self> {
        Self::slice(&self, dim, span.start, span.len, span.step)
    }
}

impl Parts for RawMut<'_> {
    fn select(self, dim: usize, index: usize) -> Result<Self> {
        Self::select(self, dim, index)
    }
    fn slice(self, dim: usize, span: DimRange) -> Result<Self> {
        Self::slice(self, dim, span.start, span.len, span.step)
    }
}

/// Applies numbers and ranges to a tensor with these names and sizes. Returns the view and its
/// names, and the positions of the dims that index tensors select from; the remaining `indices` are
/// those tensors.
pub(super) fn views<'a, P: Parts>(
    mut part: P,
    names: &Names,
    shape: &[usize],
    indices: Vec<(DimRef<'_>, Index<'a>)>,
) -> Result<(P, Names, Vec<(usize, &'a DynTensor)>)> {
    let op = Op::At.name();
    let dims = if indices.is_empty() {
        rule::Positions::new()
    } else {
        DimArg::list(indices.iter().map(|(dim, _)| *dim)).listed(op, names)?
    };
    let mut tensors: Vec<(usize, &DynTensor)> = Vec::new();
    let mut gone = rule::Positions::new();
    for (&dim, (_, index)) in dims.iter().zip(indices) {
        // The dims on the left that were already removed.
        let now = dim - gone.iter().filter(|&&other| other < dim).count();
        match index {
            Index::At(index) => {
                let at = rule::index_in(op, names, shape, dim, index)?;
                part = part.select(now, at)?;
                gone.push(dim);
            }
            Index::Range { start, end, step } => {
                let span = DimRange::within(shape[dim], start, end, step)
                    .map_err(|e| e.operand(names, shape).at(0, dim))?;
                part = part.slice(now, span)?;
            }
            Index::Tensor(index) => tensors.push((dim, index)),
        }
    }
    for (dim, _) in &mut tensors {
        *dim -= gone.iter().filter(|&other| other < dim).count();
    }
    Ok((part, rule::remove(names, &gone), tensors))
}

impl DynTensor {
    /// Returns the part at indices by name, in any order; dims that are left out stay whole. A
    /// number removes its dim, a range keeps it, the dims of an index tensor replace it, one tensor
    /// after the other.
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec((0..12).collect::<Vec<i64>>(), &[3, 4], ["N", "C"])?;
    /// let part = x.at([("C", (1..3).into()), ("N", (-1).into())])?;
    /// assert_eq!(part.names().to_string(), "(C,)");
    /// assert_eq!(part.to_vec::<i64>()?, [9, 10]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim does not exist or is given twice, [`ErrorKind::Index`] if an index is out of
    /// range, [`ErrorKind::Argument`] for a step below 1, [`ErrorKind::DuplicateNames`] if an
    /// index tensor has a name of another dim.
    pub fn at<'a, 'b, D: Into<DimRef<'b>>>(
        &self,
        indices: impl IntoIterator<Item = (D, Index<'a>)>,
    ) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("at"), &[self]);
        let indices = indices.into_iter().map(|(dim, index)| (dim.into(), index));
        let (raw, names, tensors) = views(
            self.raw.clone(),
            &self.names,
            self.shape(),
            indices.collect(),
        )
        .map_err(fail)?;
        let mut result = Self::new(raw, names);
        let mut moved: Vec<(usize, isize)> = Vec::new();
        for (dim, index) in tensors {
            let by = |&(other, by): &(usize, isize)| if other < dim { by } else { 0 };
            let now = dim.wrapping_add_signed(moved.iter().map(by).sum());
            if index.dtype() == DType::Bool {
                result = result.at_mask(now, index)?;
                continue;
            }
            let fail = |e: Error| about(e.in_op("at"), &[&result, index]);
            let names = match index.rank() {
                0 => Ok(rule::remove(&result.names, &[now])),
                _ => rule::index_select("at", &result.names, now, &index.names),
            }
            .map_err(fail)?;
            let raw = call::index_select(Op::At, &result.raw, now, &index.raw).map_err(fail)?;
            result = Self::new(raw, names);
            moved.push((dim, index.rank() as isize - 1));
        }
        Ok(result)
    }

    /// Returns the slices of a dim where a mask along it is true.
    fn at_mask(&self, dim: usize, mask: &Self) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("at"), &[self, mask]);
        if mask.rank() != 1 || mask.numel() != self.shape()[dim] {
            let what = format!("a mask of sizes {:?} along one dim", mask.shape());
            return Err(fail(Error::new(ErrorKind::Shape, "at", what).at(0, dim))
                .hint("give a mask with one dim of the dim's size, or use `masked_select`"));
        }
        let own: Names = std::iter::once(self.names[dim].clone()).collect();
        rule::unify("at", &own, &mask.names).map_err(fail)?;
        let indices = call::from_mask(&mask.raw).map_err(fail)?;
        let raw = call::index_select(Op::At, &self.raw, dim, &indices[0]).map_err(fail)?;
        Ok(Self::new(raw, self.names.clone()))
    }

    /// Returns the part at numbers and ranges, for writing; see [`DynTensor::at`].
    ///
    /// ```
    /// # use nomina_runtime::DynTensor;
    /// let mut x = DynTensor::zeros(&[2, 3], ["N", "C"])?;
    /// x.at_mut([("C", (1..).into()), ("N", 0.into())])?.fill_(5.0)?;
    /// assert_eq!(x.to_vec::<f32>()?, [0.0, 5.0, 5.0, 0.0, 0.0, 0.0]);
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// Like [`DynTensor::at`]; also [`ErrorKind::Argument`] for an index tensor.
    pub fn at_mut<'a, 'b, D: Into<DimRef<'b>>>(
        &mut self,
        indices: impl IntoIterator<Item = (D, Index<'a>)>,
    ) -> Result<DynTensorMut<'_>> {
        let names = self.names.clone();
        part_at(self.raw.as_mut()?, names, indices)
    }
}

impl DynTensorMut<'_> {
    /// Returns the part of this part at numbers and ranges; see [`DynTensor::at_mut`].
    ///
    /// # Errors
    /// Like [`DynTensor::at_mut`].
    pub fn at<'b, 'c, D: Into<DimRef<'c>>>(
        self,
        indices: impl IntoIterator<Item = (D, Index<'b>)>,
    ) -> Result<Self> {
        let (raw, names) = self.into_parts();
        part_at(raw, names, indices)
    }
}

/// Returns the part of a region at numbers and ranges.
fn part_at<'a, 'b, 'c, D: Into<DimRef<'c>>>(
    raw: RawMut<'a>,
    names: Names,
    indices: impl IntoIterator<Item = (D, Index<'b>)>,
) -> Result<DynTensorMut<'a>> {
    let indices: Vec<(DimRef<'_>, Index<'_>)> = indices
        .into_iter()
        .map(|(dim, index)| (dim.into(), index))
        .collect();
    let shape = crate::shape::Shape::from(raw.shape());
    let fail = |e: Error| {
        if e.operands().is_empty() {
            e.in_op("at").operand(&names, &shape)
        } else {
            e.in_op("at").with_names([&names]).with_shapes([&shape[..]])
        }
    };
    if indices.iter().any(|(_, i)| matches!(i, Index::Tensor(_))) {
        let what = "an index tensor gives no part";
        return Err(fail(
            Error::new(ErrorKind::Argument, "at", what)
                .hint("write to them with `index_put_` or `index_copy_`"),
        ));
    }
    let part = views(raw, &names, &shape, indices).map_err(fail)?;
    Ok(DynTensorMut::new(part.0, part.1))
}
