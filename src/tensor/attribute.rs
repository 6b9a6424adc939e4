//! Attributes and resizing.
//!
//! [`Tensor::element_size`], [`Tensor::itemsize`], [`Tensor::nbytes`], [`Tensor::ndim`],
//! [`Tensor::is_complex`], [`Tensor::is_floating_point`], [`Tensor::is_signed`],
//! [`Tensor::is_cuda`], [`Tensor::is_cpu`], [`Tensor::layout`], [`Tensor::type_name`],
//! [`Tensor::as_ptr`], [`Tensor::get_device`], [`Tensor::is_sparse`], [`Tensor::is_sparse_csr`],
//! [`Tensor::is_same_size`], [`Tensor::is_nonzero`], [`Tensor::type_as`], [`Tensor::cuda`],
//! [`Tensor::detach`], [`Tensor::zero_`], [`Tensor::resize_`], [`Tensor::resize_as_`].

use nomina_core::dims::{Dims, Holds, ShapeFor};
use nomina_core::{Element, Layout, Result, Scalar};
use nomina_macros::twin;
use nomina_runtime::Device;

use super::{Tensor, TensorMut};
use crate::erased::{Known, attribute, factory, ok};

/// # Filling and attributes
/// # Names, sizes and elements
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the size of an element in bytes.
    #[must_use]
    pub fn element_size(&self) -> usize {
        size_of::<T>()
    }

    /// Returns the size of an element in bytes; the name in NumPy.
    #[must_use]
    pub fn itemsize(&self) -> usize {
        size_of::<T>()
    }

    /// Returns the size of all elements in bytes; for a view, without the gaps.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(size_of::<T>())
    }

    /// Returns the number of dims; the name in NumPy.
    #[must_use]
    pub fn ndim(&self) -> usize {
        D::RANK
    }

    /// Returns whether the elements are complex.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        T::DTYPE.is_complex()
    }

    /// Returns whether the elements are floats: `f16`, `bf16`, `f32` or `f64`.
    #[must_use]
    pub fn is_floating_point(&self) -> bool {
        T::DTYPE.is_float()
    }

    /// Returns whether the dtype has numbers below zero; complex dtypes do.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        T::DTYPE.is_signed()
    }

    /// Returns whether the elements are on a CUDA device.
    #[must_use]
    pub fn is_cuda(&self) -> bool {
        self.device().is_cuda()
    }

    /// Returns whether the elements are on the host.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.device().is_cpu()
    }

    /// Returns the layout of the elements: strided.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::Strided
    }

    /// Returns the name of the tensor type as PyTorch spells it: `torch.FloatTensor`.
    #[must_use]
    pub fn type_name(&self) -> String {
        nomina_runtime::tensor::type_name(T::DTYPE, self.device())
    }

    /// Returns the address of the first element, on the tensor's device; the strides give the
    /// others.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.erased.raw.as_ptr().cast()
    }

    /// Returns the ordinal of the CUDA device, or -1 on the host.
    #[must_use]
    pub fn get_device(&self) -> i64 {
        nomina_runtime::tensor::ordinal(self.device())
    }

    /// Returns whether the layout is sparse COO; false, since a `Tensor` is strided.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        false
    }

    /// Returns whether the layout is sparse CSR; false, since this layout does not exist.
    #[must_use]
    pub fn is_sparse_csr(&self) -> bool {
        false
    }

    /// Returns whether the sizes are equal, regardless of names.
    #[must_use]
    pub fn is_same_size<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> bool {
        self.shape() == other.shape()
    }

    /// Returns whether the only element differs from zero.
    ///
    /// # Errors
    /// If there is not exactly one.
    #[twin]
    pub fn try_is_nonzero(&self) -> Result<bool> {
        let item = self
            .erased
            .raw
            .item()
            .map_err(|error| error.in_op("is_nonzero"))?;
        Ok(T::from_scalar(item) != T::default())
    }

    /// Converts to the dtype of another tensor and moves to its device.
    ///
    /// # Errors
    /// If the device does not exist, or memory runs out.
    #[twin]
    pub fn try_type_as<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<Tensor<D, U>> {
        self.try_to_device(other.device())?.try_to::<U>()
    }

    /// Returns the tensor on a CUDA device, by default the current one.
    ///
    /// # Errors
    /// If the device does not exist, or its memory runs out.
    #[twin]
    pub fn try_cuda(&self, ordinal: impl Into<Option<usize>>) -> Result<Self> {
        let device = Device::Cuda(ordinal.into());
        Self::try_from_erased(
            factory::to_device(self.erased(), device).map_err(|error| error.in_op("cuda")),
        )
    }

    /// Returns the same elements, detached from the gradient graph.
    #[must_use]
    pub fn detach(&self) -> Self {
        let mut detached = self.clone();
        detached.detach_();
        detached
    }

    /// Detaches this tensor from the gradient graph.
    pub fn detach_(&mut self) -> &mut Self {
        let raw = self.erased.raw.clone();
        self.erased.raw = raw.detach();
        self
    }

    /// Fills the tensor with zeros.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_zero_(&mut self) -> Result<&mut Self> {
        factory::fill(self.dest(), Scalar::Int(0))?;
        Ok(self)
    }

    /// Resizes the tensor; elements keep their row-major order in the buffer. The buffer grows if
    /// necessary; new elements are zero. A tensor that already has the sizes stays unchanged, and
    /// one with names cannot be resized.
    ///
    /// # Errors
    /// If a dim has a name and the sizes differ, or memory runs out. Nothing is changed in that
    /// case.
    #[twin]
    pub fn try_resize_<S: ShapeFor<D>>(&mut self, shape: S) -> Result<&mut Self> {
        attribute::resize(&mut self.erased, D::STATIC, &shape.sizes())?;
        Ok(self)
    }

    /// Like [`resize_`](Self::resize_), but to the sizes of another tensor; a tensor without names
    /// also takes its names.
    ///
    /// # Errors
    /// If a dim has a name and the sizes differ, or names known only at run time differ. Nothing is
    /// changed in that case.
    #[twin]
    pub fn try_resize_as_<E: Dims, U: Element>(
        &mut self,
        the_template: &Tensor<E, U>,
    ) -> Result<&mut Self>
    where
        D: Holds<E>,
    {
        attribute::resize_as(&mut self.erased, D::STATIC, the_template.erased())?;
        Ok(self)
    }
}

impl<D: Dims, T: Element> TensorMut<'_, D, T> {
    /// Fills the tensor with zeros.
    #[track_caller]
    pub fn zero_(&mut self) -> &mut Self {
        ok(factory::fill(self.dest(), Scalar::Int(0)));
        self
    }
}
