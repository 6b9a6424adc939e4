//! Sums, elementwise products, and functions that map zero to zero.
//!
//! [`Sparse::add`], [`Sparse::sub`], [`Sparse::mul`], [`Sparse::div`], [`Sparse::sum`],
//! [`Sparse::neg`], [`Sparse::abs`], [`Sparse::square`], [`Sparse::relu`], [`Sparse::sign`],
//! [`Sparse::sgn`], [`Sparse::floor`], [`Sparse::ceil`], [`Sparse::round`], [`Sparse::trunc`],
//! [`Sparse::frac`], [`Sparse::isnan`], [`Sparse::isinf`], [`Tensor::add_sparse`],
//! [`Tensor::sparse_mask`].

use std::ops::{Add, Div, Mul, Neg, Sub};

use nomina_core::dims::{
    AxesOf, Broadcast, BroadcastWith, Dims, DtypeRule, SameRankAs, Sum, Without, positions,
};
use nomina_core::{
    Element, Float, Number, Numeric, Promote, PromoteScalar, Promoted, Real, Result, WithScalar,
};
use nomina_macros::twin;
use nomina_runtime::tensor::AddOptions;
use nomina_runtime::{AnyLayout, DynSparse, SparseOperand};

use super::Sparse;
use crate::erased::typed;
use crate::tensor::Tensor;

/// A factor of a sparse tensor of dims `D` and dtype `T`: a number, or a sparse or dense tensor of the same rank.
#[diagnostic::on_unimplemented(
    message = "a sparse tensor with dims {D} cannot be multiplied by `{Self}`",
    label = "expected a number, or a tensor of equal rank that unifies with dims {D}",
    note = "sparse tensors do not broadcast: call `to_dense()` first"
)]
pub trait SparseFactor<D, T> {
    /// The dims of the product.
    type Dims: Dims;
    /// The dtype of the product.
    type Dtype: Element;
    #[doc(hidden)]
    fn operand(&self) -> Factor;
}

/// A factor without its types.
#[doc(hidden)]
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "made for one call and moved nowhere"
)]
pub enum Factor {
    Number(nomina_core::Scalar),
    Sparse(DynSparse),
    Dense(nomina_runtime::DynTensor),
}

impl Factor {
    fn as_operand(&self) -> SparseOperand<'_> {
        match self {
            Self::Number(number) => SparseOperand::Scalar(*number),
            Self::Sparse(x) => SparseOperand::Sparse(x),
            Self::Dense(x) => SparseOperand::Dense(x),
        }
    }
}

impl<D: Dims, T: PromoteScalar<S>, S: Number> SparseFactor<D, T> for S {
    type Dims = D;
    type Dtype = WithScalar<T, S>;
    fn operand(&self) -> Factor {
        Factor::Number((*self).into())
    }
}

