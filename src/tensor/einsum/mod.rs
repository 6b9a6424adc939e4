//! Products that are not matrix products, operators built on products, and the calls of `einsum!`.
//!
//! [`Tensor::prime`], [`Tensor::outer`], [`Tensor::inner`], [`Tensor::vdot`], [`Tensor::kron`],
//! [`Tensor::trace`], [`Tensor::matrix_power`], [`Tensor::cross`], [`Tensor::tensordot`],
//! [`Tensor::linear`], [`Tensor::cdist`].

pub mod attention;
pub mod linear;
mod terms;
pub mod vectors;

use nomina_core::dims::{
    Axes, Beside, Broadcast, Dim, DimOf, Dims, Distances, DtypeRule, Factor, Inner, InnerWith,
    Joined, Linear, Matrix, OneDim, Primable, PrimedDims, Product, RowsBeside, Sum, TensorDot,
    Tensordotted, Vector, position, positions,
};
use nomina_core::op::Op;
use nomina_core::{Element, Float, Numeric, Promote, Promoted, Result};
use nomina_macros::twin;
use nomina_runtime::call;
use nomina_runtime::tensor::{CdistOptions, LinearOptions};

use super::Tensor;
use crate::erased::compose::call_for_tensor;
use crate::erased::{Erased, Known, order, product};

pub use terms::{
    EinsumTerms, einsum, einsum_all, einsum_first, einsum_named, einsum_operand, einsum_result,
    einsum_stand_in, einsum_times, try_einsum,
};

/// # Products by name, and operators built on them
impl<D: Dims, T: Element> Tensor<D, T> {
    /// Renames dim `N` to `Prime<N>`, spelled `N'`: a second axis of the same kind, which every
    /// operator treats as another dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, C }
    /// let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    /// let products: Tensor<(C, Prime<C>)> = x.contract(&x.prime(C), N);
    /// assert_eq!(products.to_vec(), [10.0, 14.0, 14.0, 20.0]);
    /// assert_eq!(products.names().to_string(), "(C, C')");
    /// ```
    ///
    /// # Errors
    /// If a `Wild` dim has the primed name at run time.
    #[twin]
    pub fn try_prime<X: OneDim + Primable<D>>(
        &self,
        dim: X,
    ) -> Result<Tensor<PrimedDims<D, X>, T>> {
        Tensor::try_from_erased(self.primed(dim))
    }

    fn primed<X: OneDim + Primable<D>>(&self, dim: X) -> Result<Erased> {
        let _ = dim;
        order::rename(self.erased(), <PrimedDims<D, X>>::STATIC)
    }

