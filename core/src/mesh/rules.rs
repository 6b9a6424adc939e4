//! What operators ask of placements, by class, and what they give.

use super::combine::{Add, Combiner};
use super::fault::{Fine, NotSplit, NotSplitOver, SplitInside, Verdict};
use super::index::AxisIndex;
use super::placement::{MeshAxis, Placement, Set, StateAt};
use super::state::{Mode, ProductOfTwo, Split, State};
use crate::dims::{Accepted, Axes, AxesOf, Axis, Bool, DimList, Dims, Rank};

/// The first thing that is wrong along the axes, from the first on.
type First<V0, V1, V2, V3> =
    <V0 as Verdict>::Then<<V1 as Verdict>::Then<<V2 as Verdict>::Then<V3>>>;

/// The placement of a result of two: `x + y`, `x * y`.
pub type Joined<P, Q> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Join<<Q as Placement>::S0>,
    <<P as Placement>::S1 as State>::Join<<Q as Placement>::S1>,
    <<P as Placement>::S2 as State>::Join<<Q as Placement>::S2>,
    <<P as Placement>::S3 as State>::Join<<Q as Placement>::S3>,
>;

/// The placement where the dims `F` become the dims `T`.
pub type RenamedIn<P, F, T> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Renamed<F, T>,
    <<P as Placement>::S1 as State>::Renamed<F, T>,
    <<P as Placement>::S2 as State>::Renamed<F, T>,
    <<P as Placement>::S3 as State>::Renamed<F, T>,
>;

/// The placement where the dims `L` become dim `Y`.
pub type FlattenedIn<P, L, Y> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Flattened<L, Y>,
    <<P as Placement>::S1 as State>::Flattened<L, Y>,
    <<P as Placement>::S2 as State>::Flattened<L, Y>,
    <<P as Placement>::S3 as State>::Flattened<L, Y>,
>;

/// The placement where the dims `L` were combined by `R` on each rank.
pub type PendingOver<P, L, R> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Across<L, R>,
    <<P as Placement>::S1 as State>::Across<L, R>,
    <<P as Placement>::S2 as State>::Across<L, R>,
    <<P as Placement>::S3 as State>::Across<L, R>,
>;

/// The dims that are combined: those of the list `L`, all of `D` where it has none.
pub type Reduced<D, L> = <<<L as DimList>::Rank as Rank>::Is0 as Bool>::Dims<D, L>;

/// Writes a check: a trait with one impl, which asks for the first thing that is wrong.
macro_rules! checks {
    ($(
        $(#[$doc:meta])*
        $name:ident<$($parameter:ident: $bound:path),*> $function:ident<$($argument:ident),*>, $message:literal;
    )*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "placement `{Self}` does not fit",
            note = "generic code asks for it in a bound"
        )]
        pub trait $name<$($parameter),*> {}
        #[diagnostic::do_not_recommend]
        impl<P: Placement $(, $parameter: $bound)*> $name<$($parameter),*> for P
        where
            First<
                <P::S0 as State>::$function<$($argument,)* P::X0>,
                <P::S1 as State>::$function<$($argument,)* P::X1>,
                <P::S2 as State>::$function<$($argument,)* P::X2>,
                <P::S3 as State>::$function<$($argument,)* P::X3>,
            >: Accepted<P, P>,
        {
        }
    )*};
}

checks! {
    /// Nothing is pending: what is not linear may be done.
    AllFinished<> Finished<>, "the operator is not linear, and takes no pending sum";
    /// Nothing is pending but sums: what is linear may be done.
    AllLinear<> Linear<>, "the operator takes no pending result but a sum";
    /// Each rank has all of the dims `L`.
    HasWhole<L: Dims> HasAll<L>, "each rank needs all of dims {L}";
    /// Each rank has all of the dims `L`, of an operator that has a form with `via`.
    HasWholeOrVia<L: Dims> HasEvery<L>, "each rank needs all of dims {L}";
    /// Among the dims `L`, which become one, the split one comes first.
    FlattensSplit<L: Dims, F: Dims> SplitsFirst<L, F>, "a split dim comes first among dims {L}";
}

