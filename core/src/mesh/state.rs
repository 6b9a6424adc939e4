//! The states of a tensor along one axis of a mesh.

use core::marker::PhantomData;

use super::combine::{BySum, Combiner};
use super::fault::{
    BothPendingOver, Fine, IsSplitOver, IsSplitViaOver, LossIsWholeOver, NotAllValuesOver,
    NothingOwnOver, NothingPendingOver, NothingSplitOver, NothingSyncedOver, NothingWholeOver,
    OwnBesideOver, PendingBesideSplitOver, PendingBesideWholeOver, SplitApartOver, SplitBehindOver,
    SplitBesideWholeOver, SplitInOneOver, StillPendingOver, SyncedBesideOver, Verdict,
};
use super::placement::MeshAxis;
use super::value::StaticPlace;
use crate::dims::{Axis, Bool, DimList, Dims, False, OldDims, Same};

/// The state of a tensor along one axis of a mesh: how the ranks' pieces relate to it. The functions are total; a
/// function that returns a [`Verdict`] is a check.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a state of a tensor along a mesh axis",
    label = "expected `Whole`, `Synced`, `Split<N>`, `Pending` or `Own`"
)]
pub trait State: Send + Sync + 'static {
    /// The state of the gradient.
    type Dual: State;
    /// The state of the result of operands in this state and `B`, if they can be combined.
    type Join<B: State>: State;
    /// The state after renaming the dims `F` to `T`.
    type Renamed<F: OldDims, T: Dims>: State;
    /// The state after flattening the dims `L`, of which only the first may be split, to dim `Y`.
    type Flattened<L: Dims, Y: Axis>: State;
    /// The state after each rank has combined the dims `L` by `R`.
    type Across<L: Dims, R: Combiner>: State;
    /// Whether dim `N` is split.
    type Splits<N: Axis>: Bool;
    /// Whether one of the dims `L` is split.
    type SplitsIn<L: Dims>: Bool;

    /// Checks that a tensor with dims `D` in this state can be combined with one of dims `E` in state `B`.
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims>: Verdict;
    #[doc(hidden)]
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims>: Verdict;
    #[doc(hidden)]
    type BesideSynced<X: MeshAxis>: Verdict;
    #[doc(hidden)]
    type BesideSplit<M: Mode, N: Axis, X: MeshAxis, E: Dims>: Verdict;
    #[doc(hidden)]
    type BesidePending<M: Mode, R: Combiner, X: MeshAxis>: Verdict;
    #[doc(hidden)]
    type BesideOwn<X: MeshAxis>: Verdict;

    /// Checks that a nonlinear operation is allowed.
    type Finished<X: MeshAxis>: Verdict;
    /// Checks that a linear operation is allowed.
    type Linear<X: MeshAxis>: Verdict;
    /// Checks that each rank has all of the dims `L`.
    type HasAll<L: Dims, X: MeshAxis>: Verdict;
    /// Like [`HasAll`](Self::HasAll), for an operator that has a form with `via`.
    type HasEvery<L: Dims, X: MeshAxis>: Verdict;
    /// Checks that only the first of the dims `L`, which are to be flattened, is split; `F` is the first one.
    type SplitsFirst<L: Dims, F: Dims, X: MeshAxis>: Verdict;
    /// The fault of a dim that is split here and whole in the other operand; no fault if no dim is split.
    #[doc(hidden)]
    type InOne<X: MeshAxis>: Verdict;
    /// Checks that each rank has all values.
    type HasValues<X: MeshAxis>: Verdict;
    /// Checks that the state is [`Pending`].
    type IsPending<X: MeshAxis>: Verdict;
    /// Checks that a dim is split.
    type IsSplit<X: MeshAxis>: Verdict;
    /// Checks that the state is [`Whole`] or [`Synced`].
    type IsWhole<X: MeshAxis>: Verdict;
    /// Checks that the state is [`Whole`].
    type IsPlain<X: MeshAxis>: Verdict;
    /// Checks that the state is [`Synced`].
    type IsSynced<X: MeshAxis>: Verdict;
    /// Checks that the state is [`Own`].
    type IsOwn<X: MeshAxis>: Verdict;
    /// Checks that a gradient may start here: one number, counted once for all ranks.
    type IsLoss<X: MeshAxis>: Verdict;

    /// The split dim; no dim in the other states.
    type Dim: Dims;
    /// The state as a value.
    const PLACE: StaticPlace;
}