#[diagnostic::do_not_recommend]
impl<D, E, T, U> SparseFactor<D, T> for &Sparse<E, U>
where
    D: Dims + Broadcast<E> + SameRankAs<E>,
    E: Dims,
    T: Promote<U, DtypeRule<D, E>>,
    U: Element,
{
    type Dims = Sum<D, E>;
    type Dtype = Promoted<T, U, DtypeRule<D, E>>;
    fn operand(&self) -> Factor {
        Factor::Sparse(self.inner.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<D, E, T, U> SparseFactor<D, T> for &Tensor<E, U>
where
    D: Dims + Broadcast<E> + SameRankAs<E>,
    E: Dims,
    T: Promote<U, DtypeRule<D, E>>,
    U: Element,
{
    type Dims = Sum<D, E>;
    type Dtype = Promoted<T, U, DtypeRule<D, E>>;
    fn operand(&self) -> Factor {
        Factor::Dense(self.to_dyn())
    }
}

/// The result of a sum over dims: dense if no dim is left, else sparse.
#[diagnostic::on_unimplemented(
    message = "the number of dims left of `{Self}` is unknown",
    label = "no dims, or some?",
    note = "add the bound `Without<D, A>: Summed`"
)]
pub trait Summed: Dims {
    /// [`Tensor<()>`](Tensor) or [`Sparse`].
    type Out<T: Element>;
    #[doc(hidden)]
    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from_erased<T: Element>(x: AnyLayout) -> Result<Self::Out<T>>;
}

impl Summed for () {
    type Out<T: Element> = Tensor<(), T>;
    #[cfg_attr(debug_assertions, track_caller)]
    fn try_from_erased<T: Element>(x: AnyLayout) -> Result<Tensor<(), T>> {
        Tensor::try_from_dyn(x.to_dense())
    }
}

macro_rules! left {
    ($($name:ident)*) => {
        impl<$($name),*> Summed for ($($name,)*)
        where
            Self: Dims,
        {
            type Out<T: Element> = Sparse<Self, T>;
            fn try_from_erased<T: Element>(x: AnyLayout) -> Result<Sparse<Self, T>> {
                match x {
                    AnyLayout::Sparse(x) => Ok(Sparse::from_erased(x)),
                    // A sum without sparse dims left; types never request it here.
                    AnyLayout::Dense(x) => x.to_sparse().map(Sparse::from_erased),
                }
            }
        }
    };
}
left!(A);
left!(A B);
left!(A B C);
left!(A B C D);
left!(A B C D E);
left!(A B C D E F);
left!(A B C D E F G);
left!(A B C D E F G H);

/// Dims that can be added to a sparse tensor of dims `D`: equal in number, and they unify. In one bound, so that
/// rustc's message is shorter.
pub trait SparseTerm<D>: Dims {}
impl<D: BroadcastWith<E> + SameRankAs<E>, E: Dims> SparseTerm<D> for E {}

impl<D: Dims, T: Element> Sparse<D, T> {
    twins! {
        /// Adds two sparse tensors of equal sizes; dims unify.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_add [E: SparseTerm<D>, U: Element] (self, other: &Sparse<E, U>) -> Sparse<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>
            [T: Promote<U, DtypeRule<D, E>>]
        {
            typed(|| self.inner.add(&other.inner)).map(Sparse::from_erased)
        }

        /// Like [`add`](Self::add), but multiplies the right operand by `options.alpha`.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_add_with [E: SparseTerm<D>, U: Element] (self, other: &Sparse<E, U>, options: AddOptions) -> Sparse<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>
            [T: Promote<U, DtypeRule<D, E>>]
        {
            typed(|| self.inner.add_with(&other.inner, options)).map(Sparse::from_erased)
        }

        /// Subtracts two sparse tensors of equal sizes; dims unify.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_sub [E: SparseTerm<D>, U: Element] (self, other: &Sparse<E, U>) -> Sparse<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>
            [T: Promote<U, DtypeRule<D, E>>]
        {
            typed(|| self.inner.sub(&other.inner)).map(Sparse::from_erased)
        }

        /// Like [`sub`](Self::sub), but multiplies the right operand by `options.alpha`.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_sub_with [E: SparseTerm<D>, U: Element] (self, other: &Sparse<E, U>, options: AddOptions) -> Sparse<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>
            [T: Promote<U, DtypeRule<D, E>>]
        {
            typed(|| self.inner.sub_with(&other.inner, options)).map(Sparse::from_erased)
        }

        /// Adds a dense tensor of equal sizes; the result is dense and dims unify.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_add_dense [E: SparseTerm<D>, U: Element] (self, other: &Tensor<E, U>) -> Tensor<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>
            [T: Promote<U, DtypeRule<D, E>>]
        {
            Tensor::try_from_dyn(typed(|| self.inner.add_dense(&other.to_dyn())))
        }

        /// Multiplies by a number, or elementwise by a tensor of equal sizes; zeros stay zero.
        ///
        /// # Errors
        /// If sizes or names known only at run time do not match, or memory runs out.
        fn try_mul [R: SparseFactor<D, T>] (self, other: R) -> Sparse<R::Dims, R::Dtype> [] {
            typed(|| self.inner.mul(other.operand().as_operand())).map(Sparse::from_erased)
        }

        /// Divides by a number.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_div [S: Number] (self, other: S) -> Sparse<D, <WithScalar<T, S> as Element>::Float>
            [T: PromoteScalar<S>]
        {
            typed(|| self.inner.div(other)).map(Sparse::from_erased)
        }

        /// Computes the sum over dims: `x.sum(N)` is sparse, `x.sum(..)` over all is dense.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_sum [A: AxesOf<D>] (self, dims: A) -> <Without<D, A> as Summed>::Out<T::Sum>
            [Without<D, A>: Summed]
        {
            let _ = dims;
            let at: Vec<i64> = positions::<A, D>().iter().map(|&at| at as i64).collect();
            let options = nomina_runtime::tensor::ReduceOptions {
                keepdim: A::KEEPDIM,
                dtype: None,
            };
            let sum = typed(|| self.inner.sum_with(&at[..], options))?;
            <Without<D, A> as Summed>::try_from_erased(sum)
        }

        /// Negates the values.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_neg [] (self) -> Self [T: Numeric] {
            self.inner.neg().map(Self::from_erased)
        }

        /// Computes the absolute values.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_abs [] (self) -> Sparse<D, T::Real> [T: Numeric] {
            self.inner.abs().map(Sparse::from_erased)
        }

        /// Squares the values.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_square [] (self) -> Self [T: Numeric] {
            self.inner.square().map(Self::from_erased)
        }

        /// Replaces values below zero by zero.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_relu [] (self) -> Self [T: Numeric + Real] {
            self.inner.relu().map(Self::from_erased)
        }

        /// Returns the signs of the values.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_sign [] (self) -> Self [T: Real] {
            self.inner.sign().map(Self::from_erased)
        }

        /// Returns the signs of the values; complex values are scaled to magnitude 1.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_sgn [] (self) -> Self [T: Numeric] {
            self.inner.sgn().map(Self::from_erased)
        }

        /// Rounds the values down.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_floor [] (self) -> Self [T: Numeric + Real] {
            self.inner.floor().map(Self::from_erased)
        }

        /// Rounds the values up.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_ceil [] (self) -> Self [T: Numeric + Real] {
            self.inner.ceil().map(Self::from_erased)
        }

        /// Rounds the values to the nearest integer, halves to even.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_round [] (self) -> Self [T: Numeric + Real] {
            self.inner.round().map(Self::from_erased)
        }

        /// Rounds the values towards zero.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_trunc [] (self) -> Self [T: Numeric + Real] {
            self.inner.trunc().map(Self::from_erased)
        }

        /// Returns the fractional parts of the values.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_frac [] (self) -> Self [T: Float] {
            self.inner.frac().map(Self::from_erased)
        }

        /// Returns whether values are NaN.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_isnan [] (self) -> Sparse<D, bool> [] {
            self.inner.isnan().map(Sparse::from_erased)
        }

        /// Returns whether values are infinite.
        ///
        /// # Errors
        /// If memory runs out.
        fn try_isinf [] (self) -> Sparse<D, bool> [] {
            self.inner.isinf().map(Sparse::from_erased)
        }
    }
}

