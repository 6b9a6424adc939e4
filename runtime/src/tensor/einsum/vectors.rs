//! Vectors along a dim, and primed dims.

use nomina_core::rule::{self, DimRef};
use nomina_core::{Error, Result};
use nomina_macros::forms;

use crate::call;
use crate::tensor::{DynTensor, about};

impl DynTensor {
    /// Primes a dim's name: `N` becomes `N'`, a second axis of the same kind, which every operator
    /// treats as another dim.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::ones(&[2, 3], ["N", "C"])?;
    /// let products = x.contract(&x.prime("C")?, "N")?;
    /// assert_eq!(products.names().to_string(), "(C, C')");
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the dim is missing or has no name, or the primed name exists.
    pub fn prime<'a>(&self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let names = rule::prime("prime", &self.names, dim.into()).map_err(|e| about(e, &[self]))?;
        Ok(Self::new(self.raw.clone(), names))
    }

    /// Computes the inner products of vectors along a dim, conjugating the first; other dims
    /// broadcast.
    ///
    /// # Errors
    /// If names do not unify, sizes do not broadcast, dtypes differ, or the dim is missing.
    #[forms(out)]
    pub fn vecdot<'a>(&self, other: &Self, dim: impl Into<DimRef<'a>>) -> Result<Self> {
        let fail = |e: Error| about(e.in_op("vecdot"), &[self, other]);
        let names = rule::unify("vecdot", &self.names, &other.names).map_err(fail)?;
        let dim = dim.into().position("vecdot", &names).map_err(fail)?;
        let raw = call::vecdot(&self.raw, &other.raw, dim).map_err(fail)?;
        Ok(Self::new(raw, rule::remove(&names, &[dim])))
    }
}
