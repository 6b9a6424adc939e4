//! Results stored in out tensors: pairs and joined tensors.
//!
//! [`Tensor::max_out`], [`Tensor::min_out`], [`Tensor::median_out`], [`Tensor::nanmedian_out`].

use nomina_core::dims::{
    AxesOf, DimOf, Dims, Holds, Insert, Inserted, OneDim, OneOrAll, Resizable, SizeOf, Without,
};
use nomina_core::op::Op;
use nomina_core::{Element, Real, Result, StoreAs};
use nomina_macros::twin;

use super::join::{Joinable, try_cat, try_stack};
use super::{Tensor, picked};
use crate::erased::{Erased, Known, reduce, sort};

impl<D: Dims, T: Element> Tensor<D, T> {
    /// Like [`max`](Self::max) along one dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// If sizes do not match, or the dim has no elements. Nothing is changed in that case.
    #[twin]
    pub fn try_max_out<A, O, U>(
        &self,
        dim: A,
        values: &mut Tensor<O, U>,
        indices: &mut Tensor<O, i64>,
    ) -> Result<()>
    where
        T: Real,
        A: OneOrAll + AxesOf<D>,
        O: Dims + Holds<Without<D, A>>,
        U: Element,
        T: StoreAs<U>,
    {
        self.extreme_out(Op::Max, dim, values, indices)
    }

    /// Like [`min`](Self::min) along one dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// If sizes do not match, or the dim has no elements. Nothing is changed in that case.
    #[twin]
    pub fn try_min_out<A, O, U>(
        &self,
        dim: A,
        values: &mut Tensor<O, U>,
        indices: &mut Tensor<O, i64>,
    ) -> Result<()>
    where
        T: Real,
        A: OneOrAll + AxesOf<D>,
        O: Dims + Holds<Without<D, A>>,
        U: Element,
        T: StoreAs<U>,
    {
        self.extreme_out(Op::Min, dim, values, indices)
    }

    /// Like [`median`](Self::median) along one dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// If sizes do not match, or the dim has no elements. Nothing is changed in that case.
    #[twin]
    pub fn try_median_out<A, O, U>(
        &self,
        dim: A,
        values: &mut Tensor<O, U>,
        indices: &mut Tensor<O, i64>,
    ) -> Result<()>
    where
        T: Real,
        A: OneOrAll + AxesOf<D>,
        O: Dims + Holds<Without<D, A>>,
        U: Element,
        T: StoreAs<U>,
    {
        let (op, found) = (Op::Median, <Without<D, A>>::STATIC);
        let pair = sort::typical(op, self.erased(), picked::<A, D>(&dim), found)?;
        let outs = (&mut values.erased, &mut indices.erased);
        store_pair(op, pair, found, outs, O::STATIC)
    }

    /// Like [`nanmedian`](Self::nanmedian) along one dim, but writes to `values` and `indices`.
    ///
    /// # Errors
    /// If sizes do not match, or the dim has no elements. Nothing is changed in that case.
    #[twin]
    pub fn try_nanmedian_out<A, O, U>(
        &self,
        dim: A,
        values: &mut Tensor<O, U>,
        indices: &mut Tensor<O, i64>,
    ) -> Result<()>
    where
        T: Real,
        A: OneOrAll + AxesOf<D>,
        O: Dims + Holds<Without<D, A>>,
        U: Element,
        T: StoreAs<U>,
    {
        let (op, found) = (Op::Nanmedian, <Without<D, A>>::STATIC);
        let pair = sort::typical(op, self.erased(), picked::<A, D>(&dim), found)?;
        let outs = (&mut values.erased, &mut indices.erased);
        store_pair(op, pair, found, outs, O::STATIC)
    }

    fn extreme_out<A, O, U>(
        &self,
        op: Op,
        dim: A,
        values: &mut Tensor<O, U>,
        indices: &mut Tensor<O, i64>,
    ) -> Result<()>
    where
        T: Real,
        A: OneOrAll + AxesOf<D>,
        O: Dims,
        U: Element,
    {
        let found = <Without<D, A>>::STATIC;
        let pair = reduce::extreme(op, self.erased(), picked::<A, D>(&dim), found)?;
        store_pair(
            op,
            pair,
            found,
            (&mut values.erased, &mut indices.erased),
            O::STATIC,
        )
    }
}

/// Stores two results; changes neither out tensor if one does not fit.
pub(crate) fn store_pair(
    op: Op,
    (first, second): (Erased, Erased),
    computed: &'static crate::erased::Static,
    (a, b): (&mut Erased, &mut Erased),
    of: &'static crate::erased::Static,
) -> Result<()> {
    let mut new = a.clone();
    reduce::store(op, first, computed, &mut new, of)?;
    reduce::store(op, second, computed, b, of)?;
    *a = new;
    Ok(())
}

impl<D: Dims> Tensor<D, bool> {}

/// Like [`cat`](crate::cat), but writes to `out`.
///
/// # Errors
/// If there is no tensor, or sizes do not match. Nothing is changed in that case.
#[twin(free)]
pub fn try_cat_out<L, X, O, U>(tensors: L, dim: X, out: &mut Tensor<O, U>) -> Result<()>
where
    L: Joinable,
    X: DimOf<L::First>,
    SizeOf<X>: Resizable<X>,
    O: Dims + Holds<L::Dims>,
    U: Element,
    L::Dtype: StoreAs<U>,
{
    Tensor::store(Op::Cat, try_cat(tensors, dim), out)
}

/// Like [`stack`](crate::stack), but writes to `out`.
///
/// # Errors
/// If there is no tensor, or sizes differ. Nothing is changed in that case.
#[twin(free)]
pub fn try_stack_out<L, X, O, U>(tensors: L, dim: X, out: &mut Tensor<O, U>) -> Result<()>
where
    L: Joinable,
    X: OneDim + Insert<L::Dims>,
    O: Dims + Holds<Inserted<L::Dims, X>>,
    U: Element,
    L::Dtype: StoreAs<U>,
{
    Tensor::store(Op::Stack, try_stack(tensors, dim), out)
}
