//! Conversions between placements: the only calls of operators on pieces that communicate, and all that there are.

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

    /// Finishes what is pending over axis `axis`: each rank then has the whole value. A rank sends twice its piece's bytes, less
    /// a part. The gradient is reduced alike.
    ///
    /// # Errors
    /// When a rank is gone, or is about to do something else; when memory is missing.
    #[twin]
    pub fn try_all_reduce<X: Reduces<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.all_reduce("all_reduce", raw, number::<X>(), false, at))
    }

    /// As [`all_reduce`](Self::all_reduce), for what all ranks then use alike: its gradient is the same on all of them, and
    /// nothing is sent going back.
    ///
    /// # Errors
    /// As there.
    #[twin]
    pub fn try_sync<X: Reduces<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Synced>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.all_reduce("sync", raw, number::<X>(), true, at))
    }

    /// Finishes what is pending over axis `axis`: each rank then has its part of dim `dim`. A rank sends its piece's bytes, less
    /// a part. The gradient is gathered.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
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

    /// Puts the parts of the dim that is split over axis `axis` together: each rank then has all of it. A rank sends its piece to
    /// all others. The gradient is reduced, and each rank gets its part.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
    #[twin]
    pub fn try_all_gather<X: Gathers<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.all_gather(raw, number::<X>(), false, at))
    }

    /// As [`all_gather`](Self::all_gather), for what all ranks then use alike: of its gradient, which is the same on all of them,
    /// each takes its part.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
    #[twin]
    pub fn try_all_gather_synced<X: Gathers<P>>(
        &self,
        axis: X,
    ) -> Result<Sharded<D, Set<P, X, Synced>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.all_gather(raw, number::<X>(), true, at))
    }

    /// Splits over axis `axis` by dim `dim`, and no longer by the dim that is split there now. A rank sends its piece, less a part.
    /// The gradient goes back by the same exchange.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
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

    /// What is synced over axis `axis`, for something that each rank does otherwise: going back, the gradients of all ranks are
    /// summed. Sends nothing forward.
    ///
    /// # Errors
    /// When memory for a few words is short.
    #[twin]
    pub fn try_whole<X: Unsyncs<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        self.by(|frame, raw| frame.whole(raw, number::<X>(), at))
    }

    /// Splits over axis `axis` by dim `dim` what each rank has all of: each keeps its part. Sends nothing; the gradient of what
    /// was synced is gathered.
    ///
    /// # Errors
    /// When memory for a few words is short.
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

    /// What each rank has whole, as a pending sum: the first rank's is the value, all others add zeros. Sends nothing.
    ///
    /// # Errors
    /// When memory is missing.
    #[twin]
    pub fn try_pend<X: Pends<P>>(&self, axis: X) -> Result<Sharded<D, Set<P, X, Pending>, T>> {
        let _ = axis;
        self.by(|frame, raw| frame.pend(raw, number::<X>()))
    }

    /// What rank `rank` of axis `axis` has for its own, on all of its ranks. The gradients are summed, and come to that rank.
    ///
    /// # Errors
    /// When the axis has no such rank; as [`all_reduce`](Self::all_reduce).
    #[twin]
    pub fn try_broadcast<X: Broadcasts<P>>(
        &self,
        axis: X,
        rank: usize,
    ) -> Result<Sharded<D, Set<P, X, Whole>, T>> {
        let (_, at) = (axis, Location::caller());
        let found = self.by(|frame, raw| frame.broadcast(raw, number::<X>(), rank, at))?;
        // The ranks may have come by what they had for themselves in ways of their own.
        let origin = self.mesh.shared.origin(at);
        Ok(Sharded { origin, ..found })
    }

    /// What each rank has, as its own along axis `axis`: from then on nothing is known of how the pieces go together. Sends nothing.
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

    /// The whole tensor, on the first rank along all axes; none elsewhere. Whatever is split is gathered, whatever is pending
    /// reduced, on all ranks on the way. Of own pieces the first rank's is taken.
    ///
    /// # Errors
    /// As [`all_reduce`](Self::all_reduce).
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
        match self.mesh.is_first() {
            true => typed(raw).map(Some),
            false => Ok(None),
        }
    }
}
