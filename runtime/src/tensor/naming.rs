//! Operators that change only names.

use nomina_core::{Names, Result, rule};

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

    /// Like [`DynTensor::rename`], but in place.
    ///
    /// # Errors
    /// Like [`DynTensor::rename`].
    pub fn rename_<'a>(&mut self, names: impl Into<Rename<'a>>) -> Result<&mut Self> {
        self.names = self.renamed(&names.into())?;
        Ok(self)
    }

    fn renamed(&self, names: &Rename<'_>) -> Result<Names> {
        match names {
            Rename::List(items) => rule::rename("rename", &self.names, items),
            Rename::Map(pairs) => rule::rename_map("rename", &self.names, pairs),
            Rename::Drop => Ok(Names::unnamed(self.rank())),
        }
        .map_err(|e| about(e, &[self]))
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
        let names = rule::refine_names("refine_names", &self.names, names.into().items())
            .map_err(|e| about(e, &[self]))?;
        Ok(Self::new(self.raw.clone(), names))
    }
}
