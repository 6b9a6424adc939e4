//! Triangles: zeros on one side of a diagonal.
//!
//! [`Tensor::tril`], [`Tensor::triu`].

use nomina_core::dims::{Dims, Holds};
use nomina_core::op::Op;
use nomina_core::{Element, Result, StoreAs};
use nomina_runtime::tensor::DiagonalOptions;

use crate::call::{Known, ok, shape};
use crate::tensor::Tensor;

/// # Triangles
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements on and below the diagonal of the last two dims, zeros elsewhere.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    #[must_use]
    pub fn tril(&self) -> Self {
        ok(self.try_tril())
    }

    /// [`tril`](Self::tril) that returns the error.
    ///
    /// # Errors
    /// For fewer than two dims, or when memory is missing.
    pub fn try_tril(&self) -> Result<Self> {
        self.try_tril_with(DiagonalOptions::default())
    }

    /// [`tril`](Self::tril) of another diagonal.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    #[must_use]
    pub fn tril_with(&self, options: DiagonalOptions) -> Self {
        ok(self.try_tril_with(options))
    }

    /// [`tril_with`](Self::tril_with) that returns the error.
    ///
    /// # Errors
    /// For fewer than two dims, or when memory is missing.
    pub fn try_tril_with(&self, options: DiagonalOptions) -> Result<Self> {
        Self::give(shape::same(self.look(), D::STATIC, |x| {
            x.tril_with(options)
        }))
    }

    /// [`tril`](Self::tril) in place.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    pub fn tril_(&mut self) -> &mut Self {
        ok(self.try_tril_())
    }

    /// [`tril_`](Self::tril_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// For fewer than two dims.
    pub fn try_tril_(&mut self) -> Result<&mut Self> {
        self.try_tril_with_(DiagonalOptions::default())
    }

    /// [`tril_with`](Self::tril_with) in place.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    pub fn tril_with_(&mut self, options: DiagonalOptions) -> &mut Self {
        ok(self.try_tril_with_(options))
    }

    /// [`tril_with_`](Self::tril_with_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// For fewer than two dims.
    pub fn try_tril_with_(&mut self, options: DiagonalOptions) -> Result<&mut Self> {
        shape::triangle(Op::Tril, self.dest(), options.offset, false)?;
        Ok(self)
    }

    /// [`tril_with`](Self::tril_with) into `out`.
    ///
    /// # Panics
    /// When sizes do not fit.
    #[track_caller]
    pub fn tril_out<O: Dims + Holds<D>, U: Element>(
        &self,
        options: DiagonalOptions,
        out: &mut Tensor<O, U>,
    ) where
        T: StoreAs<U>,
    {
        ok(self.try_tril_out(options, out))
    }

    /// [`tril_out`](Self::tril_out) that returns the error.
    ///
    /// # Errors
    /// When sizes do not fit.
    pub fn try_tril_out<O: Dims + Holds<D>, U: Element>(
        &self,
        options: DiagonalOptions,
        out: &mut Tensor<O, U>,
    ) -> Result<()>
    where
        T: StoreAs<U>,
    {
        Tensor::store(Op::Tril, self.try_tril_with(options), out)
    }

    /// The elements on and above the diagonal of the last two dims, zeros elsewhere.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    #[must_use]
    pub fn triu(&self) -> Self {
        ok(self.try_triu())
    }

    /// [`triu`](Self::triu) that returns the error.
    ///
    /// # Errors
    /// For fewer than two dims, or when memory is missing.
    pub fn try_triu(&self) -> Result<Self> {
        self.try_triu_with(DiagonalOptions::default())
    }

    /// [`triu`](Self::triu) of another diagonal.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    #[must_use]
    pub fn triu_with(&self, options: DiagonalOptions) -> Self {
        ok(self.try_triu_with(options))
    }

    /// [`triu_with`](Self::triu_with) that returns the error.
    ///
    /// # Errors
    /// For fewer than two dims, or when memory is missing.
    pub fn try_triu_with(&self, options: DiagonalOptions) -> Result<Self> {
        Self::give(shape::same(self.look(), D::STATIC, |x| {
            x.triu_with(options)
        }))
    }

    /// [`triu`](Self::triu) in place.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    pub fn triu_(&mut self) -> &mut Self {
        ok(self.try_triu_())
    }

    /// [`triu_`](Self::triu_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// For fewer than two dims.
    pub fn try_triu_(&mut self) -> Result<&mut Self> {
        self.try_triu_with_(DiagonalOptions::default())
    }

    /// [`triu_with`](Self::triu_with) in place.
    ///
    /// # Panics
    /// For fewer than two dims.
    #[track_caller]
    pub fn triu_with_(&mut self, options: DiagonalOptions) -> &mut Self {
        ok(self.try_triu_with_(options))
    }

    /// [`triu_with_`](Self::triu_with_) that returns the error; then nothing has changed.
    ///
    /// # Errors
    /// For fewer than two dims.
    pub fn try_triu_with_(&mut self, options: DiagonalOptions) -> Result<&mut Self> {
        shape::triangle(Op::Triu, self.dest(), options.offset, true)?;
        Ok(self)
    }

    /// [`triu_with`](Self::triu_with) into `out`.
    ///
    /// # Panics
    /// When sizes do not fit.
    #[track_caller]
    pub fn triu_out<O: Dims + Holds<D>, U: Element>(
        &self,
        options: DiagonalOptions,
        out: &mut Tensor<O, U>,
    ) where
        T: StoreAs<U>,
    {
        ok(self.try_triu_out(options, out))
    }

    /// [`triu_out`](Self::triu_out) that returns the error.
    ///
    /// # Errors
    /// When sizes do not fit.
    pub fn try_triu_out<O: Dims + Holds<D>, U: Element>(
        &self,
        options: DiagonalOptions,
        out: &mut Tensor<O, U>,
    ) -> Result<()>
    where
        T: StoreAs<U>,
    {
        Tensor::store(Op::Triu, self.try_triu_with(options), out)
    }
}
