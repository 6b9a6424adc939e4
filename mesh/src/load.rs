//! Loading of data by rank.

use std::ops::Range;
use std::panic::Location;

use nomina::dims::{Dim, Dims, Distinct, Has, Of, position};
use nomina::{Element, Error, ErrorKind, Names, Result, Tensor};
use nomina_core::mesh::{AllFinished, Placement};

use crate::check::Description;
use crate::mesh::Mesh;
use crate::metadata::Metadata;
use crate::origin::Origin;
use crate::sharded::{Sharded, places, typed};

impl<M: Placement<Mesh = M>> Mesh<M> {
    /// Creates a tensor of `rows.size` rows, of which each rank reads its own. `read` is called with this rank's range
    /// of the rows, and returns these rows with all of the other dims. If another dim is split, the rank keeps its
    /// part. If the rows are not split, each rank reads all of them, and the caller guarantees that they are the same.
    ///
    /// All ranks call this, and exchange whether they could read, and the sizes.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { Batch, Feature }
    /// mesh! { Grid: Data, Model }
    ///
    /// let sums = Grid::threads([2, 1], |mesh| {
    ///     let x: Sharded<(Batch, Feature), Grid<Split<Batch>, Synced>> = mesh.load(Batch.of(5), |rows| {
    ///         // 0..3 on the first rank, 3..5 on the second.
    ///         let ids = rows.clone().flat_map(|row| [row as f32, 1.0]).collect();
    ///         Tensor::from_vec(ids, [rows.len(), 2])
    ///     })?;
    ///     Ok(x.sum(across(Batch)).all_reduce(Data).to_vec())
    /// })?;
    /// assert_eq!(sums, [[10.0, 5.0], [10.0, 5.0]]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// Returns an error on all ranks if one fails. A rank whose `read` failed returns that error, the others return
    /// [`ErrorKind::Mesh`] with its text. Returns [`ErrorKind::Shape`] if `read` returns another number of rows, or the
    /// ranks have different sizes of the other dims.
    #[track_caller]
    pub fn load<
        X: Dim,
        D: Dims + Distinct + Has<X>,
        P: Placement<Mesh = M> + AllFinished,
        T: Element,
    >(
        &self,
        rows: Of<X>,
        read: impl FnOnce(Range<usize>) -> Result<Tensor<D, T>>,
    ) -> Result<Sharded<D, P, T>> {
        let (op, at) = ("load", Location::caller());
        let dim = position::<X, D>();
        let mut metadata = Metadata {
            names: Names::from_static(D::NAMES),
            sizes: vec![0; D::RANK],
            places: places::<P>(),
            origin: Origin::of_local(at),
            shared: self.shared.clone(),
        };
        metadata.sizes[dim] = rows.size;
        let (start, len) = metadata.range(dim, None);
        let outcome = read(start..start + len).and_then(|read| {
            let mut sizes = read.shape().to_vec();
            if sizes[dim] != len {
                let what = format!("rows {start}..{} were requested", start + len);
                return Err(Error::new(ErrorKind::Shape, op, what).operand(&read.names(), &sizes));
            }
            sizes[dim] = rows.size;
            Ok((read, sizes))
        });
        let outcome = outcome.map(|(read, sizes)| ((read, sizes.clone()), sizes));
        let (read, sizes) = self.shared.agree_on_outcome(
            Description::new(op, at),
            ErrorKind::Mesh,
            D::RANK,
            outcome,
        )?;
        metadata.sizes = sizes;
        let mut raw = read.into_dyn().into_parts().0.detach();
        for other in (0..D::RANK).filter(|&other| other != dim) {
            let (start, len) = metadata.range(other, None);
            raw = raw.narrow(other, start, len)?;
        }
        Ok(Sharded {
            local: typed(raw)?,
            sizes: metadata.sizes,
            origin: self.shared.origin(at),
            mesh: self.clone(),
        })
    }
}