/// A class of operators, by the pending operands they accept.
pub trait Mode: 'static {
    /// A whole left operand and a pending right one.
    type WholeAndPending<R: Combiner, X: MeshAxis>: Verdict;
    /// A pending left operand and a whole right one.
    type PendingAndWhole<R: Combiner, X: MeshAxis>: Verdict;
    /// A pending operand and one split by dim `N`, in either order.
    type SplitAndPending<X: MeshAxis, N: Axis>: Verdict;
    /// Two pending sums.
    type PendingTwice<R: Combiner, Q: Combiner, X: MeshAxis>: Verdict;
    /// An operand in state `S` and a number.
    type WithNumber<S: State, X: MeshAxis>: Verdict;
    /// This mode by value.
    const MODE: super::value::Mode;
}

macro_rules! modes {
    ($(
        $(#[$doc:meta])*
        $name:ident $mode:ident $whole:ty, $pending:ty, $split:ty, $twice:ty, $number:ident;
    )*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Mode for $name {
            type WholeAndPending<R: Combiner, X: MeshAxis> = $whole;
            type PendingAndWhole<R: Combiner, X: MeshAxis> = $pending;
            type SplitAndPending<X: MeshAxis, N: Axis> = $split;
            type PendingTwice<R: Combiner, Q: Combiner, X: MeshAxis> = $twice;
            type WithNumber<S: State, X: MeshAxis> = S::$number<X>;
            const MODE: super::value::Mode = super::value::Mode::$mode;
        }
    )*};
}
modes! {
    /// The sum of two operands: the sum of two pending sums is pending.
    InSums SumOfTwo
        PendingBesideWholeOver<X>, PendingBesideWholeOver<X>, PendingBesideSplitOver<X, N>,
        <R::Linear<X> as Verdict>::Then<Q::Linear<X>>, Finished;
    /// The product of two operands: one may be pending.
    InProducts ProductOfTwo
        R::Linear<X>, R::Linear<X>, PendingBesideSplitOver<X, N>, BothPendingOver<X>, Linear;
    /// The quotient of two operands: the dividend may be pending.
    InQuotients QuotientOfTwo
        StillPendingOver<X>, R::Linear<X>, PendingBesideSplitOver<X, N>, StillPendingOver<X>, Linear;
    /// Any other operator with two or more operands.
    InPointwise Pointwise
        StillPendingOver<X>, StillPendingOver<X>, StillPendingOver<X>, StillPendingOver<X>, Finished;
}

/// Equal pieces: each rank has all of the tensor, and uses its own differently.
#[derive(Clone, Copy, Debug)]
pub enum Whole {}

/// Equal pieces that all ranks use equally, so that their gradients are equal, too.
#[derive(Clone, Copy, Debug)]
pub enum Synced {}

/// Pieces that are consecutive along dim `N`, in rank order.
#[derive(Clone, Copy, Debug)]
pub struct Split<N>(PhantomData<N>);

/// Pieces whose combination by `R` is the value.
#[derive(Clone, Copy, Debug)]
pub struct Pending<R = BySum>(PhantomData<R>);

/// Unrelated pieces: a rank's own results.
#[derive(Clone, Copy, Debug)]
pub enum Own {}

type If<B, V, W> = <B as Bool>::Verdict<V, W>;

/// The part common to all states except [`Split`].
macro_rules! unsplit {
    () => {
        type Across<L: Dims, Q: Combiner> = Self;
        type Renamed<F: OldDims, T: Dims> = Self;
        type Flattened<L: Dims, Y: Axis> = Self;
        type Splits<N: Axis> = False;
        type SplitsIn<L: Dims> = False;
        type HasAll<L: Dims, X: MeshAxis> = Fine;
        type HasEvery<L: Dims, X: MeshAxis> = Fine;
        type SplitsFirst<L: Dims, F: Dims, X: MeshAxis> = Fine;
        type InOne<X: MeshAxis> = Fine;
        type IsSplit<X: MeshAxis> = NothingSplitOver<X>;
        type Dim = ();
    };
}

