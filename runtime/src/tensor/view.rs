//! Views: other layouts of the same buffer.

use nomina_core::rule::{self, DimArg, DimRef, NameArg, NameItem};
use nomina_core::{Error, ErrorKind, Names, Result};

use super::{DynTensor, IndexRange, Order, SplitSizes, about};
use crate::memory::list;

impl DynTensor {
    /// Swaps two dims.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn transpose<'a>(
        &self,
        dim0: impl Into<DimRef<'a>>,
        dim1: impl Into<DimRef<'a>>,
    ) -> Result<Self> {
        let order = rule::transpose("transpose", &self.names, dim0.into(), dim1.into());
        order
            .and_then(|order| self.permuted(&order))
            .map_err(|e| about(e, &[self]))
    }

    /// Swaps the dims of a matrix; leaves vectors and numbers unchanged.
    ///
    /// # Errors
    /// [`ErrorKind::Rank`] for more than two dims.
    pub fn t(&self) -> Result<Self> {
        let order = rule::t("t", &self.names).map_err(|e| about(e, &[self]))?;
        self.permuted(&order)
    }

    /// Reorders all dims.
    ///
    /// # Errors
    /// If `dims` does not list each dim once.
    pub fn permute<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let order = rule::permute("permute", &self.names, &dims.into());
        order
            .and_then(|order| self.permuted(&order))
            .map_err(|e| about(e, &[self]))
    }

    fn permuted(&self, order: &[usize]) -> Result<Self> {
        Ok(Self::new(
            self.raw.permute(order)?,
            rule::kept(&self.names, order),
        ))
    }

    /// Permutes dims to an order of names; names that `self` lacks become dims of size 1, and `..`
    /// (`"..."` among strings) covers the dims that are not mentioned.
    ///
    /// # Errors
    /// If the order lacks a name of `self`, `self` has a dim without name, or a name is given
    /// twice.
    pub fn align_to<'a>(&self, names: impl Into<Order<'a>>) -> Result<Self> {
        let aligned = rule::align_to("align_to", &self.names, &names.into().items());
        self.aligned(aligned.map_err(|e| about(e, &[self]))?)
    }

    /// Permutes dims to the order of another tensor's dims.
    ///
    /// # Errors
    /// Like [`DynTensor::align_to`].
    pub fn align_as(&self, other: &Self) -> Result<Self> {
        let aligned = rule::align_as("align_as", &self.names, &other.names);
        self.aligned(aligned.map_err(|e| about(e, &[self, other]))?)
    }

    fn aligned(&self, aligned: rule::Alignment) -> Result<Self> {
        let raw = self.raw.align(&aligned.positions)?;
        Ok(Self::new(raw, aligned.names))
    }

    /// Merges consecutive dims into one, named `out_dim`. Copies only if the strides require it.
    ///
    /// # Errors
    /// [`ErrorKind::Flatten`] if the dims are not adjacent in this order.
    pub fn flatten<'a, 'b>(
        &self,
        dims: impl Into<DimArg<'a>>,
        out_dim: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let flat = rule::flatten("flatten", &self.names, &dims.into(), out_dim.into());
        self.flattened(flat.map_err(|e| about(e, &[self]))?)
    }

    /// Merges the dims from `start` to `end`, including both, into one, named `out_dim`.
    ///
    /// # Errors
    /// [`ErrorKind::Flatten`] if `end` is before `start`.
    pub fn flatten_range<'a, 'b>(
        &self,
        start: impl Into<DimRef<'a>>,
        end: impl Into<DimRef<'a>>,
        out_dim: impl Into<Option<&'b str>>,
    ) -> Result<Self> {
        let (start, end) = (start.into(), end.into());
        let flat = rule::flatten_range("flatten", &self.names, start, end, out_dim.into());
        self.flattened(flat.map_err(|e| about(e, &[self]))?)
    }

    fn flattened(&self, flat: rule::Flattening) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let shape = rule::flatten_shape("flatten", self.shape(), &flat).map_err(fail)?;
        Ok(Self::new(
            self.raw.reshape(&shape).map_err(fail)?,
            flat.names,
        ))
    }

    /// Splits one dim into several: `x.unflatten("F", [("C", 3), ("H", 4)])`; one size may be -1.
    ///
    /// # Errors
    /// [`ErrorKind::Flatten`] if the sizes do not multiply to the dim's.
    pub fn unflatten<'a, 'b, N: Into<NameArg<'b>>>(
        &self,
        dim: impl Into<DimRef<'a>>,
        sizes: impl IntoIterator<Item = (N, i64)>,
    ) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let sizes: Vec<(NameArg<'b>, i64)> = sizes
            .into_iter()
            .map(|(name, size)| (name.into(), size))
            .collect();
        let sizes: Vec<(NameItem<'_>, i64)> = sizes
            .iter()
            .map(|(name, size)| (name.as_item(), *size))
            .collect();
        let plan = rule::unflatten("unflatten", &self.names, self.shape(), dim.into(), &sizes)
            .map_err(fail)?;
        let mut shape = rule::Shape::from(self.shape());
        shape.remove(plan.position);
        shape.insert_many(plan.position, plan.sizes.iter().copied());
        Ok(Self::new(
            self.raw.reshape(&shape).map_err(fail)?,
            plan.names,
        ))
    }

    /// Removes dims of size 1: those listed, or all of them for `..`; larger dims stay.
    ///
    /// # Errors
    /// If a dim does not exist.
    pub fn squeeze<'a>(&self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        let kept = rule::squeeze("squeeze", &self.names, self.shape(), &dim.into())
            .map_err(|e| about(e, &[self]))?;
        let mut raw = self.raw.clone();
        for position in (0..self.rank())
            .rev()
            .filter(|position| !kept.contains(position))
        {
            raw = raw.squeeze(position)?;
        }
        Ok(Self::new(raw, rule::kept(&self.names, &kept)))
    }

    /// Inserts a dim of size 1 before position `dim`, with or without a name.
    ///
    /// # Errors
    /// [`ErrorKind::Index`] if `dim` is out of range, [`ErrorKind::DuplicateNames`] if `self` has
    /// a dim `name`.
    pub fn unsqueeze<'b>(&self, dim: i64, name: impl Into<Option<&'b str>>) -> Result<Self> {
        let (at, names) = rule::unsqueeze("unsqueeze", &self.names, dim, name.into())
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(self.raw.unsqueeze(at)?, names))
    }

    /// Repeats dims of size 1 without a copy; -1 keeps a size, new dims on the left are unnamed.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if a size that is not 1 would change.
    pub fn expand(&self, size: &[i64]) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let (names, shape) =
            rule::expand("expand", &self.names, self.shape(), size).map_err(fail)?;
        Ok(Self::new(self.raw.expand(&shape).map_err(fail)?, names))
    }

    /// Returns the slice at one index of a dim; a negative index counts from the end.
    ///
    /// # Errors
    /// If the dim does not exist or the index is out of range.
    pub fn select<'a>(&self, dim: impl Into<DimRef<'a>>, index: i64) -> Result<Self> {
        let fail = |e| about(e, &[self]);
        let dim = dim.into().position("select", &self.names).map_err(fail)?;
        let index =
            rule::index_in("select", &self.names, self.shape(), dim, index).map_err(fail)?;
        Ok(Self::new(
            self.raw.select(dim, index)?,
            rule::remove(&self.names, &[dim]),
        ))
    }

    /// Returns `length` elements of a dim from `start` on; a negative start counts from the end.
    ///
    /// # Errors
    /// If the dim does not exist or the range does not lie within it.
    pub fn narrow<'a>(
        &self,
        dim: impl Into<DimRef<'a>>,
        start: i64,
        length: usize,
    ) -> Result<Self> {
        let dim = dim
            .into()
            .position("narrow", &self.names)
            .map_err(|e| about(e, &[self]))?;
        let size = self.shape()[dim];
        let from = if start < 0 {
            start.saturating_add_unsigned(size as u64)
        } else {
            start
        };
        match usize::try_from(from) {
            Ok(from) if from.checked_add(length).is_some_and(|end| end <= size) => Ok(Self::new(
                self.raw.narrow(dim, from, length)?,
                self.names.clone(),
            )),
            _ => {
                let what = format!("{length} elements from {start} on exceed size {size}");
                let error = Error::new(ErrorKind::Index, "narrow", what).at(0, dim);
                Err(about(error, &[self]).hint("start and length stay within the dim's size"))
            }
        }
    }

    /// Returns a range of a dim, as the typed `narrow` does; negative ends count from the end.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::from_vec(vec![1_i64, 2, 3, 4], &[4], ["N"])?;
    /// assert_eq!(x.slice("N", 1..3)?.to_vec::<i64>()?, [2, 3]);
    /// assert_eq!(x.slice("N", ..-1)?.to_vec::<i64>()?, [1, 2, 3]);
    /// assert!(x.slice("N", 2..5).is_err());
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim does not exist, or the range does not lie within it.
    pub fn slice<'a>(&self, dim: impl Into<DimRef<'a>>, range: impl IndexRange) -> Result<Self> {
        self.at([(dim.into(), range.into())])
            .map_err(|e| e.in_op("slice"))
    }

    /// Returns all slices along a dim, which is removed.
    ///
    /// # Errors
    /// If the dim does not exist.
    pub fn unbind<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Vec<Self>> {
        let dim = dim
            .into()
            .position("unbind", &self.names)
            .map_err(|e| about(e, &[self]))?;
        let names = rule::remove(&self.names, &[dim]);
        let count = self.shape()[dim];
        let mut slices = list("unbind", [count]).map_err(|e| about(e, &[self]))?;
        for i in 0..count {
            slices.push(Self::new(self.raw.select(dim, i)?, names.clone()));
        }
        Ok(slices)
    }

    /// Splits a dim into pieces of one size (the last may be smaller) or of given sizes.
    ///
    /// # Errors
    /// If the dim does not exist, a size is negative, or given sizes do not add up to the dim's.
    pub fn split<'a, 'b>(
        &self,
        sizes: impl Into<SplitSizes<'a>>,
        dim: impl Into<DimRef<'b>>,
    ) -> Result<Vec<Self>> {
        let dim = dim
            .into()
            .position("split", &self.names)
            .map_err(|e| about(e, &[self]))?;
        let sizes = piece_sizes(&sizes.into(), self.shape()[dim])
            .map_err(|e| about(e.at(0, dim), &[self]))?;
        let mut start = 0;
        let mut pieces = list("split", [sizes.len()]).map_err(|e| about(e, &[self]))?;
        for size in sizes {
            pieces.push(Self::new(
                self.raw.narrow(dim, start, size)?,
                self.names.clone(),
            ));
            start += size;
        }
        Ok(pieces)
    }

    /// Returns a view of the buffer with any sizes and strides, in elements, without names.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if it would reach outside of the buffer.
    pub fn as_strided(&self, size: &[usize], stride: &[isize], offset: usize) -> Result<Self> {
        let (shape, strides) = (size.into(), stride.into());
        let raw = self
            .raw
            .strided_view(shape, strides, offset)
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(raw, Names::unnamed(size.len())))
    }
}

