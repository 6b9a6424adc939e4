//! Several index tensors at once.
//!
//! [`Tensor::index`], [`Tensor::index_put`].

use nomina_core::dims::{Broadcast, DimTuple, Dims, HoldsInPlace, Sum};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::IndexPutOptions;

use crate::Tensor;
use crate::call::Known;
use crate::call::gather::{self, OperandList};

/// Index tensors along some dims: `(N.i(&rows), C.i(&columns))`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tuple of dims with index tensors",
    label = "expected dims with index tensors, such as `(N.i(&rows), C.i(&columns))`"
)]
pub trait Points {
    /// What they make of dims `D`.
    type Of<D: Dims>: Dims;
    #[doc(hidden)]
    fn operands<D: Dims>(&self) -> OperandList<'_>;
}

/// The index tensors stand along dims of `D`, each along another, and unify.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D} so"
)]
pub trait PointsOf<D>: Points {}
// One impl at the root: rustc lists none in its message.
impl<P: Points + EachPoint<D>, D> PointsOf<D> for P {}

/// [`PointsOf`], tuple by tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not index dims {D}",
    label = "cannot index dims {D} so"
)]
pub trait EachPoint<D> {}

/// # Index by several tensors
impl<D: Dims, T: Element> Tensor<D, T> {
    /// The elements at several index tensors at once, which broadcast and whose names unify:
    /// `x.index((N.i(&rows), C.i(&columns)))` is the element at `rows[k]`, `columns[k]` for each `k`.
    /// Their dims take the place of the dim that is named first; the others go.
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
    /// When an index is out of range or sizes do not fit.
    #[twin]
    pub fn try_index<P: PointsOf<D>>(&self, indices: P) -> Result<Tensor<P::Of<D>, T>> {
        let operands = indices.operands::<D>();
        Tensor::try_from_erased(gather::points(self.erased(), &operands, <P::Of<D>>::STATIC))
    }

    /// This tensor with values, which broadcast, written where [`index`](Self::index) would read.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit.
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

    /// [`index_put`](Self::index_put) in place.
    ///
    /// # Errors
    /// When an index is out of range or sizes do not fit; then nothing has changed.
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
