//! Conversions, masks and bounds, and moments of two tensors: computed on each rank's piece.

use nomina::dims::{AlignInto, AxesOf, Broadcast, Dim, DimOf, Dims, Holds, Sum, Without};
use nomina::{Combine, Element, Float, Inexact, NanToNumOptions, Real, Result, Scalar};
use nomina_core::mesh::{
    AllFinished, AllLinear, HasWhole, InPointwise, Joined, PlacedWith, Placement, Reduced,
};
use nomina_macros::twin;

use super::operand::{Everywhere, Fits, MeshOperand, OutPlace};
use super::{OutDims, OutDtype, Sharded};

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Converts to another dtype.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_to<U: Element>(&self) -> Result<Sharded<D, P, U>>
    where
        P: AllFinished,
    {
        self.mapped("to", self.local.try_to())
    }

    /// Replaces NaN by zero, and infinities by the greatest and least numbers of the dtype.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin(with = "but with the given numbers.")]
    pub fn try_nan_to_num_with(&self, options: NanToNumOptions) -> Result<Self>
    where
        P: AllFinished,
    {
        self.mapped("nan_to_num", self.local.try_nan_to_num_with(options))
    }

    /// Clamps elements to between two numbers.
    ///
    /// # Errors
    /// If memory is missing.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_clamp<R: MeshOperand<Placed = Everywhere>, S: MeshOperand<Placed = Everywhere>>(
        &self,
        min: R,
        max: S,
    ) -> Result<Sharded<OutDims<S, OutDims<R, D, T>, OutDtype<R, D, T>>, P, OutDtype<S, OutDims<R, D, T>, OutDtype<R, D, T>>>>
    where
        R::Kind: Combine<D, T>,
        S::Kind: Combine<OutDims<R, D, T>, OutDtype<R, D, T>>,
        T: Real,
        P: AllFinished,
    {
        self.reduced("clamp", self.local.try_clamp(min.local(), max.local()))
    }

    /// Reverses the order along dims that each rank has all of.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_flip<A: AxesOf<D>>(&self, dims: A) -> Result<Self>
    where
        P: AllLinear + HasWhole<Reduced<D, A::List>>,
    {
        self.mapped("flip", self.local.try_flip(dims))
    }

    /// Removes a dim of size 1.
    ///
    /// # Errors
    /// If the size is not 1.
    #[twin]
    pub fn try_squeeze<X: DimOf<D> + Dim>(&self, dim: X) -> Result<Sharded<Without<D, X>, P, T>>
    where
        P: HasWhole<(X,)>,
    {
        self.reduced("squeeze", self.local.try_squeeze(dim))
    }

    /// Writes `value` where the mask is true. The mask is placed like the tensor in the dims that both have.
    ///
    /// # Errors
    /// If sizes do not match, or the operands are on two meshes.
    #[twin]
    pub fn try_masked_fill<E: Dims, Q: Placement<Mesh = P::Mesh>>(
        &self,
        mask: &Sharded<E, Q, bool>,
        value: impl Into<Scalar>,
    ) -> Result<Sharded<Sum<D, E>, P, T>>
    where
        D: Broadcast<E> + Holds<Sum<D, E>>,
        P: PlacedWith<InPointwise, Q, D, E>,
    {
        let local = self.local.try_masked_fill(&mask.local, value);
        self.combined("masked_fill", &mask, local)
    }
}

impl<D: Dims, P: Placement> Sharded<D, P, bool> {
    /// Selects from `a` where this condition is true, from `b`, a tensor or a number, elsewhere. Dims unify from the
    /// right, dtypes promote, placements join.
    ///
    /// # Errors
    /// If sizes do not match, or the operands are on two meshes.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_where_cond<E: Dims, Q: Placement<Mesh = P::Mesh>, U: Element, R: MeshOperand>(
        &self,
        a: &Sharded<E, Q, U>,
        b: R,
    ) -> Result<Sharded<Sum<D, OutDims<R, E, U>>, Joined<P, OutPlace<R, Q>>, OutDtype<R, E, U>>>
    where
        D: Broadcast<OutDims<R, E, U>>,
        R::Kind: Combine<E, U>,
        R::Placed: Fits<InPointwise, Q, E>,
        P: PlacedWith<InPointwise, OutPlace<R, Q>, D, OutDims<R, E, U>>,
    {
        let op = "where";
        let mut operands = vec![self.operand(), a.operand()];
        self.require_same_mesh(op, a)?;
        if let Some((operand, shared)) = b.described() {
            self.require_mesh(op, shared)?;
            operands.push(operand);
        }
        let local = self.local.try_where_cond(&a.local, b.local())?;
        Sharded::from_result(op, local, self.mesh.clone(), &operands)
    }
}

/// Defines methods of two tensors over dims that each rank has all of.
macro_rules! moments {
    ($($(#[$doc:meta])* $tried:ident $op:literal $number:ident;)*) => {
        impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {$(
            $(#[$doc])*
            ///
            /// # Errors
            /// If sizes do not match, or the operands are on two meshes.
            #[twin]
            pub fn $tried<E: Dims + AlignInto<D>, Q: Placement<Mesh = P::Mesh>, A: AxesOf<D>>(
                &self,
                other: &Sharded<E, Q, T>,
                dims: A,
            ) -> Result<Sharded<Without<D, A>, P, T>>
            where
                T: $number,
                P: HasWhole<Reduced<D, A::List>> + PlacedWith<InPointwise, Q, D, E>,
            {
                self.combined($op, &other, self.local.$tried(&other.local, dims))
            }
        )*}
    };
}
moments! {
    /// Computes Pearson's correlation over dims that each rank has all of. The dims of `other` align by name.
    try_corr "corr" Float;
    /// Like [`corr`](Self::corr), but leaves out the pairs in which either is NaN.
    try_nancorr "nancorr" Float;
    /// Computes the covariance over dims that each rank has all of. The dims of `other` align by name.
    try_covar "covar" Float;
    /// Like [`covar`](Self::covar), but leaves out the pairs in which either is NaN.
    try_nancovar "nancovar" Float;
    /// Computes the mean over dims that each rank has all of, with weights whose dims align by name.
    try_weighted_mean "weighted_mean" Inexact;
    /// Like [`weighted_mean`](Self::weighted_mean), but leaves out the elements that are NaN, and their weights.
    try_weighted_nanmean "weighted_nanmean" Inexact;
}
