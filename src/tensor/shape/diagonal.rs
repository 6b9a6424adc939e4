//! Diagonals and planes.
//!
//! [`Tensor::diagonal`], [`Tensor::diag`], [`Tensor::diagflat`], [`Tensor::diag_embed`].

use nomina_core::dims::{
    Append, Appended, DimOf, Dims, Distinct, Matrix, OneDim, Without, position,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;
use nomina_runtime::tensor::{DiagEmbedOptions, DiagonalOptions};

use crate::erased::{Known, shape};
use crate::tensor::Tensor;

/// # Diagonals
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Returns the diagonal of two dims, which are removed, as the last dim `to`, without a copy.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, H, W, K }
    /// let x = Tensor::<(N, H, W)>::from_fn([1, 2, 2], |i| (2 * i[1] + i[2]) as f32);
    /// let on: Tensor<(N, K)> = x.diagonal(H, W, K);
    /// assert_eq!(on.to_vec(), [0.0, 3.0]);
    /// let planes: Tensor<(N, H, W)> = on.diag_embed(K, H, W);
    /// assert_eq!(planes.to_vec(), [0.0, 0.0, 0.0, 3.0]);
    /// assert_eq!(x.tril().to_vec(), [0.0, 0.0, 2.0, 3.0]);
    /// ```
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn try_diagonal_with<
        X: DimOf<D>,
        Y: DimOf<Without<D, X>>,
        K: OneDim + Append<Without<Without<D, X>, Y>>,
    >(
        &self,
        dim0: X,
        dim1: Y,
        to: K,
        options: DiagonalOptions,
    ) -> Result<Tensor<Appended<Without<Without<D, X>, Y>, K>, T>> {
        let _ = (dim0, dim1, to);
        let at = (position::<X, D>() as i64, position::<Y, D>() as i64);
        let out = <Appended<Without<Without<D, X>, Y>, K>>::STATIC;
        Tensor::try_from_erased(shape::sized(
            "diagonal",
            &[self.erased()],
            out,
            &[D::RANK - 2],
            |x| x[0].diagonal_with(at.0, at.1, K::NAME, options),
        ))
    }

    /// Copies the diagonal of a matrix. For the matrix of a vector, see
    /// [`diagflat`](Self::diagflat).
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn try_diag_with<K: OneDim>(
        &self,
        to: K,
        options: DiagonalOptions,
    ) -> Result<Tensor<(K,), T>>
    where
        D: Matrix,
    {
        let _ = to;
        let out = <(K,)>::STATIC;
        Tensor::try_from_erased(shape::sized("diag", &[self.erased()], out, &[0], |x| {
            x[0].diag_with([K::NAME], options)
        }))
    }

    /// Returns a matrix with all elements, in row-major order, as its diagonal.
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn try_diagflat_with<R: OneDim, C: OneDim>(
        &self,
        rows: R,
        columns: C,
        options: DiagonalOptions,
    ) -> Result<Tensor<(R, C), T>>
    where
        (R, C): Distinct,
    {
        let _ = (rows, columns);
        let out = <(R, C)>::STATIC;
        Tensor::try_from_erased(shape::sized(
            "diagflat",
            &[self.erased()],
            out,
            &[0, 1],
            |x| x[0].diagflat_with([R::NAME, C::NAME], options),
        ))
    }

    /// Returns planes with the elements of a dim as their diagonals and zeros elsewhere. The dim is
    /// removed; rows and columns are last. One of them may have the name of the removed dim.
    ///
    /// # Errors
    /// If the new dim has a constant size that is not the one it gets.
    #[twin(with = "but `options.offset` above, or below if negative, the main diagonal.")]
    pub fn try_diag_embed_with<
        X: DimOf<D>,
        R: OneDim + Append<Without<D, X>>,
        C: OneDim + Append<Appended<Without<D, X>, R>>,
    >(
        &self,
        dim: X,
        rows: R,
        columns: C,
        options: DiagonalOptions,
    ) -> Result<Tensor<Appended<Appended<Without<D, X>, R>, C>, T>> {
        let _ = (dim, rows, columns);
        let (at, out) = (
            position::<X, D>() as i64,
            <Appended<Appended<Without<D, X>, R>, C>>::STATIC,
        );
        let options = DiagEmbedOptions {
            offset: options.offset,
            ..DiagEmbedOptions::default()
        };
        Tensor::try_from_erased(shape::sized(
            "diag_embed",
            &[self.erased()],
            out,
            &[D::RANK - 1, D::RANK],
            |x| {
                let last = x[0].movedim(at, -1)?;
                last.diag_embed_with([R::NAME, C::NAME], options)
            },
        ))
    }
}

// The forms in place and with an out tensor.
include!("diagonal/forms.rs");
