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
use crate::call::{Known, attribute, factory, ok};

/// # Filling and attributes
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The size of an element in bytes.
    #[must_use]
    pub fn element_size(&self) -> usize {
        size_of::<T>()
    }

    /// The size of an element in bytes, as NumPy spells it.
    #[must_use]
    pub fn itemsize(&self) -> usize {
        size_of::<T>()
    }

    /// The size of all elements in bytes; of a view, without the gaps.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.numel().saturating_mul(size_of::<T>())
    }

    /// The number of dims, as NumPy spells it.
    #[must_use]
    pub fn ndim(&self) -> usize {
        D::RANK
    }

    /// Whether the elements are complex.
    #[must_use]
    pub fn is_complex(&self) -> bool {
        T::DTYPE.is_complex()
    }

    /// Whether the elements are floats: `f16`, `bf16`, `f32` or `f64`.
    #[must_use]
    pub fn is_floating_point(&self) -> bool {
        T::DTYPE.is_float()
    }

    /// Whether the dtype has numbers below zero; complex ones have.
    #[must_use]
    pub fn is_signed(&self) -> bool {
        T::DTYPE.is_signed()
    }

    /// Whether the elements are on a CUDA device.
    #[must_use]
    pub fn is_cuda(&self) -> bool {
        self.device().is_cuda()
    }

    /// Whether the elements are on the host.
    #[must_use]
    pub fn is_cpu(&self) -> bool {
        self.device().is_cpu()
    }

    /// How the elements are laid out: by strides.
    #[must_use]
    pub fn layout(&self) -> Layout {
        Layout::Strided
    }

    /// The name of the tensor's type, as PyTorch spells it: `torch.FloatTensor`.
    #[must_use]
    pub fn type_name(&self) -> String {
        nomina_runtime::tensor::type_name(T::DTYPE, self.device())
    }

    /// The address of the first element, on the tensor's device; elements follow by the strides.
    #[must_use]
    pub fn as_ptr(&self) -> *const T {
        self.erased.raw.as_ptr().cast()
    }

    /// The ordinal of the CUDA device; -1 on the host.
    #[must_use]
    pub fn get_device(&self) -> i64 {
        nomina_runtime::tensor::ordinal(self.device())
    }

    /// Whether the layout is sparse COO: a `Tensor`'s is strided.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        false
    }

    /// Whether the layout is sparse CSR, which no tensor's is.
    #[must_use]
    pub fn is_sparse_csr(&self) -> bool {
        false
    }

    /// Whether the sizes are equal, whatever the names.
    #[must_use]
    pub fn is_same_size<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> bool {
        self.shape() == other.shape()
    }

    /// Whether the one element is different from zero.
    ///
    /// # Errors
    /// When there is not exactly one.
    #[twin]
    pub fn try_is_nonzero(&self) -> Result<bool> {
        let item = self.try_item().map_err(|error| error.in_op("is_nonzero"))?;
        Ok(item != T::default())
    }

    /// The elements converted to the dtype of another tensor, on its device.
    ///
    /// # Errors
    /// When the device is not there, or memory is short.
    #[twin]
    pub fn try_type_as<E: Dims, U: Element>(&self, other: &Tensor<E, U>) -> Result<Tensor<D, U>> {
        self.try_to_device(other.device())?.try_to::<U>()
    }

    /// On a CUDA device; without a number, on the current one.
    ///
    /// # Errors
    /// When the device is not there, or its memory is short.
    #[twin]
    pub fn try_cuda(&self, ordinal: impl Into<Option<usize>>) -> Result<Self> {
        let device = Device::Cuda(ordinal.into());
        Self::try_from_erased(
            factory::to_device(self.erased(), device).map_err(|error| error.in_op("cuda")),
        )
    }

    /// The same elements, cut off from gradients.
    #[must_use]
    pub fn detach(&self) -> Self {
        let mut detached = self.clone();
        detached.detach_();
        detached
    }

    /// Cuts this tensor off from gradients.
    pub fn detach_(&mut self) -> &mut Self {
        let raw = self.erased.raw.clone();
        self.erased.raw = raw.detach();
        self
    }

    /// Writes zeros everywhere.
    ///
    /// # Errors
    /// When memory is short.
    #[twin]
    pub fn try_zero_(&mut self) -> Result<&mut Self> {
        factory::fill(self.dest(), Scalar::Int(0))?;
        Ok(self)
    }

    /// Other sizes for the same buffer, from the first element on and row-major. The buffer grows
    /// where it must; new elements are zero. A tensor that has the sizes already stays as it is,
    /// and one that has a name takes no others.
    ///
    /// # Errors
    /// When a dim has a name and the sizes are others, or memory is short; then nothing has
    /// changed.
    #[twin]
    pub fn try_resize_<S: ShapeFor<D>>(&mut self, shape: S) -> Result<&mut Self> {
        attribute::resize(&mut self.erased, D::STATIC, &shape.sizes())?;
        Ok(self)
    }

    /// [`resize_`](Self::resize_) to the sizes of another tensor; a tensor without names takes its
    /// names too.
    ///
    /// # Errors
    /// When a dim has a name and the sizes are others, or names that only the run time knows
    /// differ; then nothing has changed.
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
    /// Writes zeros everywhere.
    #[track_caller]
    pub fn zero_(&mut self) -> &mut Self {
        ok(factory::fill(self.dest(), Scalar::Int(0)));
        self
    }
}
