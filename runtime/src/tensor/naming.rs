//! Operators that change only names.

use nomina_core::rule::{self, NameArg};
use nomina_core::{Names, Result};

use super::{DynTensor, Order, Rename, about};

impl DynTensor {
    /// Renames dims: a list (`["A", "B"]`, or `["...", "B"]` for only the last), pairs of old and
    /// new (`[("N", "A")]`), or `()` for no names.
    ///
    /// # Errors
    /// If there is not one name per dim, a name to replace is missing, or a name would occur twice.
    pub fn rename<'a>(&self, names: impl Into<Rename<'a>>) -> Result<Self> {
        Ok(Self::new(self.raw.clone(), self.renamed(&names.into())?))
    }

    /// Renames one dim. Dims of [`DynTensor::rename`] in pairs are renamed at once.
    ///
    /// ```
    /// use nomina_runtime::DynTensor;
    /// let x = DynTensor::zeros(&[2, 3], ["N", "C"])?;
    /// assert_eq!(x.rename_dim("N", "Batch")?.names().to_string(), "(Batch, C)");
    /// assert!(x.rename_dim("H", "Batch").is_err());
    /// # Ok::<(), nomina_core::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the old name is missing, or the new one would occur twice.
    pub fn rename_dim<'a>(
        &self,
        from: impl Into<NameArg<'a>>,
        to: impl Into<NameArg<'a>>,
    ) -> Result<Self> {
        self.rename([(from.into(), to.into())])
    }

    /// Like [`DynTensor::rename`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::rename`].
    pub fn rename_<'a>(&mut self, names: impl Into<Rename<'a>>) -> Result<&mut Self> {
        self.names = self.renamed(&names.into())?;
        Ok(self)
    }

    fn renamed(&self, names: &Rename<'_>) -> Result<Names> {
        names.apply(&self.names).map_err(|e| about(e, &[self]))
    }

    /// Returns the same elements without names.
    pub fn drop_names(&self) -> Self {
        Self::new(self.raw.clone(), Names::unnamed(self.rank()))
    }

    /// Names dims that have no name; existing names must be repeated. `"..."` covers the dims that
    /// are not mentioned.
    ///
    /// # Errors
    /// If a name would become another, there is not one per dim, or a name would occur twice.
    pub fn refine_names<'a>(&self, names: impl Into<Order<'a>>) -> Result<Self> {
        let names = rule::refine_names("refine_names", &self.names, &names.into().items())
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(self.raw.clone(), names))
    }
}
