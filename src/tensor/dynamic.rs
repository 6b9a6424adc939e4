//! Conversion to and from tensors whose names, rank and dtype are known only at run time.
//!
//! [`Tensor::into_dyn`], [`Tensor::to_dyn`], [`Tensor::as_dyn_mut`].

use nomina_core::dims::{Dims, Distinct};
use nomina_core::{DType, Element, Error, ErrorKind, Names, Result};
use nomina_macros::twin;
use nomina_runtime::DynTensor;
use nomina_runtime::tensor::DynTensorMut;

use super::Tensor;
use crate::erased::{Erased, Known, Static, compose, ok, view::check_sizes};

/// # To and from `DynTensor`
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Converts to a [`DynTensor`]: names, rank and dtype at run time only. Free.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let d = Tensor::<(N, C)>::zeros([2, 3]).into_dyn();
    /// assert_eq!(d.names(), &names!["N", "C"]);
    /// ```
    pub fn into_dyn(self) -> DynTensor {
        let names = self.names();
        ok(DynTensor::from_parts(self.erased.raw, names))
    }

    /// Returns a [`DynTensor`] of the same elements. Free.
    pub fn to_dyn(&self) -> DynTensor {
        self.clone().into_dyn()
    }

    /// Returns this tensor for writing by names at run time; its dims, sizes and dtype stay.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    /// x.as_dyn_mut().fill_(1.0)?;
    /// assert_eq!(x.to_vec(), [1.0; 6]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If memory for a copy of shared elements is short.
    #[twin]
    pub fn try_as_dyn_mut(&mut self) -> Result<DynTensorMut<'_>> {
        let names = self.names();
        let raw = self.erased.raw.as_mut();
        let raw = raw.map_err(|error| error.with_names([&names]))?;
        DynTensorMut::from_parts(raw, names)
    }
}

impl<D: Dims, T: Element> From<Tensor<D, T>> for DynTensor {
    fn from(tensor: Tensor<D, T>) -> Self {
        tensor.into_dyn()
    }
}

/// The method [`typed`](Typed::typed) of [`DynTensor`], from dims at run time to dims in types.
pub trait Typed {
    /// Returns this tensor with dims `D` and dtype `T`. Checks rank, names, constant sizes and
    /// dtype; a `Wild` accepts any name, or none. Costs only the checks.
    ///
    /// ```
    /// use nomina::prelude::*;
    /// dims! { N, C }
    /// let d = DynTensor::zeros(&[2, 3], names!["N", "C"])?;
    /// let x = d.typed::<(N, C), f32>()?;
    /// assert_eq!(x.size(C), 3);
    /// assert!(d.typed::<(C, N), f32>().is_err());
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Rank`](ErrorKind::Rank), [`NameMismatch`](ErrorKind::NameMismatch),
    /// [`UnnamedDim`](ErrorKind::UnnamedDim), [`Shape`](ErrorKind::Shape) or
    /// [`DType`](ErrorKind::DType).
    #[cfg_attr(debug_assertions, track_caller)]
    fn typed<D: Dims + Distinct, T: Element>(&self) -> Result<Tensor<D, T>>;

    /// Like [`typed`](Self::typed), but by value: the elements then have no other owner and can be
    /// written to in place without a copy.
    ///
    /// # Errors
    /// If rank, names, sizes or dtype differ; the error returns the tensor.
    #[cfg_attr(debug_assertions, track_caller)]
    fn into_typed<D: Dims + Distinct, T: Element>(self) -> Result<Tensor<D, T>, (Self, Error)>
    where
        Self: Sized;
}

impl Typed for DynTensor {
    #[cfg_attr(debug_assertions, track_caller)]
    fn typed<D: Dims + Distinct, T: Element>(&self) -> Result<Tensor<D, T>> {
        let checked = checked(self.clone(), D::STATIC, T::DTYPE);
        Tensor::try_from_erased(checked.map_err(|(_, error)| error))
    }

    #[cfg_attr(debug_assertions, track_caller)]
    fn into_typed<D: Dims + Distinct, T: Element>(self) -> Result<Tensor<D, T>, (Self, Error)> {
        match checked(self, D::STATIC, T::DTYPE) {
            Ok(erased) => Ok(Tensor::from_erased(erased)),
            Err(failed) => Err(failed),
        }
    }
}

/// Like [`into_typed`](Typed::into_typed), for `?`; on an error the tensor is dropped.
impl<D: Dims + Distinct, T: Element> TryFrom<DynTensor> for Tensor<D, T> {
    type Error = Error;

    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from(tensor: DynTensor) -> Result<Self> {
        tensor.into_typed().map_err(|(_, error)| error)
    }
}

/// Like [`typed`](Typed::typed).
impl<D: Dims + Distinct, T: Element> TryFrom<&DynTensor> for Tensor<D, T> {
    type Error = Error;

    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from(tensor: &DynTensor) -> Result<Self> {
        tensor.typed()
    }
}

/// Returns a tensor without its types if they match.
#[allow(clippy::result_large_err, reason = "the tensor comes back")]
pub(super) fn checked(
    x: DynTensor,
    of: &'static Static,
    dtype: DType,
) -> Result<Erased, (DynTensor, Error)> {
    let fits = check(x.names(), x.shape(), x.dtype(), of.names, dtype);
    match fits.and_then(|()| check_sizes("typed", x.shape(), of)) {
        Ok(()) => Ok(compose::erase(x, of)),
        Err(error) => Err((x, error)),
    }
}

/// Checks names, rank and dtype against a type.
pub(super) fn check(
    names: &Names,
    shape: &[usize],
    own: DType,
    wanted: &'static [Option<&'static str>],
    dtype: DType,
) -> Result<()> {
    let error = |kind, what: String| {
        let types = Names::from_static(wanted);
        Error::new(
            kind,
            "typed",
            format!("{what}, but the type has dims {types}"),
        )
        .operand(names, shape)
    };
    if names.len() != wanted.len() {
        let what = format!("the tensor has {} dims", names.len());
        return Err(error(ErrorKind::Rank, what).hint("choose a type of equal rank"));
    }
    for (dim, (own, wanted)) in names.iter().zip(wanted).enumerate() {
        match (own, wanted) {
            (_, None) => {}
            (Some(own), Some(wanted)) if own == wanted => {}
            (Some(own), Some(wanted)) => {
                let what = format!("dim `{own}` is not `{wanted}`");
                return Err(error(ErrorKind::NameMismatch, what)
                    .at(0, dim)
                    .hint("align or rename it first"));
            }
            (None, Some(wanted)) => {
                let what = format!("a dim without a name is not `{wanted}`");
                return Err(error(ErrorKind::UnnamedDim, what)
                    .at(0, dim)
                    .hint("name it first, with `refine_names`"));
            }
        }
    }
    if own != dtype {
        let what = format!("the elements are {own}, not {dtype}");
        return Err(Error::new(ErrorKind::DType, "typed", what)
            .operand(names, shape)
            .hint("convert it first, with `to`"));
    }
    Ok(())
}
