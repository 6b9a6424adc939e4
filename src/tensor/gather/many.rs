//! Several index tensors at once.
//!
//! [`Tensor::index`], [`Tensor::index_put`].

use nomina_core::dims::{Broadcast, DimTuple, Dims, HoldsInPlace, Sum};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::IndexPutOptions;

use crate::Tensor;
use crate::erased::Known;
use crate::erased::gather::{self, OperandList};

/// Index tensors along some dims: `(N.i(&rows), C.i(&columns))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of dims with index tensors",
    label = "expected dims with index tensors, such as `(N.i(&rows), C.i(&columns))`"
)]
pub trait Points {
    /// The dims of the result for dims `D`.
    type Of<D: Dims>: Dims;
    #[doc(hidden)]
    fn operands<D: Dims>(&self) -> OperandList<'_>;
}

/// The index tensors are along distinct dims of `D`, and unify.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D}"
)]
pub trait PointsOf<D>: Points {}
// One impl as root, so that rustc lists no others in its message.
impl<P: Points + EachPoint<D>, D> PointsOf<D> for P {}

/// Like [`PointsOf`], for each tuple length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D}"
)]
pub trait EachPoint<D> {}

/// # Index by several tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the elements at several index tensors, which broadcast and whose names unify:
    /// `x.index((N.i(&rows), C.i(&columns)))` is the element at `rows[k]`, `columns[k]` for each
    /// `k`. Their dims replace the dim that is named first; the others are removed.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    /// let (rows, columns) = (tensor!([0, 1, 1]; K), tensor!([2, 0, 1]; K));
    /// let picked: Tensor<(K,)> = x.index((N.i(&rows), C.i(&columns)));
    /// assert_eq!(picked.to_vec(), [3.0, 4.0, 5.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin]
    pub fn try_index<P: PointsOf<D>>(&self, indices: P) -> Result<Tensor<P::Of<D>, T>> {
        let operands = indices.operands::<D>();
        Tensor::try_from_erased(gather::points(self.erased(), &operands, <P::Of<D>>::STATIC))
    }

    /// Writes values, which broadcast, at the positions that [`index`](Self::index) would read.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match.
    #[twin(with = "but adds to the present elements if the options say so.")]
    pub fn try_index_put_with<P: PointsOf<D>, S: Dims>(
        &self,
        indices: P,
        values: &Tensor<S, T>,
        options: IndexPutOptions,
    ) -> Result<Self>
    where
        P::Of<D>: Broadcast<S> + HoldsInPlace<Sum<P::Of<D>, S>>,
    {
        let mut result = self.clone();
        result.try_index_put_with_(indices, values, options)?;
        Ok(result)
    }

    /// Like [`index_put`](Self::index_put), but in place.
    ///
    /// # Errors
    /// If an index is out of range or sizes do not match. Nothing is changed in that case.
    #[twin(with = "but adds to the present elements if the options say so.")]
    pub fn try_index_put_with_<P: PointsOf<D>, S: Dims>(
        &mut self,
        indices: P,
        values: &Tensor<S, T>,
        options: IndexPutOptions,
    ) -> Result<&mut Self>
    where
        P::Of<D>: Broadcast<S> + HoldsInPlace<Sum<P::Of<D>, S>>,
    {
        let operands = indices.operands::<D>();
        let rank = <P::Of<D>>::RANK;
        gather::put_points(
            &mut self.erased,
            D::STATIC,
            &operands,
            values.erased(),
            rank,
            options,
        )?;
        Ok(self)
    }
}
