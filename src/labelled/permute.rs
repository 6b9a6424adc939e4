//! Dims in another order, products over dims.

use nomina_core::dims::{
    Aligned, Axes, ContractTo, DimOf, Dims, Order, OrderSpec, SameRankAs, Transposed, positions,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use super::Labelled;
use super::coords::{Coords, require_equal, unified};
use crate::types::Numeric;

impl<D: Dims, T: Element> Labelled<D, T> {
    /// Returns the labels by name, for a result with the dims `O`.
    fn coords_by_name<O: Dims>(&self) -> Coords {
        let find =
            |name: &Option<&str>| D::NAMES.iter().position(|own| own == name && own.is_some());
        self.coords.moved(O::NAMES.iter().map(find))
    }
}

/// # Order of dims, and products
impl<D: Dims, T: Element> Labelled<D, T> {
    /// Reorders the dims. Labels follow their dims.
    ///
    /// # Errors
    /// If names known only at run time are missing.
    #[twin]
    pub fn try_permute<O: OrderSpec + Order<D>>(
        &self,
        order: O,
    ) -> Result<Labelled<Aligned<D, O>, T>>
    where
        D: SameRankAs<Aligned<D, O>>,
    {
        let coords = self.coords_by_name::<Aligned<D, O>>();
        Ok(Labelled::from_parts(
            self.tensor.try_permute(order)?,
            coords,
        ))
    }

    /// Swaps two dims. Labels follow their dims.
    ///
    /// # Errors
    /// Never, for dims that rustc knows.
    #[twin]
    pub fn try_transpose<X: DimOf<D>, Y: DimOf<D>>(
        &self,
        dim0: X,
        dim1: Y,
    ) -> Result<Labelled<Transposed<D, X, Y>, T>> {
        let coords = self.coords_by_name::<Transposed<D, X, Y>>();
        Ok(Labelled::from_parts(
            self.tensor.try_transpose(dim0, dim1)?,
            coords,
        ))
    }

    /// Multiplies by another tensor and sums over dims, along which both must have equal labels.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// dims! { Time: i64, Lat: f64, Mode: i64 }
    /// let x = Labelled::new(tensor!([[1., 2.], [3., 4.]]; Time, Lat)).with(Lat, [60.0, 30.0]).with(Time, [1, 2]);
    /// let modes = Labelled::new(tensor!([[1., 1.]]; Mode, Lat)).with(Lat, [60.0, 30.0]).with(Mode, [7]);
    /// let y: Labelled<(Time, Mode)> = x.contract(&modes, Lat);
    /// assert_eq!((y.to_vec(), y.labels(Mode).values()), (vec![3.0, 7.0], &[7][..]));
    /// ```
    ///
    /// # Errors
    /// If sizes or labels differ.
    #[twin]
    pub fn try_contract<E: Dims, O: Dims, X: Axes + ContractTo<D, E, O>>(
        &self,
        other: &Labelled<E, T>,
        dim: X,
    ) -> Result<Labelled<O, T>>
    where
        T: Numeric,
    {
        for (i, j) in positions::<X, D>().iter().zip(positions::<X, E>()) {
            require_equal(
                "contract",
                D::NAMES[*i].unwrap_or("_"),
                self.coords.get(*i),
                other.coords.get(*j),
            )?;
        }
        let coords = unified(
            "contract",
            (&self.coords, D::NAMES),
            (&other.coords, E::NAMES),
            O::NAMES,
        )?;
        Ok(Labelled::from_parts(
            self.tensor.try_contract(&other.tensor, dim)?,
            coords,
        ))
    }
}
