//! Other names for dims.

use nomina::{DynTensor, Error, ErrorKind, Result};

use crate::dataset::{DynDataset, is_index};
use crate::variable::Data;

impl DynDataset {
    /// Gives a dim, and the variable of its labels, another name. Nothing is read.
    ///
    /// ```
    /// use nomina_data::DynDataset;
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let sea = DynDataset::open_lazy(path)?.rename_dim("latitude", "lat")?;
    /// assert_eq!(sea.variable("surface_temperature")?.dims()[1], "lat");
    /// assert_eq!(sea.labels("lat")?.len(), 6);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`] if no variable has the dim; [`ErrorKind::DuplicateNames`] if a dim or a variable has
    /// the new name.
    pub fn rename_dim(&self, dim: &str, name: &str) -> Result<Self> {
        let op = "rename_dim";
        self.require_dim(op, dim)?;
        if dim == name {
            return Ok(self.clone());
        }
        let is_taken = self.sizes().iter().any(|(own, _)| *own == name)
            || self
                .variables
                .iter()
                .any(|one| one.name == name && !one.dims.is_empty());
        if is_taken {
            let what = format!("the dataset has a dim or a variable `{name}` already");
            return Err(Error::new(ErrorKind::DuplicateNames, op, what));
        }
        let mut renamed = self.clone();
        for one in &mut renamed.variables {
            if !one.dims.iter().any(|own| own == dim) {
                continue;
            }
            if is_index(one) {
                name.clone_into(&mut one.name);
            }
            for own in &mut one.dims {
                if own == dim {
                    name.clone_into(own);
                }
            }
            let names = one.names();
            if let Data::Tensor(tensor) = &mut one.data {
                *tensor = DynTensor::from_parts(tensor.clone().into_parts().0, names)?;
            }
        }
        Ok(renamed)
    }
}
