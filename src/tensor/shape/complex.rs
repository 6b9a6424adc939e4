//! Complex numbers and their parts.
//!
//! [`Tensor::real`], [`Tensor::imag`], [`Tensor::view_as_real`], [`Tensor::conj`],
//! [`Tensor::view_as_complex`], [`Tensor::complex`], [`Tensor::polar`].

use nomina_core::dims::{Append, Appended, Broadcast, DimOf, Dims, OneDim, Sum, Without, position};
use nomina_core::op::Op;
use nomina_core::{ComplexElement, Element, Float, Result};
use nomina_macros::twin;
use num_complex::Complex;

use crate::erased::{Known, shape};
use crate::tensor::Tensor;

/// The dtype of the parts of a complex dtype: `f32` or `f64`.
#[diagnostic::on_unimplemented(
    message = "no complex dtype has parts of `{Self}`",
    label = "expected f32 or f64"
)]
pub trait ComplexPart: Float {
    /// The complex dtype.
    type Complex: Element;
}

#[diagnostic::do_not_recommend]
impl ComplexPart for f32 {
    type Complex = Complex<Self>;
}

#[diagnostic::do_not_recommend]
impl ComplexPart for f64 {
    type Complex = Complex<Self>;
}

/// # Complex numbers
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the real parts without a copy; for a real tensor, the tensor itself.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let (re, im) = (tensor!([1., 2.]; N), tensor!([3., 4.]; N));
    /// let z: Tensor<(N,), Complex<f32>> = re.complex(&im);
    /// assert_eq!(z.imag().to_vec(), [3.0, 4.0]);
    /// assert_eq!(z.conj().imag().to_vec(), [-3.0, -4.0]);
    /// ```
    ///
    /// # Errors
    /// Never because of the caller.
    #[twin]
    pub fn try_real(&self) -> Result<Tensor<D, T::Real>> {
        Tensor::try_from_erased(shape::same(
            self.erased(),
            D::STATIC,
            nomina_runtime::DynTensor::real,
        ))
    }

    /// Returns the imaginary parts without a copy.
    ///
    /// # Errors
    /// Never because of the caller.
    #[twin]
    pub fn try_imag(&self) -> Result<Tensor<D, T::Real>>
    where
        T: ComplexElement,
    {
        Tensor::try_from_erased(shape::same(
            self.erased(),
            D::STATIC,
            nomina_runtime::DynTensor::imag,
        ))
    }

    /// Views complex numbers as pairs in a new last dim.
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin]
    pub fn try_view_as_real<K: OneDim + Append<D>>(
        &self,
        to: K,
    ) -> Result<Tensor<Appended<D, K>, T::Real>>
    where
        T: ComplexElement,
    {
        let _ = to;
        let out = <Appended<D, K>>::STATIC;
        Tensor::try_from_erased(shape::sized(
            "view_as_real",
            &[self.erased()],
            out,
            &[D::RANK],
            |x| x[0].view_as_real(K::NAME),
        ))
    }

    /// Computes the complex conjugates; for a real tensor, its numbers.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_conj(&self) -> Result<Self> {
        Self::try_from_erased(shape::same(
            self.erased(),
            D::STATIC,
            nomina_runtime::DynTensor::conj,
        ))
    }

    /// Like [`conj`](Self::conj), but in place.
    ///
    /// # Errors
    /// If memory runs out. Nothing is changed in that case.
    #[twin]
    pub fn try_conj_(&mut self) -> Result<&mut Self> {
        *self = self.try_conj()?;
        Ok(self)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Views pairs in a last dim of size 2 as complex numbers.
    ///
    /// # Errors
    /// If the dim's size is not 2, or pairs are not adjacent in memory.
    #[twin]
    pub fn try_view_as_complex<X: DimOf<D>>(
        &self,
        dim: X,
    ) -> Result<Tensor<Without<D, X>, T::Complex>>
    where
        T: ComplexPart,
    {
        let _ = dim;
        let (at, out) = (position::<X, D>(), <Without<D, X>>::STATIC);
        Tensor::try_from_erased(shape::same(self.erased(), out, |x| {
            if at + 1 == D::RANK {
                x.view_as_complex()
            } else {
                x.movedim(at, -1)?.view_as_complex()
            }
        }))
    }

    /// Combines this tensor as real parts and another as imaginary parts to complex numbers.
    ///
    /// # Errors
    /// If sizes do not broadcast.
    #[twin]
    pub fn try_complex<E: Dims>(&self, imag: &Tensor<E, T>) -> Result<Tensor<Sum<D, E>, T::Complex>>
    where
        T: ComplexPart,
        D: Broadcast<E>,
    {
        let out = <Sum<D, E>>::STATIC;
        let operands = [self.erased(), imag.erased()];
        Tensor::try_from_erased(shape::joined(Op::Complex, &operands, out, |x| {
            nomina_runtime::DynTensor::complex(&x[0], &x[1])
        }))
    }

    /// Combines this tensor as magnitudes and another as angles to complex numbers.
    ///
    /// # Errors
    /// If sizes do not broadcast.
    #[twin]
    pub fn try_polar<E: Dims>(&self, angle: &Tensor<E, T>) -> Result<Tensor<Sum<D, E>, T::Complex>>
    where
        T: ComplexPart,
        D: Broadcast<E>,
    {
        let out = <Sum<D, E>>::STATIC;
        let operands = [self.erased(), angle.erased()];
        Tensor::try_from_erased(shape::joined(Op::Polar, &operands, out, |x| {
            nomina_runtime::DynTensor::polar(&x[0], &x[1])
        }))
    }
}

// The forms in place and with an out tensor.
include!("complex/forms.rs");
