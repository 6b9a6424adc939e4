//! Writing into a part by name.
//!
//! [`Tensor::at_mut`], [`Tensor::diagonal_mut`].

use nomina_core::dims::{Append, Appended, DimOf, Dims, OneDim, Without, position};
use nomina_core::{Element, Result};
use nomina_macros::{parts, twin};
use nomina_runtime::tensor::DiagonalOptions;

use crate::erased::{Dest, Known, gather};
use crate::tensor::part_mut::{ErasedPart, from_erased};
use crate::tensor::{Part, SubscriptViews, SubscriptsOf};
use crate::{Tensor, TensorMut};

/// The dims of a diagonal of dims `X` and `Y`.
type Diagonal<D, X, Y, Z> = Appended<Without<Without<D, X>, Y>, Z>;

#[parts]
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the part at numbers and ranges by name, for writing; see
    /// [`Tensor::at`](crate::Tensor::at).
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 3]);
    /// x.at_mut((C.i(1), N.i(0))).fill_(5.0);
    /// x.at_mut((C.i(1..), N.i(-1))).fill_(7.0);
    /// assert_eq!(x.to_vec(), [0.0, 5.0, 0.0, 0.0, 7.0, 7.0]);
    /// ```
    ///
    /// # Errors
    /// If an index is out of range, or a step is zero.
    #[twin]
    pub fn try_at_mut<S: SubscriptsOf<D> + SubscriptViews>(
        &mut self,
        indices: S,
    ) -> Result<TensorMut<'_, Part<D, S>, T>> {
        let Dest { raw, wild, of } = self.dest()?;
        let (picks, out) = (indices.picks::<D>(), <Part<D, S>>::STATIC);
        let (raw, wild) = gather::part_mut(raw, wild, of, &picks, out)?;
        Ok(from_erased(ErasedPart { raw, wild }))
    }

    /// Returns the diagonal of two dims, which are removed, as a new last dim for writing.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C, K }
    /// let mut x = Tensor::<(N, C)>::zeros([2, 2]);
    /// x.diagonal_mut(N, C, K).copy_(&tensor!([1., 2.]; K));
    /// assert_eq!(x.to_vec(), [1.0, 0.0, 0.0, 2.0]);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn try_diagonal_mut_with<
        X: DimOf<D>,
        Y: DimOf<Without<D, X>>,
        Z: OneDim + Append<Without<Without<D, X>, Y>>,
    >(
        &mut self,
        dim1: X,
        dim2: Y,
        to: Z,
        options: DiagonalOptions,
    ) -> Result<TensorMut<'_, Diagonal<D, X, Y, Z>, T>> {
        let _ = (dim1, dim2, to);
        let dims = (position::<X, D>(), position::<Y, D>());
        let out = <Diagonal<D, X, Y, Z>>::STATIC;
        let (raw, wild) = gather::diagonal_mut(self.dest()?, dims, (Z::NAME, options), out)?;
        Ok(from_erased(ErasedPart { raw, wild }))
    }
}