    /// Computes the products of every element of one vector with every element of another.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, M }
    /// let x: Tensor<(N, M)> = tensor!([1., 2.]; N).outer(&tensor!([3., 4.]; M));
    /// assert_eq!(x.to_vec(), [3.0, 4.0, 6.0, 8.0]);
    /// ```
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_outer<E: Beside<D> + Vector, U: Element>(
        &self,
        vec2: &Tensor<E, U>,
    ) -> Result<Tensor<Joined<D, E>, Promoted<T, U>>>
    where
        D: Vector,
        T: Promote<U>,
    {
        let out = <Joined<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(Op::Outer, self.erased(), vec2.erased(), out))
    }

    /// Multiplies and sums over the last dims of both tensors.
    ///
    /// # Errors
    /// If the last sizes differ.
    #[twin]
    pub fn try_inner<E: InnerWith<D>>(
        &self,
        other: &Tensor<E, T>,
    ) -> Result<Tensor<Inner<D, E>, T>> {
        let out = <Inner<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(Op::Inner, self.erased(), other.erased(), out))
    }

    /// Computes the inner product of two vectors, conjugating the first.
    ///
    /// # Errors
    /// If sizes differ.
    #[twin]
    pub fn try_vdot<E: Factor<D> + Vector>(
        &self,
        other: &Tensor<E, T>,
    ) -> Result<Tensor<Product<D, E>, T>>
    where
        D: Vector,
    {
        let out = <Product<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(Op::Vdot, self.erased(), other.erased(), out))
    }

    /// Computes the Kronecker product: every element of this tensor times the whole other tensor.
    /// Dims unify from the right, their sizes multiply.
    ///
    /// # Errors
    /// If sizes overflow.
    #[twin]
    pub fn try_kron<E: Dims, U: Element>(
        &self,
        other: &Tensor<E, U>,
    ) -> Result<Tensor<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>>
    where
        D: Broadcast<E>,
        T: Promote<U, DtypeRule<D, E>>,
    {
        let out = <Sum<D, E>>::STATIC;
        Tensor::try_from_erased(product::new(Op::Kron, self.erased(), other.erased(), out))
    }

    /// Computes the sum of the diagonal of a matrix; integers and bool are added in i64.
    ///
    /// # Errors
    /// If memory runs out.
    #[twin]
    pub fn try_trace(&self) -> Result<Tensor<(), T::Sum>>
    where
        D: Matrix,
    {
        Tensor::try_from_erased(call::trace(self.erased().raw).map(Erased::new))
    }

    /// Raises a square matrix, or a batch of them, to the power `n`.
    ///
    /// # Errors
    /// If the last two sizes differ, or `n` is negative.
    #[twin]
    pub fn try_matrix_power(&self, n: i64) -> Result<Tensor<D, T>>
    where
        T: Numeric,
    {
        let raised = call_for_tensor(&[self.erased()], D::STATIC, |x| x[0].matrix_power(n));
        Tensor::try_from_erased(raised)
    }

    /// Computes the cross product of vectors along a dim of size 3.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { X }
    /// let (a, b) = (tensor!([1., 0., 0.]; X), tensor!([0., 1., 0.]; X));
    /// assert_eq!(a.cross(&b, X).to_vec(), [0.0, 0.0, 1.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not broadcast, or the dim has another size.
    #[twin]
    pub fn try_cross<E: Dims, U: Element, X: DimOf<Sum<D, E>>>(
        &self,
        other: &Tensor<E, U>,
        dim: X,
    ) -> Result<Tensor<Sum<D, E>, Promoted<T, U, DtypeRule<D, E>>>>
    where
        D: Broadcast<E>,
        T: Numeric + Promote<U, DtypeRule<D, E>>,
    {
        Tensor::try_from_erased(self.crossed(other, dim))
    }

    fn crossed<E: Dims, U: Element, X: DimOf<Sum<D, E>>>(
        &self,
        other: &Tensor<E, U>,
        dim: X,
    ) -> Result<Erased> {
        let _ = dim;
        let at = position::<X, Sum<D, E>>();
        call_for_tensor(&[self.erased(), other.erased()], <Sum<D, E>>::STATIC, |x| {
            x[0].cross(&x[1], at)
        })
    }

    /// Multiplies and sums over a common dim, or a tuple of common dims. All other dims of both
    /// stay, so they must differ ([`contract`](Self::contract) treats common dims as batch dims).
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_tensordot<E: Dims, X: Axes + TensorDot<D, E>>(
        &self,
        other: &Tensor<E, T>,
        dims: X,
    ) -> Result<Tensor<Tensordotted<D, E, X>, T>> {
        let _ = dims;
        let places = [positions::<X, D>(), positions::<X, E>()];
        Tensor::try_from_erased(product::tensordot(self.erased(), other.erased(), places))
    }

    /// Applies a linear layer: sums over the input dim of the weight, in any position in this
    /// tensor, and adds the bias. The output dim of the weight becomes the last dim.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, In, Out }
    /// let x = tensor!([[1., 2.]]; N, In);
    /// let w = tensor!([[1., 0.], [0., 1.], [1., 1.]]; Out, In);
    /// let y: Tensor<(N, Out)> = x.linear(&w, &tensor!([0., 0., 10.]; Out));
    /// assert_eq!(y.to_vec(), [1.0, 2.0, 13.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match.
    #[twin]
    pub fn try_linear<O: Dim, I: DimOf<D>, B: Dims + Vector>(
        &self,
        weight: &Tensor<(O, I), T>,
        bias: &Tensor<B, T>,
    ) -> Result<Tensor<Sum<Linear<D, O, I>, B>, T>>
    where
        T: Numeric,
        Linear<D, O, I>: nomina_core::dims::Distinct + Broadcast<B>,
    {
        Tensor::try_from_erased(self.layer(weight, bias, LinearOptions::default()))
    }

    fn layer<O: Dim, I: DimOf<D>, B: Dims + Vector>(
        &self,
        weight: &Tensor<(O, I), T>,
        bias: &Tensor<B, T>,
        options: LinearOptions,
    ) -> Result<Erased> {
        let out = <Sum<Linear<D, O, I>, B>>::STATIC;
        let operands = [self.erased(), weight.erased(), bias.erased()];
        product::linear(operands, position::<I, D>(), options, out)
    }
}

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Computes the Euclidean distance between each row of one matrix and each row of another;
    /// batch dims broadcast and unify.
    ///
    /// ```
    /// # use nomina::prelude::*;
    /// dims! { N, M, C }
    /// let x = tensor!([[0., 0.], [3., 4.]]; N, C);
    /// let d: Tensor<(N, M)> = x.cdist(&tensor!([[0., 0.]]; M, C));
    /// assert_eq!(d.to_vec(), [0.0, 5.0]);
    /// ```
    ///
    /// # Errors
    /// If sizes do not match, or `p` is negative.
    #[twin(with = "but by the norm of the options.")]
    pub fn try_cdist_with<E: RowsBeside<D>>(
        &self,
        other: &Tensor<E, T>,
        options: CdistOptions,
    ) -> Result<Tensor<Distances<D, E>, T>>
    where
        T: Float,
    {
        let out = <Distances<D, E>>::STATIC;
        Tensor::try_from_erased(call_for_tensor(
            &[self.erased(), other.erased()],
            out,
            |x| x[0].cdist_with(&x[1], options),
        ))
    }
}

// The forms in place and with an out tensor.
include!("forms.rs");
