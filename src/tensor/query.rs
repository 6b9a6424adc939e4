//! Queries, which return no tensor.
//!
//! [`Tensor::names`], [`Tensor::has_names`], [`Tensor::shape`], [`Tensor::size`],
//! [`Tensor::strides`], [`Tensor::stride`], [`Tensor::storage_offset`], [`Tensor::rank`],
//! [`Tensor::dim`], [`Tensor::numel`], [`Tensor::dtype`], [`Tensor::device`],
//! [`Tensor::is_contiguous`], [`Tensor::suggest_memory_format`], [`Tensor::item`],
//! [`Tensor::equal`].

use nomina_core::dims::{DimOf, Dims, position};
use nomina_core::{DType, Element, MemoryFormat, Names, Result};
use nomina_macros::twin;
use nomina_runtime::Device;

use super::Tensor;
use crate::erased::typed;

/// A tensor without dims has one element, which [`Tensor::item`] returns.
#[diagnostic::on_unimplemented(
    message = "item() needs a tensor without dims, and this tensor has dims {Self}",
    label = "not one element",
    note = "reduce them first: `x.sum(..)`; or take one element, `x.get(..)`, or all, `x.to_vec()`"
)]
pub trait OneElement: Dims {}
#[diagnostic::do_not_recommend]
impl OneElement for () {}

/// # Sizes, names, layout
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The number of dims.
    pub const RANK: usize = D::RANK;

    /// Returns the names of the dims; `None` for a `Wild` without a name.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = Tensor::<(N, C)>::zeros([2, 3]);
    /// assert_eq!(x.names(), names!["N", "C"]);
    /// ```
    #[must_use]
    pub fn names(&self) -> Names {
        self.erased().names()
    }

    /// Returns whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.erased.wild.is_some() || D::NAMES.iter().any(Option::is_some)
    }

    /// Returns the sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.erased.raw.shape()
    }

    /// Returns the size of a dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// assert_eq!(Tensor::<(N, C)>::zeros([2, 3]).size(C), 3);
    /// ```
    #[must_use]
    pub fn size<X: DimOf<D>>(&self, dim: X) -> usize {
        let _ = dim;
        self.shape()[position::<X, D>()]
    }

    /// Returns the strides in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.erased.raw.strides()
    }

    /// Returns the stride of a dim in elements.
    #[must_use]
    pub fn stride<X: DimOf<D>>(&self, dim: X) -> isize {
        let _ = dim;
        self.strides()[position::<X, D>()]
    }

    /// Returns the index of the first element in its buffer.
    #[must_use]
    pub fn storage_offset(&self) -> usize {
        self.erased.raw.offset()
    }

    /// Returns the number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        D::RANK
    }

    /// Returns the number of dims; the name in PyTorch.
    #[must_use]
    pub fn dim(&self) -> usize {
        D::RANK
    }

    /// Returns the number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.erased.raw.numel()
    }

    /// Returns the dtype as a value.
    #[must_use]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// Returns the device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.erased.raw.device()
    }

    /// Returns whether the elements are in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.erased.raw.is_contiguous()
    }

    /// Returns whether the elements are in the order of a memory format without gaps; false if the
    /// format is for another number of dims.
    #[must_use]
    pub fn is_contiguous_with(&self, format: MemoryFormat) -> bool {
        self.erased.raw.layout().is_in(format)
    }

    /// Returns the memory format that the strides suggest.
    #[must_use]
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        self.erased.raw.layout().suggested_format()
    }

    /// Returns the only element of a tensor.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([1., 2.]; N).sum(..).item(), 3.0);
    /// ```
    ///
    /// [`DynTensor::item`](crate::DynTensor::item) takes dims of size 1 too, and counts the elements at run time.
    ///
    /// # Errors
    /// If the device fails.
    #[twin]
    pub fn try_item(&self) -> Result<T>
    where
        D: OneElement,
    {
        let item = self.erased.raw.item();
        Ok(T::from_scalar(
            item.map_err(|error| self.erased().blame(error))?,
        ))
    }

    /// Returns whether names, sizes and elements are equal. `==` is not defined for tensors; use
    /// [`eq`](Self::eq) for a tensor of truth values.
    ///
    /// # Errors
    /// If the tensors are on different devices.
    #[twin]
    pub fn try_equal<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<bool> {
        let names = nomina_core::rule::equal_names(&self.names(), &other.names());
        let [own, its] = [&self.erased.raw, &other.erased.raw];
        nomina_runtime::call::same_device("equal", &[own, its])?;
        Ok(names && typed(|| nomina_runtime::call::equal(own, its))?)
    }
}
