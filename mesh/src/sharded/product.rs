//! Products of two tensors of a mesh, summed over dims.

use nomina::dims::{Axes, ContractTo, Dims, Factor, Product};
use nomina::{Element, Numeric, Result};
use nomina_core::dims::DimList;
use nomina_core::mesh::{
    HasWhole, InProducts, Joined, Over, OverBoth, PlacedWith, Placement, ProductPlaced,
};
use nomina_macros::twin;

use super::Sharded;

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// The product summed over a dim of both, wherever it stands: one that each rank has all of, or
    /// [`across`](crate::across) one that is split in both: then the result is pending.
    ///
    /// # Errors
    /// Sizes or devices that do not fit, or memory that is missing.
    // On one line, because rustc quotes it in errors.
    #[twin]
    #[rustfmt::skip]
    pub fn try_contract<E: Dims, Q: Placement<Mesh = P::Mesh>, O: Dims, A: OverBoth<P, Q, D, E> + Over<Axes: ContractTo<D, E, O>>>(
        &self,
        other: &Sharded<E, Q, T>,
        dim: A,
    ) -> Result<Sharded<O, ProductPlaced<P, Q, A>, T>>
    where
        T: Numeric,
    {
        let axes = dim.axes();
        let summed = <A::Axes as Axes>::NAMES;
        self.same_sizes("contract", other, summed)?;
        self.combined(
            "contract",
            other,
            self.local.try_contract(&other.local, axes),
        )
    }

    /// The product of matrices, by position, as PyTorch's `matmul`; the contracted dims are whole in both.
    ///
    /// # Errors
    /// Sizes or devices that do not fit, or memory that is missing.
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

    /// Refuses a dim that two tensors are summed over, and that has other sizes in both: of split dims no rank sees it.
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