/// What is asked of a state along an axis that a mesh has.
type IfThere<X, V> = <<<X as MeshAxis>::Index as AxisIndex>::Exists as Bool>::Verdict<V, Fine>;

/// A gradient may start here: the number is pending or synced along each axis.
#[diagnostic::on_unimplemented(
    message = "no gradient can start at placement `{Self}`",
    label = "one number goes back, not one for each rank",
    note = "generic code asks for it in a bound"
)]
pub trait IsLoss {}
#[diagnostic::do_not_recommend]
impl<P: Placement> IsLoss for P where
    First<
        IfThere<P::X0, <P::S0 as State>::IsLoss<P::X0>>,
        IfThere<P::X1, <P::S1 as State>::IsLoss<P::X1>>,
        IfThere<P::X2, <P::S2 as State>::IsLoss<P::X2>>,
        IfThere<P::X3, <P::S3 as State>::IsLoss<P::X3>>,
    >: Accepted<P, P>
{
}

/// The first thing that is wrong between two placements.
type BesideVerdict<M, P, Q, D, E> = First<
    <<P as Placement>::S0 as State>::Beside<M, <Q as Placement>::S0, <P as Placement>::X0, D, E>,
    <<P as Placement>::S1 as State>::Beside<M, <Q as Placement>::S1, <P as Placement>::X1, D, E>,
    <<P as Placement>::S2 as State>::Beside<M, <Q as Placement>::S2, <P as Placement>::X2, D, E>,
    <<P as Placement>::S3 as State>::Beside<M, <Q as Placement>::S3, <P as Placement>::X3, D, E>,
>;

/// A tensor of dims `D` in this placement goes with one of dims `E` in placement `Q`.
#[diagnostic::on_unimplemented(
    message = "placements `{Self}` and `{Q}` do not fit",
    label = "placements of dims {D} and dims {E}",
    note = "generic code asks for it in a bound"
)]
pub trait PlacedWith<M, Q, D, E> {}
#[diagnostic::do_not_recommend]
impl<M: Mode, P: Placement, Q: Placement<Mesh = P::Mesh>, D: Dims, E: Dims> PlacedWith<M, Q, D, E>
    for P
where
    BesideVerdict<M, P, Q, D, E>: Accepted<P, Q>,
{
}

/// A tensor in this placement goes with a number.
#[diagnostic::on_unimplemented(
    message = "placement `{Self}` does not go with a number here",
    label = "a number counts once for each rank",
    note = "generic code asks for it in a bound"
)]
pub trait PlacedWithNumber<M> {}
#[diagnostic::do_not_recommend]
impl<M: Mode, P: Placement> PlacedWithNumber<M> for P where
    First<
        M::WithNumber<P::S0, P::X0>,
        M::WithNumber<P::S1, P::X1>,
        M::WithNumber<P::S2, P::X2>,
        M::WithNumber<P::S3, P::X3>,
    >: Accepted<P, P>
{
}

type Or<A, B> = <A as Bool>::Or<B>;
type SplitsSome<P, L> = Or<
    Or<<<P as Placement>::S0 as State>::SplitsIn<L>, <<P as Placement>::S1 as State>::SplitsIn<L>>,
    Or<<<P as Placement>::S2 as State>::SplitsIn<L>, <<P as Placement>::S3 as State>::SplitsIn<L>>,
>;

/// One of the dims `L` is split over an axis: `across` of them leaves something pending.
#[diagnostic::on_unimplemented(
    message = "dims {L} are not split over any mesh axis",
    label = "nothing to sum across: leave `across` out"
)]
pub trait SplitsOneOf<L> {}
#[diagnostic::do_not_recommend]
impl<P: Placement, L: Dims> SplitsOneOf<L> for P where
    <SplitsSome<P, L> as Bool>::Verdict<Fine, NotSplit<P::X0, L::At0>>: Accepted<P, L>
{
}

