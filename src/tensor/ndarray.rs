//! Conversions to and from `ndarray`, without a copy if the layout allows.
//!
//! [`Tensor::as_ndarray`].

use ndarray::{Array, ArrayViewD, Dimension};
use nomina_core::dims::Dims;
use nomina_core::{Element, Error, ErrorKind, Names, Result};
use nomina_runtime::Raw;

use super::Tensor;
use crate::erased::Known;
use crate::erased::factory;

/// Takes over the elements of an array, without a copy if they are in row-major order.
///
/// In generic code `D: Dims` is enough: duplicate names in `D` are a run-time error.
///
/// ```
/// use nomina::prelude::*;
/// dims! { N, C }
/// let array = ndarray::arr2(&[[1.0_f32, 2.0], [3.0, 4.0]]);
/// let x: Tensor<(N, C)> = array.try_into()?;
/// assert_eq!(x.sum(C).to_vec(), [3.0, 7.0]);
/// assert_eq!(x.as_ndarray()?[[1, 0]], 3.0);
/// # Ok::<(), nomina::Error>(())
/// ```
impl<D: Dims, T: Element, X: Dimension> TryFrom<Array<T, X>> for Tensor<D, T> {
    type Error = Error;

    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from(array: Array<T, X>) -> Result<Self> {
        if array.ndim() != D::RANK {
            let what = format!("an array of {} dims", array.ndim());
            return Err(Error::new(ErrorKind::Rank, "try_from", what)
                .operand(&Names::from_static(D::NAMES), &[])
                .hint("choose a type of equal rank"));
        }
        Names::new(Names::from_static(D::NAMES).iter().cloned())
            .map_err(|error| error.in_op("try_from"))?;
        let raw = Raw::try_from(array.into_dyn())?;
        Self::try_from_erased(factory::from_raw(raw, D::STATIC, "try_from"))
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the elements as an `ndarray` view, in any memory order.
    ///
    /// # Errors
    /// If the tensor is not on the CPU.
    pub fn as_ndarray(&self) -> Result<ArrayViewD<'_, T>> {
        self.erased
            .raw
            .as_ndarray()
            .map_err(|error| self.erased().blame(error))
    }
}
