//! Conversions between placements: the explicit collectives.

use std::panic::Location;

use nomina::dims::{Dim, Dims, Distinct, Has, position};
use nomina::{Element, Result, Tensor};
use nomina_core::mesh::{
    AxisOf, Broadcasts, Cuts, Exchanges, Gathers, Own, Pending, Pends, Placement, Reduces,
    Scatters, Set, Split, Synced, Unsyncs, Whole,
};
use nomina_macros::twin;
use nomina_runtime::Raw;

use crate::metadata::Metadata;
use crate::sharded::{Sharded, axis_index, typed};

impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    fn with_local<Q: Placement<Mesh = P::Mesh>>(&self, raw: Raw) -> Result<Sharded<D, Q, T>> {
        Ok(Sharded {
            local: typed(raw)?,
            sizes: self.sizes.clone(),
            origin: self.origin,
            mesh: self.mesh.clone(),
        })
    }

    fn convert<Q: Placement<Mesh = P::Mesh>>(
        &self,
        convert: impl FnOnce(&Metadata, &Raw) -> Result<Raw>,
    ) -> Result<Sharded<D, Q, T>> {
        self.with_local(convert(&self.metadata(), &self.raw())?)
    }

    /// Reduces pending values over axis `axis`: each rank then has the whole value. A rank sends twice its piece's
    /// bytes, less a part. The gradient is all-reduced, too.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_all_reduce<X: Reduces<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.convert(|metadata, raw| {
            metadata.all_reduce("all_reduce", raw, axis_index::<X>(), false, at)
        })
    }

    /// Like [`all_reduce`](Self::all_reduce), for a result that all ranks use in the same way: its gradient is the same
    /// on all ranks, and the backward pass sends nothing.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_sync<X: Reduces<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Synced>, T>> {
        let (_, at) = (axis, Location::caller());
        self.convert(|metadata, raw| metadata.all_reduce("sync", raw, axis_index::<X>(), true, at))
    }

    /// Reduces pending values over axis `axis`: each rank then has its part of dim `dim`. A rank sends its piece's
    /// bytes, less a part. The gradient is all-gathered.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_reduce_scatter<X: Scatters<P, N>, N: Dim>(
        &self,
        axis: X,
        dim: N,
    ) -> Result<Sharded<D, Set<P, X, Split<N>>, T>>
    where
        D: Has<N>,
    {
        let (_, _, at) = (axis, dim, Location::caller());
        let dim = position::<N, D>();
        self.convert(|metadata, raw| metadata.reduce_scatter(raw, axis_index::<X>(), dim, at))
    }

    /// Gathers the parts of the dim that is split over axis `axis`: each rank then has all of it. A rank sends its
    /// piece to all others. The gradient is reduce-scattered.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_all_gather<X: Gathers<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.convert(|metadata, raw| metadata.all_gather(raw, axis_index::<X>(), false, at))
    }

    /// Like [`all_gather`](Self::all_gather), for a result that all ranks use in the same way: its gradient is the same
    /// on all ranks, and each takes its part.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_all_gather_synced<X: Gathers<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Synced>, T>> {
        let (_, at) = (axis, Location::caller());
        self.convert(|metadata, raw| metadata.all_gather(raw, axis_index::<X>(), true, at))
    }

    /// Splits dim `dim` over axis `axis` instead of the dim that is split now. A rank sends its piece, less a part. The
    /// gradient goes back by the same exchange.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_all_to_all<X: Exchanges<P, N>, N: Dim>(
        &self,
        axis: X,
        dim: N,
    ) -> Result<Sharded<D, Set<P, X, Split<N>>, T>>
    where
        D: Has<N>,
    {
        let (_, _, at) = (axis, dim, Location::caller());
        let dim = position::<N, D>();
        self.convert(|metadata, raw| metadata.all_to_all(raw, axis_index::<X>(), dim, at))
    }

    /// Declares that ranks use a synced tensor in different ways: in the backward pass, the gradients of all ranks are
    /// summed. The forward pass sends nothing.
    ///
    /// # Errors
    /// If memory for a few words is missing.
    #[twin]
    pub fn try_whole<X: Unsyncs<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.convert(|metadata, raw| metadata.whole(raw, axis_index::<X>(), at))
    }

    /// Splits a replicated tensor over axis `axis` by dim `dim`: each rank keeps its part. Sends nothing; the gradient
    /// of a synced tensor is all-gathered.
    ///
    /// # Errors
    /// If memory for a few words is missing.
    #[twin]
    pub fn try_cut<X: Cuts<P, N>, N: Dim>(
        &self,
        axis: X,
        dim: N,
    ) -> Result<Sharded<D, Set<P, X, Split<N>>, T>>
    where
        D: Has<N>,
    {
        let (_, _, at) = (axis, dim, Location::caller());
        let dim = position::<N, D>();
        self.convert(|metadata, raw| metadata.cut(raw, axis_index::<X>(), dim, at))
    }

    /// Turns a replicated tensor into a pending sum: the first rank keeps the value, all others contribute zeros. Sends
    /// nothing.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_pend<X: Pends<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Pending>, T>> {
        let _ = axis;
        self.convert(|metadata, raw| metadata.pend(raw, axis_index::<X>()))
    }

    /// Sends the piece of rank `rank` to all ranks of axis `axis`. The gradients are summed on that rank.
    ///
    /// # Errors
    /// If the axis has no such rank, a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_broadcast<X: Broadcasts<P>>(
        &self,
        axis: X,
        rank: usize,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        let found =
            self.convert(|metadata, raw| metadata.broadcast(raw, axis_index::<X>(), rank, at))?;
        // The local tensors may have different origins on different ranks.
        let origin = self.mesh.shared.origin(at);
        Ok(Sharded { origin, ..found })
    }

    /// Makes the pieces local to each rank along axis `axis`: their relation is no longer known. Sends nothing.
    #[must_use]
    pub fn own<X: AxisOf<P>>(&self, axis: X) -> Sharded<D, Set<P, X, Own>, T> {
        let _ = axis;
        Sharded {
            local: self.local.clone(),
            sizes: self.local.shape().to_vec(),
            origin: self.origin,
            mesh: self.mesh.clone(),
        }
    }

    /// Collects the whole tensor on the first rank along all axes; `None` elsewhere. Split dims are gathered and
    /// pending values reduced on all ranks on the way. Of local pieces, the first rank's is taken.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_collect(&self) -> Result<Option<Tensor<D, T>>> {
        let at = Location::caller();
        let (mut metadata, mut raw) = (self.metadata(), self.raw().detach());
        // The innermost axis of a dim is the last one that splits it.
        for axis in (0..metadata.places.len()).rev() {
            use nomina_core::mesh::value::Place;
            raw = match metadata.places[axis] {
                Place::Pending(_) => metadata.all_reduce("collect", &raw, axis, false, at)?,
                Place::Split(_) => metadata.all_gather(&raw, axis, false, at)?,
                Place::Whole | Place::Synced | Place::Own => continue,
            };
            metadata = metadata.with_place(axis, Place::Whole);
        }
        if self.mesh.is_first() {
            typed(raw).map(Some)
        } else {
            Ok(None)
        }
    }
}