/// Two states of a product over dims `L` that are split.
type AcrossTwo<A, B, X, L> =
    <<Or<<A as State>::SplitsIn<L>, <B as State>::SplitsIn<L>> as Bool>::And<
        <<<A as State>::SplitsIn<L> as Bool>::And<<B as State>::SplitsIn<L>> as Bool>::Not,
    > as Bool>::Verdict<<<A as State>::InOne<X> as Verdict>::Then<<B as State>::InOne<X>>, Fine>;

/// The dims `L`, over which a product is summed, are split in both placements or in none, along each axis.
#[diagnostic::on_unimplemented(
    message = "dims {L} are not split alike in placements `{Self}` and `{Q}`",
    label = "a part of one would meet all of the other"
)]
pub trait SplitsBoth<Q, L> {}
#[diagnostic::do_not_recommend]
impl<P: Placement, Q: Placement<Mesh = P::Mesh>, L: Dims> SplitsBoth<Q, L> for P where
    First<
        AcrossTwo<P::S0, Q::S0, P::X0, L>,
        AcrossTwo<P::S1, Q::S1, P::X1, L>,
        AcrossTwo<P::S2, Q::S2, P::X2, L>,
        AcrossTwo<P::S3, Q::S3, P::X3, L>,
    >: Accepted<P, Q>
{
}

/// A dim, or dims, over which the ranks have different parts: what is computed over them stays pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Across<A>(
    /// The dims.
    pub A,
);

/// Works on each rank's part of split dims, and leaves the result pending: `x.sum(across(Batch))`.
#[must_use]
pub fn across<A: Axes>(dims: A) -> Across<A> {
    Across(dims)
}

/// What a reduction takes: dims that each rank has all of, `keep` of them, or [`across`] of split ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, a tuple of dims, `..`, or `across` of them"
)]
pub trait Over {
    /// The dims.
    type Axes: Axes;
    /// The placement of the result, of the combiner `R`.
    type Placed<P: Placement, D: Dims, R: Combiner>: Placement<Mesh = P::Mesh>;
    /// The dims.
    fn axes(self) -> Self::Axes;
    /// Whether they are split.
    const ACROSS: bool;
}

#[diagnostic::do_not_recommend]
impl<A: Axes> Over for A {
    type Axes = A;
    type Placed<P: Placement, D: Dims, R: Combiner> = PendingOver<P, (), R>;
    fn axes(self) -> A {
        self
    }
    const ACROSS: bool = false;
}

#[diagnostic::do_not_recommend]
impl<A: Axes> Over for Across<A> {
    type Axes = A;
    type Placed<P: Placement, D: Dims, R: Combiner> = PendingOver<P, Reduced<D, A::List>, R>;
    fn axes(self) -> A {
        self.0
    }
    const ACROSS: bool = true;
}

/// The dims of a reduction fit the placement `P` of a tensor of dims `D`: each rank has all of plain dims, and one of those
/// within [`across`] is split.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not fit placement `{P}`",
    label = "expected a dim, a tuple of dims, `..`, or `across` of them"
)]
pub trait OverIn<P, D>: Over<Axes: AxesOf<D>> {}
#[diagnostic::do_not_recommend]
impl<A: AxesOf<D>, P: HasWhole<Reduced<D, A::List>>, D: Dims> OverIn<P, D> for A {}
#[diagnostic::do_not_recommend]
impl<A: AxesOf<D>, P: SplitsOneOf<Reduced<D, A::List>>, D: Dims> OverIn<P, D> for Across<A> {}

