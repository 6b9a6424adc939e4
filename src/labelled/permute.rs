//! Dims in another order, products over dims.

use nomina_core::dims::{
    Aligned, Axes, ContractTo, DimOf, Dims, Order, OrderSpec, SameRankAs, Transposed, positions,
};
use nomina_core::{Element, Result};
use nomina_macros::twin;

use nomina_core::rule::{DimArg, DimRef};

use super::coords::{Coords, require_equal, texts, unified};
use super::{DynLabelled, Labelled};
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

/// # Order of dims, and products
impl DynLabelled {
    /// Returns the tensor with its dims in another order; labels follow.
    fn reordered(&self, tensor: nomina_runtime::DynTensor, order: &[usize]) -> Self {
        Self::from_parts(tensor, self.coords.moved(order.iter().copied().map(Some)))
    }

    /// Reorders the dims. Labels follow their dims.
    ///
    /// # Errors
    /// If `dims` does not list each dim once.
    pub fn permute<'a>(&self, dims: impl Into<DimArg<'a>>) -> Result<Self> {
        let dims = dims.into();
        let tensor = self.tensor.permute(dims.clone())?;
        let order = dims.listed("permute", self.names());
        Ok(self.reordered(tensor, &order.map_err(|e| self.blame(e))?))
    }

    /// Swaps two dims. Labels follow their dims.
    ///
    /// # Errors
    /// If a dim is missing.
    pub fn transpose<'a, 'b>(
        &self,
        dim0: impl Into<DimRef<'a>>,
        dim1: impl Into<DimRef<'b>>,
    ) -> Result<Self> {
        let a = self.position("transpose", dim0)?;
        let b = self.position("transpose", dim1)?;
        let mut order: Vec<usize> = (0..self.rank()).collect();
        order.swap(a, b);
        Ok(self.reordered(self.tensor.transpose(a, b)?, &order))
    }

    /// Multiplies by another tensor and sums over dims, along which both must have equal labels; other dims that both have
    /// are batch dims.
    ///
    /// ```
    /// use nomina::{DynLabelled, Labels, prelude::*};
    /// let x = DynTensor::from_vec(vec![1.0, 2.0, 3.0, 4.0], &[2, 2], names!["time", "lat"])?;
    /// let x = DynLabelled::new(x).with("lat", Labels::new([60.0, 30.0]))?;
    /// let modes = DynTensor::from_vec(vec![1.0, 1.0], &[1, 2], names!["mode", "lat"])?;
    /// let modes = DynLabelled::new(modes).with("lat", Labels::new([60.0, 30.0]))?.with("mode", Labels::new([7_i64]))?;
    /// let y = x.contract(&modes, "lat")?;
    /// assert_eq!(y.names().to_string(), "(time, mode)");
    /// assert_eq!(y.tensor().to_vec::<f64>()?, [3.0, 7.0]);
    /// assert!(y.labels("mode")?.is_some());
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// If a dim is missing on either side, sizes, dtypes or labels differ, or a dim has no name.
    pub fn contract<'a>(&self, other: &Self, dim: impl Into<DimArg<'a>>) -> Result<Self> {
        let (op, dim) = ("contract", dim.into());
        let tensor = self.tensor.contract(&other.tensor, dim.clone())?;
        let (own, its) = (texts(self.names()), texts(other.names()));
        let listed = dim.positions(op, self.names());
        for &at in listed.map_err(|e| self.blame(e))?.iter() {
            let name = own[at];
            let there = its.iter().position(|other| *other == name);
            let labels = there.and_then(|there| other.coords.get(there));
            require_equal(op, name.unwrap_or("_"), self.coords.get(at), labels)
                .map_err(|e| self.blame(e))?;
        }
        let coords = unified(
            op,
            (&self.coords, &own),
            (&other.coords, &its),
            &texts(tensor.names()),
        );
        Ok(Self::from_parts(tensor, coords.map_err(|e| self.blame(e))?))
    }
}
