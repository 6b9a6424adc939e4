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

use crate::frame::Frame;
use crate::sharded::{Sharded, number, typed};

impl<D: Dims + Distinct, P: Placement, T: Element> Sharded<D, P, T> {
    fn converted<Q: Placement<Mesh = P::Mesh>>(&self, raw: Raw) -> Result<Sharded<D, Q, T>> {
        Ok(Sharded {
            local: typed(raw)?,
            sizes: self.sizes.clone(),
            origin: self.origin,
            mesh: self.mesh.clone(),
        })
    }

    fn by<Q: Placement<Mesh = P::Mesh>>(
        &self,
        convert: impl FnOnce(&Frame, &Raw) -> Result<Raw>,
    ) -> Result<Sharded<D, Q, T>> {
        self.converted(convert(&self.frame(), &self.raw())?)
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
        self.by(|frame, raw| frame.all_reduce("all_reduce", raw, number::<X>(), false, at))
    }

    /// Like [`all_reduce`](Self::all_reduce), for a result that all ranks use in the same way: its gradient is the same
    /// on all ranks, and the backward pass sends nothing.
    ///
    /// # Errors
    /// If a rank is gone or makes another call, or memory is missing.
    #[twin]
    pub fn try_sync<X: Reduces<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Synced>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.all_reduce("sync", raw, number::<X>(), true, at))
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
        self.by(|frame, raw| frame.reduce_scatter(raw, number::<X>(), dim, at))
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
        self.by(|frame, raw| frame.all_gather(raw, number::<X>(), false, at))
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
        self.by(|frame, raw| frame.all_gather(raw, number::<X>(), true, at))
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
        self.by(|frame, raw| frame.all_to_all(raw, number::<X>(), dim, at))
    }

    /// Declares that ranks use a synced tensor in different ways: in the backward pass, the gradients of all ranks are
    /// summed. The forward pass sends nothing.
    ///
    /// # Errors
    /// If memory for a few words is missing.
    #[twin]
    pub fn try_whole<X: Unsyncs<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.whole(raw, number::<X>(), at))
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
        self.by(|frame, raw| frame.cut(raw, number::<X>(), dim, at))
    }

    /// Turns a replicated tensor into a pending sum: the first rank keeps the value, all others contribute zeros. Sends
    /// nothing.
    ///
    /// # Errors
    /// If memory is missing.
    #[twin]
    pub fn try_pend<X: Pends<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Pending>, T>> {
        let _ = axis;
        self.by(|frame, raw| frame.pend(raw, number::<X>()))
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
        let found = self.by(|frame, raw| frame.broadcast(raw, number::<X>(), rank, at))?;
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
        let (mut frame, mut raw) = (self.frame(), self.raw().detach());
        // The innermost axis of a dim is the last one that splits it.
        for axis in (0..frame.places.len()).rev() {
            use nomina_core::mesh::value::Place;
            raw = match frame.places[axis] {
                Place::Pending(_) => frame.all_reduce("collect", &raw, axis, false, at)?,
                Place::Split(_) => frame.all_gather(&raw, axis, false, at)?,
                Place::Whole | Place::Synced | Place::Own => continue,
            };
            frame = frame.with(axis, Place::Whole);
        }
        if self.mesh.is_first() {
            typed(raw).map(Some)
        } else {
            Ok(None)
        }
    }
}
