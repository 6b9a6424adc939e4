//! Queries, whose result is not a tensor.
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
use crate::call::typed;

/// # Sizes, names, layout
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The number of dims.
    pub const RANK: usize = D::RANK;

    /// The names of the dims; `None` for a `Wild` that has none.
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

    /// Whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.erased.wild.is_some() || D::NAMES.iter().any(Option::is_some)
    }

    /// The sizes, in order.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        self.erased.raw.shape()
    }

    /// The size of a dim.
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

    /// The strides, in elements.
    #[must_use]
    pub fn strides(&self) -> &[isize] {
        self.erased.raw.strides()
    }

    /// The stride of a dim, in elements.
    #[must_use]
    pub fn stride<X: DimOf<D>>(&self, dim: X) -> isize {
        let _ = dim;
        self.strides()[position::<X, D>()]
    }

    /// Where the first element stands in its buffer.
    #[must_use]
    pub fn storage_offset(&self) -> usize {
        self.erased.raw.offset()
    }

    /// The number of dims.
    #[must_use]
    pub fn rank(&self) -> usize {
        D::RANK
    }

    /// The number of dims, as PyTorch spells it.
    #[must_use]
    pub fn dim(&self) -> usize {
        D::RANK
    }

    /// The number of elements.
    #[must_use]
    pub fn numel(&self) -> usize {
        self.erased.raw.numel()
    }

    /// The dtype by value.
    #[must_use]
    pub fn dtype(&self) -> DType {
        T::DTYPE
    }

    /// The device.
    #[must_use]
    pub fn device(&self) -> Device {
        self.erased.raw.device()
    }

    /// Whether the elements stand in row-major order without gaps.
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.erased.raw.is_contiguous()
    }

    /// Whether the elements stand in the order of a memory format without gaps; false for a format
    /// of another number of dims.
    #[must_use]
    pub fn is_contiguous_with(&self, format: MemoryFormat) -> bool {
        self.erased.raw.layout().is_in(format)
    }

    /// The memory format that the strides speak for.
    #[must_use]
    pub fn suggest_memory_format(&self) -> MemoryFormat {
        self.erased.raw.layout().suggested_format()
    }

    /// The one element of a tensor that has one.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// assert_eq!(tensor!([1., 2.]; N).sum(..).item(), 3.0);
    /// ```
    ///
    /// # Errors
    /// When the tensor has no element, or several.
    #[twin]
    pub fn try_item(&self) -> Result<T> {
        let item = self.erased.raw.item();
        Ok(T::from_scalar(
            item.map_err(|error| self.erased().blame(error))?,
        ))
    }

    /// Whether names, sizes and elements are equal. `==` is not defined for tensors: whoever
    /// wants a tensor of truth values calls [`eq`](Self::eq).
    ///
    /// # Errors
    /// When the tensors are on different devices.
    #[twin]
    pub fn try_equal<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<bool> {
        let names = nomina_core::rule::equal_names(&self.names(), &other.names());
        let [own, its] = [&self.erased.raw, &other.erased.raw];
        nomina_runtime::call::same_device("equal", &[own, its])?;
        Ok(names && typed(|| nomina_runtime::call::equal(own, its))?)
    }
}
