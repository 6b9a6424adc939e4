//! To and from tensors whose names, rank and dtype rustc does not know.
//!
//! [`Tensor::into_dyn`], [`Tensor::to_dyn`].

use nomina_core::dims::{Dims, Distinct};
use nomina_core::{Element, Error, ErrorKind, Names, Result};
use nomina_runtime::DynTensor;

use super::Tensor;
use crate::call::{Bare, Known, ok, view::check_sizes, wilds};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// With names, rank and dtype at run time only. Costs nothing.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let d = Tensor::<(N, C)>::zeros([2, 3]).into_dyn();
    /// assert_eq!(d.names(), &names!["N", "C"]);
    /// ```
    pub fn into_dyn(self) -> DynTensor {
        let names = self.names();
        ok(DynTensor::from_parts(self.bare.raw, names))
    }

    /// A [`DynTensor`] of the same elements. Costs nothing.
    pub fn to_dyn(&self) -> DynTensor {
        self.clone().into_dyn()
    }
}

impl<D: Dims, T: Element> From<Tensor<D, T>> for DynTensor {
    fn from(tensor: Tensor<D, T>) -> Self {
        tensor.into_dyn()
    }
}

/// [`DynTensor::typed`](Typed::typed), from dims that arrive at run time to dims that rustc knows.
pub trait Typed {
    /// This tensor with dims `D` and dtype `T`, checked: rank, names, constant sizes, dtype. A
    /// `Wild` takes any name, or none. Costs nothing but the checks.
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
    fn typed<D: Dims + Distinct, T: Element>(&self) -> Result<Tensor<D, T>>;
}

impl Typed for DynTensor {
    fn typed<D: Dims + Distinct, T: Element>(&self) -> Result<Tensor<D, T>> {
        check(
            self.names(),
            self.shape(),
            self.dtype(),
            D::STATIC.names,
            T::DTYPE,
        )?;
        check_sizes("typed", self.shape(), D::STATIC)?;
        let wild = wilds(self.names().clone(), D::STATIC);
        Ok(Tensor::wrap(Bare {
            raw: self.raw().clone(),
            wild,
        }))
    }
}

/// Whether names, rank and dtype are those of a type.
pub(super) fn check(
    names: &Names,
    shape: &[usize],
    own: nomina_core::DType,
    wanted: &'static [Option<&'static str>],
    dtype: nomina_core::DType,
) -> Result<()> {
    let error = |kind, what: String| {
        let types = Names::from_static(wanted);
        Error::new(
            kind,
            "typed",
            format!("{what}, where the type has dims {types}"),
        )
        .operand(names, shape)
    };
    if names.len() != wanted.len() {
        let what = format!("the tensor has {} dims", names.len());
        return Err(error(ErrorKind::Rank, what).hint("choose a type with as many dims"));
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
