//! Reductions of whole datasets.

use nomina::Result;

use crate::dataset::{DynDataset, is_index};
use crate::scan::{Reduction, Scan};

impl DynDataset {
    /// Reduces every variable of numbers over those of the dims that it has, over all without dims. Coordinates and variables of other elements along
    /// such a dim are left out; attributes stay.
    ///
    /// Sums and means are `f64`, as those of [`Scan::reduce`]. Variables in a file are read block by block.
    ///
    /// ```
    /// use nomina::{Labelled, prelude::*};
    /// use nomina_data::{Dataset, DynDataset, Reduction};
    /// dims! { Lat("latitude"): f64, Lon("longitude"): f64 }
    ///
    /// #[derive(Dataset)]
    /// struct Climate {
    ///     surface_temperature: Labelled<(Lat, Lon), f64>,
    /// }
    /// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/ostia_cut.nc");
    /// let sea = DynDataset::open_lazy(path)?;
    /// let mean = Climate::from_dyn(&sea.reduce(Reduction::NanMean, &["time"])?)?;   // xarray: ds.mean("time")
    /// # assert_eq!(mean.surface_temperature.shape(), [6, 72]);
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns [`ErrorKind::NameNotFound`](nomina::ErrorKind::NameNotFound) if no variable has one of the dims, and the errors
    /// of [`Scan::reduce`].
    pub fn reduce(&self, reduction: Reduction, dims: &[&str]) -> Result<Self> {
        for dim in dims {
            self.require_dim("reduce", dim)?;
        }
        let mut reduced = self.clone();
        reduced.variables.clear();
        for one in &self.variables {
            let own = one.dims().iter().map(|dim| &dim[..]);
            let over: Vec<&str> = own
                .filter(|dim| dims.is_empty() || dims.contains(dim))
                .collect();
            let is_data = !is_index(one) && !self.is_coordinate(one) && one.dtype().is_some();
            if over.is_empty() {
                reduced.variables.push(one.clone());
            } else if is_data {
                reduced
                    .variables
                    .push(Scan::new().reduce(one, reduction, &over)?);
            }
        }
        let names: Vec<String> = reduced
            .variables
            .iter()
            .map(|one| one.name().to_owned())
            .collect();
        reduced.coordinates.retain(|name| names.contains(name));
        Ok(reduced)
    }
}