/// As [`OverIn`], for a product that is summed over dims of two tensors.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not fit placements `{P}` and `{Q}`",
    label = "expected a dim, a tuple of dims, or `across` of them"
)]
pub trait OverBoth<P, Q>: Over {}
#[diagnostic::do_not_recommend]
impl<A: Axes, P: HasWhole<A::List>, Q: HasWhole<A::List>> OverBoth<P, Q> for A {}
#[diagnostic::do_not_recommend]
impl<A: Axes, P, Q> OverBoth<P, Q> for Across<A> where
    P: Placement + SplitsOneOf<A::List> + SplitsBoth<Q, A::List>
{
}

/// The placement of a product of two that is summed over `A`.
pub type ProductPlaced<P, Q, A> =
    <A as Over>::Placed<Joined<P, Q>, <<A as Over>::Axes as Axes>::List, Add>;

/// Two placements go together in a product.
pub trait PlacedForProduct<Q, D, E>: PlacedWith<ProductOfTwo, Q, D, E> {}
impl<P: PlacedWith<ProductOfTwo, Q, D, E>, Q, D, E> PlacedForProduct<Q, D, E> for P {}

type InsideVerdict<P, X, N> =
    <<<X as MeshAxis>::Index as AxisIndex>::SplitInside<P, N> as Bool>::Verdict<
        SplitInside<X, N>,
        Fine,
    >;

/// Writes the checks of conversions along one axis.
macro_rules! conversions {
    ($($(#[$doc:meta])* $name:ident $function:ident, $message:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "placement `{Self}` does not fit",
            note = "generic code asks for it in a bound"
        )]
        pub trait $name<X> {}
        #[diagnostic::do_not_recommend]
        impl<P: Placement, X: MeshAxis> $name<X> for P where
            <StateAt<P, X> as State>::$function<X>: Accepted<P, X>
        {
        }
    )*};
}
conversions! {
    /// Something is pending along axis `X`.
    PendingAlong IsPending, "no sum is pending over mesh axis `{X}`";
    /// A dim is split along axis `X`.
    SplitAlong IsSplit, "no dim is split over mesh axis `{X}`";
    /// Each rank has all along axis `X`.
    WholeAlong IsWhole, "the tensor is not whole along mesh axis `{X}`";
    /// The tensor is synced along axis `X`.
    SyncedAlong IsSynced, "the tensor is not synced over mesh axis `{X}`";
    /// Each rank has its own along axis `X`.
    OwnAlong IsOwn, "the tensor is not each rank's own along mesh axis `{X}`";
}

/// No axis inside of `X` splits dim `N` further.
#[diagnostic::on_unimplemented(
    message = "dim `{N}` is split further inside mesh axis `{X}`",
    label = "only the innermost axis of a dim can be converted"
)]
pub trait InnermostFor<X, N> {}
#[diagnostic::do_not_recommend]
impl<P: Placement, X: MeshAxis, N: Axis> InnermostFor<X, N> for P where
    InsideVerdict<P, X, N>: Accepted<P, X>
{
}

/// No axis inside of `X` splits further what `X` splits.
#[diagnostic::on_unimplemented(
    message = "the dim of mesh axis `{X}` is split further",
    label = "only the innermost axis of a dim can be converted"
)]
pub trait Innermost<X> {}
#[diagnostic::do_not_recommend]
impl<P: Placement, X: MeshAxis> Innermost<X> for P where
    InsideVerdict<P, X, <<StateAt<P, X> as State>::Dim as DimList>::At0>: Accepted<P, X>
{
}

/// `P` with dim `N` split along axis `X`.
pub type SplitBy<P, X, N> = Set<P, X, Split<N>>;

/// Axis `X` splits dim `N`: what `N.via(X)` asks.
#[diagnostic::on_unimplemented(
    message = "dim `{N}` is not split over mesh axis `{X}`",
    label = "each rank has all of it there: leave `via` out"
)]
pub trait SplitsBy<X, N> {}
#[diagnostic::do_not_recommend]
impl<P: Placement, X: MeshAxis, N: Axis> SplitsBy<X, N> for P where
    <<StateAt<P, X> as State>::Splits<N> as Bool>::Verdict<Fine, NotSplitOver<X, N>>:
        Accepted<P, X>
{
}
