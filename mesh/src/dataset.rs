//! Variables of a dataset over a mesh: each rank reads its box of a netCDF or zarr file.
//!
//! ```
//! use nomina_data::{DynDataset, Variable};
//! use nomina_mesh::dataset;
//! use nomina_mesh::prelude::*;
//! dims! { Time("time"), Lat("latitude") }
//! mesh! { Line: Rows }
//!
//! # let folder = tempfile::tempdir().unwrap();
//! # let path = &folder.path().join("sea.zarr");
//! # let t = DynTensor::from_vec((0..12).map(|i| i as f32).collect(), &[6, 2], ["time", "latitude"])?;
//! # let mut sea = DynDataset::new();
//! # sea.insert(Variable::new("t", t)?)?;
//! # sea.write_zarr(path)?;
//! let means = Line::threads([2], |mesh| {
//!     let sea = DynDataset::open_lazy(path)?.isel("time", 1..5)?;         // metadata only
//!     let t: Sharded<(Time, Lat), Line<Split<Time>>> = dataset::tensor(&mesh, &sea, "t")?;
//!     assert_eq!(t.local().shape(), [2, 2]);
//!     Ok(t.mean(across(Time)).all_reduce(Rows).to_vec())
//! })?;
//! assert_eq!(means, [[5.0, 6.0], [5.0, 6.0]]);
//! # Ok::<(), nomina::Error>(())
//! ```

use std::ops::Range;
use std::panic::Location;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, Error, ErrorKind, Names, Result};
use nomina_core::mesh::{AllFinished, Placement};
use nomina_data::{DynDataset, Variable};

use crate::boxes::{StoredTensor, open_box};
use crate::check::Description;
use crate::mesh::Mesh;
use crate::sharded::Sharded;

/// A dataset, and the name of one of its variables.
struct Stored<'a> {
    dataset: DynDataset,
    name: &'a str,
}

impl Stored<'_> {
    fn variable(&self) -> Result<&Variable> {
        self.dataset.variable(self.name)
    }
}

impl StoredTensor for Stored<'_> {
    fn sizes(&self) -> Vec<usize> {
        self.variable()
            .map_or_else(|_| Vec::new(), |variable| variable.shape().to_vec())
    }

    fn narrow(self, dim: &str, range: Range<usize>) -> Result<Self> {
        let dataset = self.dataset.isel(dim, range)?;
        Ok(Self { dataset, ..self })
    }

    fn read(&self) -> Result<DynTensor> {
        self.variable()?.tensor()
    }
}

/// Reads a variable of a dataset in any placement, on all ranks. Each rank reads its own box if the dataset was opened
/// by [`DynDataset::open_lazy`]. All ranks pass the same dataset, with the same selections.
///
/// # Errors
/// Returns an error on all ranks if one fails: [`ErrorKind::NameNotFound`] if there is no such variable;
/// [`ErrorKind::NameMismatch`] or [`ErrorKind::DType`] if its dims or its elements are not those of the type; the errors
/// of the file.
#[track_caller]
pub fn tensor<
    M: Placement<Mesh = M>,
    D: Dims + Distinct,
    P: Placement<Mesh = M> + AllFinished,
    T: Element,
>(
    mesh: &Mesh<M>,
    dataset: &DynDataset,
    name: &str,
) -> Result<Sharded<D, P, T>> {
    let (op, at) = ("tensor", Location::caller());
    let open = || {
        let dataset = dataset.clone();
        let stored = Stored { dataset, name };
        let variable = stored.variable()?;
        let (names, wanted) = (variable.names(), Names::from_static(D::NAMES));
        let refuse = |kind: ErrorKind, what: String| {
            Error::new(kind, op, what).operand(&names, variable.shape())
        };
        if names != wanted {
            let what = format!("variable `{name}` has dims {names}, not {wanted}");
            return Err(refuse(ErrorKind::NameMismatch, what));
        }
        if variable.dtype() != Some(T::DTYPE) {
            let kind = variable.type_name();
            let what = format!("variable `{name}` has elements of {kind}, not {}", T::DTYPE);
            return Err(refuse(ErrorKind::DType, what));
        }
        Ok(stored)
    };
    let description = Description {
        extra: name,
        ..Description::new(op, at)
    };
    open_box(mesh, description, at, open)
}