fn piece_sizes(sizes: &SplitSizes<'_>, size: usize) -> Result<Vec<usize>> {
    let refuse = |what: String, hint: &str| {
        Err(Error::new(ErrorKind::Shape, "split", what).hint(hint.to_owned()))
    };
    match sizes {
        SplitSizes::Each(each) => match usize::try_from(*each) {
            Err(_) => refuse(
                format!("pieces of size {each}"),
                "give a size of at least 1",
            ),
            Ok(0) if size > 0 => refuse("pieces of size 0".into(), "give a size of at least 1"),
            Ok(0) => Ok(vec![0]),
            Ok(each) => {
                let count = size.div_ceil(each).max(1);
                let mut sizes = list("split", [count])?;
                sizes.extend((0..count).map(|i| each.min(size - i * each)));
                Ok(sizes)
            }
        },
        SplitSizes::All(all) => {
            let sizes: Option<Vec<usize>> = all.iter().map(|&s| usize::try_from(s).ok()).collect();
            let total =
                |sizes: &[usize]| sizes.iter().try_fold(0usize, |sum, &s| sum.checked_add(s));
            match sizes {
                Some(sizes) if total(&sizes) == Some(size) => Ok(sizes),
                _ => refuse(
                    format!("sizes {all:?} do not add up to {size}"),
                    "give sizes that add up to the dim's",
                ),
            }
        }
    }
}
