//! Writing into a part of a tensor.
//!
//! [`TensorMut::names`](crate::TensorMut::names), [`TensorMut::shape`](crate::TensorMut::shape),
//! [`TensorMut::size`](crate::TensorMut::size), [`Tensor::fill_`], [`Tensor::copy_`],
//! [`Tensor::narrow_mut`], [`Tensor::select_mut`], [`Tensor::transpose_mut`].

use std::marker::PhantomData;
use std::ops::RangeBounds;

use nomina_core::dims::{
    Broadcast, DimOf, Dims, Holds, Resizable, SizeOf, Sum, Transposed, Without, position,
};
use nomina_core::{Element, Names, Result, Scalar};
use nomina_macros::{parts, twin};
use nomina_runtime::RawMut;

use super::{Tensor, Whole};
use crate::erased::view::{ends, length};
use crate::erased::{Dest, Known, Static, Wilds, factory, names, ok, wilds};

/// A part of a tensor for writing: the result of [`Tensor::narrow_mut`] and similar.
///
/// A view behaves as a value, so writing to `x.narrow(..)` never changes `x`; this type changes a
/// part in place. It borrows the tensor mutably.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let mut x = Tensor::<(N, C)>::zeros([3, 2]);
/// x.narrow_mut(N, 1..).fill_(1.0);
/// x.select_mut(C, 0).add_(&tensor!([10., 20., 30.]; N));
/// assert_eq!(x.to_vec(), [10.0, 0.0, 21.0, 1.0, 31.0, 1.0]);
/// ```
#[derive(Debug)]
#[must_use = "a part is only written to"]
pub struct TensorMut<'a, D: Dims, T: Element = f32> {
    raw: RawMut<'a>,
    wild: Wilds,
    types: PhantomData<fn() -> (D, T)>,
}

/// A part and its names.
pub(super) struct ErasedPart<'a> {
    pub(super) raw: RawMut<'a>,
    pub(super) wild: Wilds,
}

pub(super) fn from_erased<D: Dims, T: Element>(part: ErasedPart<'_>) -> TensorMut<'_, D, T> {
    TensorMut {
        raw: part.raw,
        wild: part.wild,
        types: PhantomData,
    }
}

fn narrowed<'a>(
    raw: RawMut<'a>,
    wild: &Wilds,
    of: &'static Static,
    dim: usize,
    range: impl RangeBounds<usize>,
) -> Result<ErasedPart<'a>> {
    let own = || names(wild.as_deref(), of);
    let ends = ends(range, raw.shape()[dim]);
    let raw = length(ends, dim)
        .and_then(|length| raw.narrow(dim, ends.0, length))
        .map_err(|error| error.with_names([&own()]))?;
    Ok(ErasedPart {
        raw,
        wild: wild.clone(),
    })
}

fn selected<'a>(
    raw: RawMut<'a>,
    wild: &Wilds,
    of: &'static Static,
    dim: usize,
    index: i64,
    out: &'static Static,
) -> Result<ErasedPart<'a>> {
    let own = names(wild.as_deref(), of);
    let at = nomina_core::rule::index_in("select", &own, raw.shape(), dim, index)?;
    let left = wild
        .as_ref()
        .and_then(|names| wilds(nomina_core::rule::remove(names, &[dim]), out));
    Ok(ErasedPart {
        raw: raw.select(dim, at)?,
        wild: left,
    })
}

fn transposed<'a>(
    raw: RawMut<'a>,
    wild: &Wilds,
    dims: (usize, usize),
    out: &'static Static,
) -> Result<ErasedPart<'a>> {
    let swapped = wild.as_ref().and_then(|names| {
        let mut names: Names = (**names).clone();
        names.swap(dims.0, dims.1);
        wilds(names, out)
    });
    Ok(ErasedPart {
        raw: raw.transpose(dims.0, dims.1)?,
        wild: swapped,
    })
}

impl<D: Dims, T: Element> TensorMut<'_, D, T> {
    /// Returns the names of the dims.
    #[must_use]
    pub fn names(&self) -> Names {
        names(self.wild.as_deref(), D::STATIC)
    }

    /// Returns the sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.raw.shape()
    }

    /// Returns the size of a dim.
    #[must_use]
    pub fn size<X: DimOf<D>>(&self, dim: X) -> usize {
        let _ = dim;
        self.shape()[position::<X, D>()]
    }

    pub(super) fn dest(&mut self) -> Result<Dest<'_>> {
        Ok(Dest {
            raw: self.raw.reborrow(),
            wild: &mut self.wild,
            of: D::STATIC,
        })
    }
}

/// # Writing to a part
#[parts]
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Fills with one number.
    ///
    /// # Errors
    /// If memory for a copy of shared elements runs out. Nothing is changed in that case.
    #[twin]
    pub fn try_fill_(&mut self, value: impl Into<Scalar>) -> Result<&mut Self> {
        factory::fill(self.dest(), value.into())?;
        Ok(self)
    }

    /// Copies the elements of `src`, broadcast and converted.
    ///
    /// # Errors
    /// If sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_copy_<E: Dims, U: Element>(&mut self, src: &Tensor<E, U>) -> Result<&mut Self>
    where
        D: Broadcast<E> + Holds<Sum<D, E>>,
    {
        factory::copy(self.dest(), src.erased())?;
        Ok(self)
    }

    /// Returns a range of a dim, for writing.
    ///
    /// # Errors
    /// If the range exceeds the dim or is reversed.
    #[twin]
    pub fn try_narrow_mut<X: DimOf<D>>(
        &mut self,
        dim: X,
        range: impl RangeBounds<usize>,
    ) -> Result<TensorMut<'_, D, T>>
    where
        SizeOf<X>: Resizable<X>,
    {
        let _ = dim;
        let Dest { raw, wild, of } = self.dest()?;
        narrowed(raw, wild, of, position::<X, D>(), range).map(from_erased)
    }

    /// Returns the slice at one index of a dim, for writing.
    ///
    /// # Errors
    /// If the index is out of range.
    #[twin]
    pub fn try_select_mut<X: DimOf<D>>(
        &mut self,
        dim: X,
        index: impl Whole,
    ) -> Result<TensorMut<'_, Without<D, X>, T>> {
        let _ = dim;
        let Dest { raw, wild, of } = self.dest()?;
        let (at, out) = (position::<X, D>(), <Without<D, X>>::STATIC);
        selected(raw, wild, of, at, index.whole(), out).map(from_erased)
    }

    /// Returns the tensor with two dims swapped, for writing.
    #[track_caller]
    pub fn transpose_mut<X: DimOf<D>, Y: DimOf<D>>(
        &mut self,
        dim0: X,
        dim1: Y,
    ) -> TensorMut<'_, Transposed<D, X, Y>, T> {
        let _ = (dim0, dim1);
        let Dest { raw, wild, .. } = ok(self.dest());
        let dims = (position::<X, D>(), position::<Y, D>());
        from_erased(ok(transposed(
            raw,
            wild,
            dims,
            <Transposed<D, X, Y>>::STATIC,
        )))
    }
}