#[diagnostic::do_not_recommend]
impl State for Whole {
    unsplit!();
    type Dual = Pending;
    type Join<B: State> = B;
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims> = B::BesideWhole<M, X, D>;
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims> = Fine;
    type BesideSynced<X: MeshAxis> = SyncedBesideOver<X>;
    type BesideSplit<M: Mode, N: Axis, X: MeshAxis, E: Dims> =
        If<E::Contains<N>, SplitBesideWholeOver<X, N>, Fine>;
    type BesidePending<M: Mode, R: Combiner, X: MeshAxis> = M::PendingAndWhole<R, X>;
    type BesideOwn<X: MeshAxis> = OwnBesideOver<X>;
    type Finished<X: MeshAxis> = Fine;
    type Linear<X: MeshAxis> = Fine;
    type HasValues<X: MeshAxis> = Fine;
    type IsPending<X: MeshAxis> = NothingPendingOver<X>;
    type IsWhole<X: MeshAxis> = Fine;
    type IsPlain<X: MeshAxis> = Fine;
    type IsSynced<X: MeshAxis> = NothingSyncedOver<X>;
    type IsOwn<X: MeshAxis> = NothingOwnOver<X>;
    type IsLoss<X: MeshAxis> = LossIsWholeOver<X>;
    const PLACE: StaticPlace = StaticPlace::Whole;
}

#[diagnostic::do_not_recommend]
impl State for Synced {
    unsplit!();
    type Dual = Self;
    type Join<B: State> = Self;
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims> = B::BesideSynced<X>;
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims> = SyncedBesideOver<X>;
    type BesideSynced<X: MeshAxis> = Fine;
    type BesideSplit<M: Mode, N: Axis, X: MeshAxis, E: Dims> = SyncedBesideOver<X>;
    type BesidePending<M: Mode, R: Combiner, X: MeshAxis> = SyncedBesideOver<X>;
    type BesideOwn<X: MeshAxis> = OwnBesideOver<X>;
    type Finished<X: MeshAxis> = Fine;
    type Linear<X: MeshAxis> = Fine;
    type HasValues<X: MeshAxis> = Fine;
    type IsPending<X: MeshAxis> = NothingPendingOver<X>;
    type IsWhole<X: MeshAxis> = Fine;
    type IsPlain<X: MeshAxis> = NothingWholeOver<X>;
    type IsSynced<X: MeshAxis> = Fine;
    type IsOwn<X: MeshAxis> = NothingOwnOver<X>;
    type IsLoss<X: MeshAxis> = Fine;
    const PLACE: StaticPlace = StaticPlace::Synced;
}

#[diagnostic::do_not_recommend]
impl<N: Axis> State for Split<N> {
    type Dual = Self;
    type Join<B: State> = Self;
    type Renamed<F: OldDims, T: Dims> = Split<<F::Renamed<(N,), T> as DimList>::At0>;
    type Flattened<L: Dims, Y: Axis> = <L::Contains<N> as Bool>::State<Split<Y>, Self>;
    type Across<L: Dims, R: Combiner> = <L::Contains<N> as Bool>::State<Pending<R>, Self>;
    type Splits<K: Axis> = Same<N, K>;
    type SplitsIn<L: Dims> = L::Contains<N>;
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims> = B::BesideSplit<M, N, X, E>;
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims> =
        If<D::Contains<N>, SplitBesideWholeOver<X, N>, Fine>;
    type BesideSynced<X: MeshAxis> = SyncedBesideOver<X>;
    type BesideSplit<M: Mode, K: Axis, X: MeshAxis, E: Dims> =
        If<Same<N, K>, Fine, SplitApartOver<X, K, N>>;
    type BesidePending<M: Mode, R: Combiner, X: MeshAxis> = M::SplitAndPending<X, N>;
    type BesideOwn<X: MeshAxis> = OwnBesideOver<X>;
    type Finished<X: MeshAxis> = Fine;
    type Linear<X: MeshAxis> = Fine;
    type HasAll<L: Dims, X: MeshAxis> = If<L::Contains<N>, IsSplitOver<X, N>, Fine>;
    type HasEvery<L: Dims, X: MeshAxis> = If<L::Contains<N>, IsSplitViaOver<X, N>, Fine>;
    type SplitsFirst<L: Dims, F: Dims, X: MeshAxis> =
        If<L::Contains<N>, If<F::Contains<N>, Fine, SplitBehindOver<X, N>>, Fine>;
    type InOne<X: MeshAxis> = SplitInOneOver<X, N>;
    type HasValues<X: MeshAxis> = NotAllValuesOver<X>;
    type IsPending<X: MeshAxis> = NothingPendingOver<X>;
    type IsSplit<X: MeshAxis> = Fine;
    type IsWhole<X: MeshAxis> = NothingWholeOver<X>;
    type IsPlain<X: MeshAxis> = NothingWholeOver<X>;
    type IsSynced<X: MeshAxis> = NothingSyncedOver<X>;
    type IsOwn<X: MeshAxis> = NothingOwnOver<X>;
    type IsLoss<X: MeshAxis> = IsSplitOver<X, N>;
    type Dim = (N,);
    const PLACE: StaticPlace = StaticPlace::Split(N::NAME);
}

