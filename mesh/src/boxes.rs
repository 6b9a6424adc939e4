//! Reading of a rank's box of a stored tensor.

use std::ops::Range;

use nomina::dims::{Dims, Distinct};
use nomina::{DynTensor, Element, ErrorKind, Name, Names, Result, Tensor};
use nomina_core::mesh::{AllFinished, Placement};

use crate::check::Description;
use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::{CallSite, Origin};
use crate::sharded::{Sharded, places};

/// A tensor in a file.
pub(crate) trait StoredTensor: Sized {
    /// Returns the sizes.
    fn sizes(&self) -> Vec<usize>;

    /// Selects a range of a dim, without reading.
    fn narrow(self, dim: &str, range: Range<usize>) -> Result<Self>;

    /// Reads the elements that are selected.
    fn read(&self) -> Result<DynTensor>;
}

/// Opens a stored tensor in any placement, on all ranks; each reads its box. `open` checks the dims and the dtype.
///
/// # Errors
/// Returns an error on all ranks if one fails, or if they find other sizes.
pub(crate) fn open_box<
    M: Placement<Mesh = M>,
    D: Dims + Distinct,
    P: Placement<Mesh = M> + AllFinished,
    T: Element,
    S: StoredTensor,
>(
    mesh: &Mesh<M>,
    description: Description<'_>,
    at: CallSite,
    open: impl FnOnce() -> Result<S>,
) -> Result<Sharded<D, P, T>> {
    let read = || {
        let mut stored = open()?;
        let metadata = Metadata {
            names: Names::from_static(D::NAMES),
            sizes: stored.sizes(),
            places: places::<P>(),
            origin: Origin::of_local(at),
            shared: mesh.shared.clone(),
        };
        // Dims are narrowed by their run-time names: every split dim has a name.
        for (dim, name) in metadata.names.iter().enumerate() {
            let (start, len) = metadata.range(dim, None);
            if let Some(name) = name.as_ref().map(Name::as_str)
                && len != metadata.sizes[dim]
            {
                stored = stored.narrow(name, start..start + len)?;
            }
        }
        let local: Tensor<D, T> = stored.read()?.try_into()?;
        Ok(((local, metadata.sizes.clone()), metadata.sizes))
    };
    let shared = &mesh.shared;
    let (local, sizes) = shared.agree_on_outcome(description, ErrorKind::Mesh, D::RANK, read())?;
    Ok(Sharded {
        local,
        sizes,
        origin: shared.origin(at),
        mesh: mesh.clone(),
    })
}
