//! Embedding lookup, and selection of slices by index.

use std::panic::Location;

use nomina::dims::{DimOf, Dims, Distinct, EmbedIn, Embedded, Has, IndexOf, Selected, position};
use nomina::{Element, IndexElement, Result};
use nomina_core::mesh::{AllFinished, InPointwise, Joined, PlacedWith, Placement};
use nomina_macros::twin;

use super::along::{Along, AlongDim, from_dyn};
use super::{Sharded, places};

/// The placement of rows of a table in placement `P` at ids in placement `Q`, along the dim of `A`.
pub type RowsPlaced<P, Q, A> = Joined<<A as AlongDim>::Whole<P>, Q>;

impl<D: Dims, P: Placement, T: Element> Sharded<D, P, T> {
    /// Looks up the rows of a table at `ids`. The ids may be split; the result is then split alike. The rows are whole
    /// on each rank, or split and fetched `via` their axis. If the ids are split over that axis, too, each rank
    /// requests each of its distinct rows once from the owner, and the gradients return to the owner. If all ranks have
    /// the same ids, the rows found by each rank are summed.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { Vocab, Embed, T }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let table = tensor!([[1.], [2.], [3.], [4.]]; Vocab, Embed);
    ///     let table: Sharded<_, Line<Split<Vocab>>> = mesh.whole(table).cut(Data, Vocab);
    ///     let ids = mesh.whole(tensor!([3, 0, 2]; T)).cut(Data, T);
    ///     let rows: Sharded<(T, Embed), Line<Split<T>>> = table.embedding(Vocab.via(Data), &ids);
    ///     Ok(rows.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(found[0], [4.0, 1.0, 3.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if a row does not exist; if memory is missing, or a rank is gone.
    #[twin]
    pub fn try_embedding<A: Along<P, D>, E, Q, I: IndexElement>(
        &self,
        dim: A,
        ids: &Sharded<E, Q, I>,
    ) -> Result<Sharded<Embedded<D, A::Dim, E>, RowsPlaced<P, Q, A>, T>>
    where
        E: Dims + EmbedIn<D, A::Dim>,
        Q: Placement<Mesh = P::Mesh> + AllFinished,
        A::Whole<P>: PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
        Embedded<D, A::Dim, E>: Distinct,
    {
        let (_, op, at) = (dim, "embedding", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        self.require_same_mesh(op, ids)?;
        let by = ids.local.to_dyn();
        let rows = match A::VIA {
            Some(axis) => {
                let place = &places::<Q>()[axis];
                self.split_dim(op, dim, axis, at).rows(&x, &by, place)?
            }
            None => x.embedding(dim, &by)?,
        };
        Sharded::from_result(
            op,
            from_dyn(rows)?,
            self.mesh.clone(),
            &[ids.operand(), self.operand()],
        )
    }

    /// Selects the slices at the indices of a dim; the dims of the index replace the dim. Negative indices count from
    /// the end. If the dim is split, slices are fetched `via` its axis, like the rows of
    /// [`embedding`](Self::embedding). The index may be split; the result is then split alike.
    ///
    /// ```
    /// use nomina_mesh::prelude::*;
    /// dims! { N, C, K }
    /// mesh! { Line: Data }
    ///
    /// let found = Line::threads([2], |mesh| {
    ///     let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C);
    ///     let x: Sharded<_, Line<Split<C>>> = mesh.whole(x).cut(Data, C);
    ///     let index = mesh.whole(tensor!([2, 0]; K)).cut(Data, K);
    ///     let slices: Sharded<(N, K), Line<Split<K>>> = x.index_select(C.via(Data), &index);
    ///     Ok(slices.all_gather(Data).to_vec())
    /// })?;
    /// assert_eq!(found[0], [3.0, 1.0, 6.0, 4.0]);
    /// # Ok::<(), nomina::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Index`](nomina::ErrorKind::Index) if an index is out of range; if memory is missing, or a rank is
    /// gone.
    #[twin]
    pub fn try_index_select<A: Along<P, D>, E, Q, I: IndexElement>(
        &self,
        dim: A,
        index: &Sharded<E, Q, I>,
    ) -> Result<Sharded<Selected<D, A::Dim, E>, RowsPlaced<P, Q, A>, T>>
    where
        E: Dims + IndexOf<D, A::Dim>,
        Q: Placement<Mesh = P::Mesh> + AllFinished,
        A::Whole<P>: PlacedWith<InPointwise, Q, D, E>,
        D: Has<A::Dim>,
        A::Dim: DimOf<D>,
        Selected<D, A::Dim, E>: Distinct,
    {
        let (_, op, at) = (dim, "index_select", Location::caller());
        let (x, dim) = (self.local.to_dyn(), position::<A::Dim, D>());
        self.require_same_mesh(op, index)?;
        let by = index.local.to_dyn();
        let slices = match A::VIA {
            Some(axis) => {
                let place = &places::<Q>()[axis];
                self.split_dim(op, dim, axis, at)
                    .index_select(&x, &by, place)?
            }
            None => x.index_select(dim, &by)?,
        };
        Sharded::from_result(
            op,
            from_dyn(slices)?,
            self.mesh.clone(),
            &[index.operand(), self.operand()],
        )
    }
}
