//! Embedding look-ups.

use nomina::dims::{Dim, DimOf, Dims, EmbedIn, Embedded};
use nomina::{Element, IndexElement, Result};
use nomina_core::mesh::{AllFinished, HasWhole, InPointwise, Joined, PlacedWith, Placement};
use nomina_macros::twin;

use super::Sharded;

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// The rows of a table, of which each rank has all, at `ids`, which may be split: the result is split alike.
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) for a row that is not there; when memory is missing.
    #[twin]
    pub fn try_embedding<
        X: DimOf<D> + Dim,
        E: Dims + EmbedIn<D, X>,
        Q: Placement<Mesh = P::Mesh> + AllFinished,
        I: IndexElement,
    >(
        &self,
        dim: X,
        ids: &Sharded<E, Q, I>,
    ) -> Result<Sharded<Embedded<D, X, E>, Joined<P, Q>, T>>
    where
        P: HasWhole<(X,)> + PlacedWith<InPointwise, Q, D, E>,
    {
        self.combined("embedding", ids, self.local.try_embedding(dim, &ids.local))
    }
}
