//! Operators with masks.
//!
//! [`Tensor::where_cond`], [`Tensor::masked_fill`], [`Tensor::masked_select`],
//! [`TensorMut::masked_fill_`](crate::TensorMut::masked_fill_).

use nomina_core::dims::{Broadcast, Dims, Holds, Sum, Wild};
use nomina_core::op::Op;
use nomina_core::{Element, Result, Scalar};
use nomina_macros::{parts, twin};

use super::operand::{Combine, Operand, OutDims, OutDtype};
use super::{Tensor, TensorMut};
use crate::erased::{Erased, Known, OperandRef, mask, pointwise};

impl<D: Dims> Tensor<D, bool> {
    /// Selects from `a` where this condition is true, from `b` elsewhere. PyTorch's `where`, which
    /// is a keyword in Rust. Dims unify from the right, the dtypes of `a` and `b` promote.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([-1., 2.]; N);
    /// assert_eq!(x.gt(0.0).where_cond(&x, 0.0).to_vec(), [0.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_where_cond<E, U, R>(
        &self,
        a: &Tensor<E, U>,
        b: R,
    ) -> Result<Tensor<Sum<D, OutDims<R, E, U>>, OutDtype<R, E, U>>>
    where
        D: Broadcast<OutDims<R, E, U>>,
        E: Dims,
        U: Element,
        R: Operand,
        R::Kind: Combine<E, U>,
    {
        let sides = [self.as_operand(), a.as_operand(), b.as_operand()];
        let out = <Sum<D, OutDims<R, E, U>>>::STATIC;
        Tensor::try_from_erased(pointwise::in_dtype(
            pointwise::new(Op::Where, &sides, out),
            <OutDtype<R, E, U>>::DTYPE,
        ))
    }
}

/// # Masks and conditions
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Writes `value` where the mask is true.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let even = tensor!([false, true]; C);
    /// assert_eq!(x.masked_fill(&even, 0.0).to_vec(), [1.0, 0.0, 3.0, 0.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_masked_fill<E: Dims>(
        &self,
        mask: &Tensor<E, bool>,
        value: impl Into<Scalar>,
    ) -> Result<Tensor<Sum<D, E>, T>>
    where
        D: Broadcast<E> + Holds<Sum<D, E>>,
    {
        Tensor::try_from_erased(self.masked(mask, value.into()))
    }

    fn masked<E: Dims>(&self, mask: &Tensor<E, bool>, value: Scalar) -> Result<Erased>
    where
        D: Broadcast<E>,
    {
        mask::fill(
            self.erased(),
            mask.erased(),
            OperandRef::Scalar(value),
            <Sum<D, E>>::STATIC,
        )
    }

    /// Returns the elements where the mask is true, in row-major order, in one unnamed dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N }
    /// let x = tensor!([1., -2., 3.]; N);
    /// let positive: Tensor<(N,)> = x.masked_select(&x.gt(0.0)).refine_names((N,));
    /// assert_eq!(positive.to_vec(), [1.0, 3.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_masked_select<E: Dims>(&self, mask: &Tensor<E, bool>) -> Result<Tensor<(Wild,), T>>
    where
        D: Broadcast<E>,
    {
        Tensor::try_from_erased(mask::select(self.erased(), mask.erased()))
    }
}

#[parts]
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Writes `value` where the mask is true.
    ///
    /// # Errors
    /// If sizes do not match. Nothing is changed in that case.
    #[twin]
    pub fn try_masked_fill_<E: Dims>(
        &mut self,
        mask: &Tensor<E, bool>,
        value: impl Into<Scalar>,
    ) -> Result<&mut Self>
    where
        D: Broadcast<E> + Holds<Sum<D, E>>,
    {
        mask::fill_in_place(self.dest(), mask.erased(), OperandRef::Scalar(value.into()))?;
        Ok(self)
    }
}

// The forms in place and with an out tensor.
include!("mask/forms.rs");