#[diagnostic::do_not_recommend]
impl<R: Combiner> State for Pending<R> {
    unsplit!();
    type Dual = Whole;
    type Join<B: State> = Self;
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims> = B::BesidePending<M, R, X>;
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims> = M::WholeAndPending<R, X>;
    type BesideSynced<X: MeshAxis> = SyncedBesideOver<X>;
    type BesideSplit<M: Mode, N: Axis, X: MeshAxis, E: Dims> = M::SplitAndPending<X, N>;
    type BesidePending<M: Mode, Q: Combiner, X: MeshAxis> = M::PendingTwice<Q, R, X>;
    type BesideOwn<X: MeshAxis> = OwnBesideOver<X>;
    type Finished<X: MeshAxis> = StillPendingOver<X>;
    type Linear<X: MeshAxis> = R::Linear<X>;
    type HasValues<X: MeshAxis> = NotAllValuesOver<X>;
    type IsPending<X: MeshAxis> = Fine;
    type IsWhole<X: MeshAxis> = NothingWholeOver<X>;
    type IsPlain<X: MeshAxis> = NothingWholeOver<X>;
    type IsSynced<X: MeshAxis> = NothingSyncedOver<X>;
    type IsOwn<X: MeshAxis> = NothingOwnOver<X>;
    type IsLoss<X: MeshAxis> = R::Linear<X>;
    const PLACE: StaticPlace = StaticPlace::Pending(R::COMBINE);
}

#[diagnostic::do_not_recommend]
impl State for Own {
    unsplit!();
    type Dual = Self;
    type Join<B: State> = Self;
    type Beside<M: Mode, B: State, X: MeshAxis, D: Dims, E: Dims> = B::BesideOwn<X>;
    type BesideWhole<M: Mode, X: MeshAxis, D: Dims> = OwnBesideOver<X>;
    type BesideSynced<X: MeshAxis> = OwnBesideOver<X>;
    type BesideSplit<M: Mode, N: Axis, X: MeshAxis, E: Dims> = OwnBesideOver<X>;
    type BesidePending<M: Mode, R: Combiner, X: MeshAxis> = OwnBesideOver<X>;
    type BesideOwn<X: MeshAxis> = Fine;
    type Finished<X: MeshAxis> = Fine;
    type Linear<X: MeshAxis> = Fine;
    type HasValues<X: MeshAxis> = NotAllValuesOver<X>;
    type IsPending<X: MeshAxis> = NothingPendingOver<X>;
    type IsWhole<X: MeshAxis> = NothingWholeOver<X>;
    type IsPlain<X: MeshAxis> = NothingWholeOver<X>;
    type IsSynced<X: MeshAxis> = NothingSyncedOver<X>;
    type IsOwn<X: MeshAxis> = Fine;
    type IsLoss<X: MeshAxis> = OwnBesideOver<X>;
    const PLACE: StaticPlace = StaticPlace::Own;
}