macro_rules! floats {
    ($($name:ident $try_name:ident $doc:literal;)*) => {
        impl<D: Dims, T: Element> Sparse<D, T> {
            twins! {$(
                #[doc = $doc]
                ///
                /// # Errors
                /// If memory runs out.
                fn $try_name [] (self) -> Sparse<D, T::Float> [] {
                    typed(|| self.inner.$name()).map(Sparse::from_erased)
                }
            )*}
        }
    };
}

floats! {
    sqrt try_sqrt "Computes the square roots of the values.";
    sin try_sin "Computes the sines of the values.";
    tan try_tan "Computes the tangents of the values.";
    asin try_asin "Computes the inverse sines of the values.";
    atan try_atan "Computes the inverse tangents of the values.";
    sinh try_sinh "Computes the hyperbolic sines of the values.";
    tanh try_tanh "Computes the hyperbolic tangents of the values.";
    asinh try_asinh "Computes the inverse hyperbolic sines of the values.";
    atanh try_atanh "Computes the inverse hyperbolic tangents of the values.";
    expm1 try_expm1 "Computes `exp(x) - 1` of the values, accurate near zero.";
    log1p try_log1p "Computes `ln(1 + x)` of the values, accurate near zero.";
    erf try_erf "Computes the error function of the values.";
    erfinv try_erfinv "Computes the inverse error function of the values.";
    deg2rad try_deg2rad "Converts the values from degrees to radians.";
    rad2deg try_rad2deg "Converts the values from radians to degrees.";
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Adds a sparse tensor of equal sizes; the result is dense and dims unify.
    ///
    /// # Errors
    /// If sizes differ.
    #[twin]
    pub fn try_add_sparse<E: Dims, U: Element>(
        &self,
        other: &Sparse<E, U>,
    ) -> Result<Tensor<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>>
    where
        D: Broadcast<E> + SameRankAs<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        Tensor::try_from_dyn(typed(|| self.to_dyn().add_sparse(&other.inner)))
    }

    /// Returns the elements at the positions of a sparse tensor; dims unify.
    ///
    /// # Errors
    /// If sizes differ.
    #[twin]
    pub fn try_sparse_mask<E: Dims, U: Element>(
        &self,
        mask: &Sparse<E, U>,
    ) -> Result<Sparse<Sum<D, E>, T>>
    where
        D: Broadcast<E> + SameRankAs<E>,
    {
        self.to_dyn()
            .sparse_mask(&mask.inner)
            .map(Sparse::from_erased)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident;)*) => {$(
        impl<D, E, T, U> $trait<&Sparse<E, U>> for &Sparse<D, T>
        where
            D: Dims + Broadcast<E> + SameRankAs<E>,
            E: Dims,
            T: Promote<U, DtypeRule<D, E>>,
            U: Element,
        {
            type Output = Sparse<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>;
            #[track_caller]
            fn $method(self, other: &Sparse<E, U>) -> Self::Output {
                Sparse::$method(self, other)
            }
        }
    )*};
}
operators! {
    Add add;
    Sub sub;
}

impl<D: Dims, T: Element, R: SparseFactor<D, T>> Mul<R> for &Sparse<D, T> {
    type Output = Sparse<R::Dims, R::Dtype>;
    #[track_caller]
    fn mul(self, other: R) -> Self::Output {
        Sparse::mul(self, other)
    }
}

impl<D: Dims, T: PromoteScalar<S>, S: Number> Div<S> for &Sparse<D, T> {
    type Output = Sparse<D, <WithScalar<T, S> as Element>::Float>;
    #[track_caller]
    fn div(self, other: S) -> Self::Output {
        Sparse::div(self, other)
    }
}

impl<D: Dims, T: Numeric> Neg for &Sparse<D, T> {
    type Output = Sparse<D, T>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        Sparse::neg(self)
    }
}
