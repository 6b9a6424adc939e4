//! Products of two tensors, summed over dims.

use nomina::dims::{Axes, ContractTo, Dims, Distinct, Factor, Product};
use nomina::{Element, Numeric, Result};
use nomina_core::dims::DimList;
use nomina_core::mesh::{
    HasWhole, InProducts, Joined, Over, OverBoth, PlacedWith, Placement, ProductPlaced,
};
use nomina_macros::twin;

use super::Sharded;
use super::along::from_dyn;

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Contracts a dim of both tensors, at any position: a dim that each rank has all of, or [`across`](crate::across)
    /// one that is split in both; the result is then pending.
    ///
    /// For a dim that is split only in `other`, named [`via`](crate::ViaAxis::via) its axis, the parts of `other`
    /// travel around the ring, and each rank holds two of them at a time. Such a product has no second derivative.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { Batch, Embed, Hidden }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x: Sharded<(Batch, Embed), Line<Split<Batch>>> = mesh.randn([4, 6])?;
    ///     let w: Sharded<(Embed, Hidden), Line<Split<Embed>>> = mesh.randn([6, 3])?;
    ///     let y: Sharded<(Batch, Hidden), Line<Split<Batch>>> = x.contract(&w, Embed.via(Data));
    ///     let same = x.contract(&w.all_gather(Data), Embed);
    ///     Ok((y - same).abs().amax(across(..)).all_reduce(Data).item())
    /// })?;
    /// assert!(found[0] < 1e-5);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// If sizes or devices do not match, or memory is missing; `via` an axis, if a rank is gone.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_contract<E: Dims, Q: Placement<Mesh = P::Mesh>, O: Dims + Distinct, A: OverBoth<P, Q, D, E> + Over<Axes: ContractTo<D, E, O>>>(
        &self,
        other: &Sharded<E, Q, T>,
        dim: A,
    ) -> Result<Sharded<O, ProductPlaced<P, Q, A>, T>>
    where
        T: Numeric,
    {
        let at = std::panic::Location::caller();
        if let (Some(axis), [Some(name)]) = (A::VIA, <A::Axes as Axes>::NAMES) {
            self.require_same_mesh("contract", other)?;
            let places = E::NAMES.iter().position(|own| *own == Some(*name));
            let split_dim = other.split_dim("contract", places.unwrap_or_default(), axis, at);
            let found = split_dim.contract(&self.local.to_dyn(), &other.local.to_dyn(), name)?;
            let (found, operands) = (from_dyn(found)?, [self.operand(), other.operand()]);
            return Sharded::from_result("contract", found, self.mesh.clone(), &operands);
        }
        let axes = dim.axes();
        let summed = <A::Axes as Axes>::NAMES;
        self.same_sizes("contract", other, summed)?;
        self.combined(
            "contract",
            other,
            self.local.try_contract(&other.local, axes),
        )
    }

    /// Returns the matrix product, with dims by position as in PyTorch's `matmul`. The contracted dims are whole in
    /// both tensors.
    ///
    /// # Errors
    /// If sizes or devices do not match, or memory is missing.
    #[twin]
    pub fn try_matmul<
        E: Factor<D>,
        Q: Placement<Mesh = P::Mesh> + HasWhole<(<E as DimList>::InnerRight,)>,
    >(
        &self,
        other: &Sharded<E, Q, T>,
    ) -> Result<Sharded<Product<D, E>, Joined<P, Q>, T>>
    where
        P: HasWhole<(<D as DimList>::InnerLeft,)> + PlacedWith<InProducts, Q, D, E>,
        T: Numeric,
    {
        self.combined("matmul", other, self.local.try_matmul(&other.local))
    }

    /// Checks that the summed dims have the same global sizes in both tensors. The pieces cannot show this for split
    /// dims.
    fn same_sizes<E: Dims, Q: Placement, U: Element>(
        &self,
        op: &'static str,
        other: &Sharded<E, Q, U>,
        summed: &[Option<&'static str>],
    ) -> Result<()> {
        for name in summed {
            let at = |names: &[Option<&str>]| names.iter().position(|own| own == name);
            if let (Some(one), Some(two)) = (at(D::NAMES), at(E::NAMES))
                && self.sizes[one] != other.sizes[two]
            {
                let names = [D::NAMES, E::NAMES].map(nomina::Names::from_static);
                let error =
                    nomina::Error::sizes(op, [&self.sizes[..], &other.sizes], [(0, one), (1, two)]);
                return Err(error.with_names(&names));
            }
        }
        Ok(())
    }
}
