//! Placement rules by class of operator: the checks, and the result's placement.

use super::combine::{BySum, Combiner};
use super::fault::{Fine, NotSplitOver, NotSplitThereOver, SplitInsideOver, Verdict};
use super::index::{AxisIndex, Or};
use super::placement::{AxisOf, MeshAxis, Placement, Set, StateAt};
use super::state::{InProducts, Mode, State, Whole};
use crate::dims::{Accepted, Axes, AxesOf, Axis, Bool, DimList, Dims, FlattenArg, Rank};

/// The first fault along the axes, in order.
type First<V0, V1, V2, V3> =
    <V0 as Verdict>::Then<<V1 as Verdict>::Then<<V2 as Verdict>::Then<V3>>>;

/// The placement of the result of two operands: `x + y`, `x * y`.
pub type Joined<P, Q> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Join<<Q as Placement>::S0>,
    <<P as Placement>::S1 as State>::Join<<Q as Placement>::S1>,
    <<P as Placement>::S2 as State>::Join<<Q as Placement>::S2>,
    <<P as Placement>::S3 as State>::Join<<Q as Placement>::S3>,
>;

/// The placement after renaming the dims `F` to `T`.
pub type RenamedIn<P, F, T> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Renamed<F, T>,
    <<P as Placement>::S1 as State>::Renamed<F, T>,
    <<P as Placement>::S2 as State>::Renamed<F, T>,
    <<P as Placement>::S3 as State>::Renamed<F, T>,
>;

/// The placement after flattening the dims `L` to dim `Y`.
pub type FlattenedIn<P, L, Y> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Flattened<L, Y>,
    <<P as Placement>::S1 as State>::Flattened<L, Y>,
    <<P as Placement>::S2 as State>::Flattened<L, Y>,
    <<P as Placement>::S3 as State>::Flattened<L, Y>,
>;

/// The placement after each rank has combined the dims `L` by `R`.
pub type PendingOver<P, L, R> = <P as Placement>::Of<
    <<P as Placement>::S0 as State>::Across<L, R>,
    <<P as Placement>::S1 as State>::Across<L, R>,
    <<P as Placement>::S2 as State>::Across<L, R>,
    <<P as Placement>::S3 as State>::Across<L, R>,
>;

/// The dims of a reduction: those of the list `L`, or all of `D` if it is empty.
pub type Reduced<D, L> = <<<L as DimList>::Rank as Rank>::Is0 as Bool>::Dims<D, L>;

/// Writes a check: a trait with one impl, whose bound is on the first fault.
macro_rules! checks {
    ($(
        $(#[$doc:meta])*
        $name:ident<$($parameter:ident: $bound:path),*> $function:ident<$($argument:ident),*>, $message:literal;
    )*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "placement `{Self}` does not fit",
            note = "in generic code, add it as a bound"
        )]
        pub trait $name<$($parameter),*> {}
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
    /// Nothing is pending: a nonlinear operation is allowed.
    AllFinished<> Finished<>, "the operator is not linear, and takes no pending sum";
    /// Nothing but sums is pending: a linear operation is allowed.
    AllLinear<> Linear<>, "the only pending result here is a sum";
    /// Each rank has all of the dims `L`.
    HasWhole<L: Dims> HasAll<L>, "each rank needs all of dims {L}";
}

/// The check `V`, if the mesh has the axis.
type IfThere<X, V> = <<<X as MeshAxis>::Index as AxisIndex>::Exists as Bool>::Verdict<V, Fine>;

/// A gradient can start here: the number is pending or synced along each axis.
#[diagnostic::on_unimplemented(
    message = "no gradient can start at placement `{Self}`",
    label = "backward takes one number, not one per rank",
    note = "in generic code, add it as a bound"
)]
pub trait IsLoss {}
impl<P: Placement> IsLoss for P where
    First<
        IfThere<P::X0, <P::S0 as State>::IsLoss<P::X0>>,
        IfThere<P::X1, <P::S1 as State>::IsLoss<P::X1>>,
        IfThere<P::X2, <P::S2 as State>::IsLoss<P::X2>>,
        IfThere<P::X3, <P::S3 as State>::IsLoss<P::X3>>,
    >: Accepted<P, P>
{
}

/// Each rank has all values: the tensor is whole or synced along every axis.
#[diagnostic::on_unimplemented(
    message = "placement `{Self}` does not give each rank all values",
    label = "split, pending or own along an axis",
    note = "in generic code, add it as a bound"
)]
pub trait HasAllValues {}
impl<P: Placement> HasAllValues for P where
    First<
        <P::S0 as State>::HasValues<P::X0>,
        <P::S1 as State>::HasValues<P::X1>,
        <P::S2 as State>::HasValues<P::X2>,
        <P::S3 as State>::HasValues<P::X3>,
    >: Accepted<P, P>
{
}

/// The first fault between two placements.
type BesideVerdict<M, P, Q, D, E> = First<
    <<P as Placement>::S0 as State>::Beside<M, <Q as Placement>::S0, <P as Placement>::X0, D, E>,
    <<P as Placement>::S1 as State>::Beside<M, <Q as Placement>::S1, <P as Placement>::X1, D, E>,
    <<P as Placement>::S2 as State>::Beside<M, <Q as Placement>::S2, <P as Placement>::X2, D, E>,
    <<P as Placement>::S3 as State>::Beside<M, <Q as Placement>::S3, <P as Placement>::X3, D, E>,
>;

/// A tensor of dims `D` in this placement can be combined with one of dims `E` in placement `Q`.
#[diagnostic::on_unimplemented(
    message = "placements `{Self}` and `{Q}` do not fit",
    label = "placements of dims {D} and dims {E}",
    note = "in generic code, add it as a bound"
)]
pub trait PlacedWith<M, Q, D, E> {}
impl<M: Mode, P: Placement, Q: Placement<Mesh = P::Mesh>, D: Dims, E: Dims> PlacedWith<M, Q, D, E>
    for P
where
    BesideVerdict<M, P, Q, D, E>: Accepted<P, Q>,
{
}

/// A tensor in this placement can be combined with a number.
#[diagnostic::on_unimplemented(
    message = "placement `{Self}` does not combine with a number",
    label = "a number would count once per rank",
    note = "in generic code, add it as a bound"
)]
pub trait PlacedWithNumber<M> {}
impl<M: Mode, P: Placement> PlacedWithNumber<M> for P where
    First<
        M::WithNumber<P::S0, P::X0>,
        M::WithNumber<P::S1, P::X1>,
        M::WithNumber<P::S2, P::X2>,
        M::WithNumber<P::S3, P::X3>,
    >: Accepted<P, P>
{
}

/// Whether one of the dims `L` is split over an axis.
type SplitsSome<P, L> = Or<
    Or<<<P as Placement>::S0 as State>::SplitsIn<L>, <<P as Placement>::S1 as State>::SplitsIn<L>>,
    Or<<<P as Placement>::S2 as State>::SplitsIn<L>, <<P as Placement>::S3 as State>::SplitsIn<L>>,
>;

/// No fault if one of the dims `L` is split in `P` or in `Q`.
type SomeSplit<P, Q, L> = <Or<SplitsSome<P, L>, SplitsSome<Q, L>> as Bool>::Verdict<
    Fine,
    NotSplitOver<<P as Placement>::X0, <L as DimList>::At0>,
>;

/// The check for two states of a product over dims `L`: both have all of them.
type AllOfTwo<A, B, X, L> =
    <<A as State>::HasAll<L, X> as Verdict>::Then<<B as State>::HasAll<L, X>>;

/// The check for two states of a product over dims `L`: both split them, or neither does.
type AcrossTwo<A, B, X, L> =
    <<Or<<A as State>::SplitsIn<L>, <B as State>::SplitsIn<L>> as Bool>::And<
        <<<A as State>::SplitsIn<L> as Bool>::And<<B as State>::SplitsIn<L>> as Bool>::Not,
    > as Bool>::Verdict<<<A as State>::InOne<X> as Verdict>::Then<<B as State>::InOne<X>>, Fine>;

/// Dims over which the ranks have different parts. A result computed over them stays pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Across<A>(
    /// The dims.
    pub A,
);

/// Computes on each rank's part of split dims, and leaves the result pending: `x.sum(across(Batch))`.
#[must_use]
pub fn across<A: Axes>(dims: A) -> Across<A> {
    Across(dims)
}

/// The argument of a reduction: dims that each rank has all of, `keep` of them, or [`across`] of split ones.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dim",
    label = "expected a dim, a tuple of dims, `..`, or `across` of them"
)]
pub trait Over {
    /// The dims.
    type Axes: Axes;
    /// The placement of the result, with the combiner `R`.
    type Placed<P: Placement, D: Dims, R: Combiner>: Placement<Mesh = P::Mesh>;
    /// The fault of a reduction of a tensor of dims `D`.
    #[doc(hidden)]
    type Reduces<P: Placement, D: Dims>: Verdict;
    /// The fault of a product of two tensors summed over these dims.
    #[doc(hidden)]
    type Sums<P: Placement, Q: Placement>: Verdict;
    /// The placement of the second factor of a product when it is combined with the first.
    type Met<Q: Placement>: Placement<Mesh = Q::Mesh>;
    /// Returns the dims.
    fn axes(self) -> Self::Axes;
    /// Whether the dims are split, so that the result stays pending.
    const ACROSS: bool;
    /// The mesh axis along which the parts of the second factor are passed around, if any.
    const VIA: Option<usize>;
}

#[diagnostic::do_not_recommend]
impl<A: Axes> Over for A {
    type Axes = A;
    type Placed<P: Placement, D: Dims, R: Combiner> = PendingOver<P, (), R>;
    type Reduces<P: Placement, D: Dims> = First<
        <P::S0 as State>::HasAll<Reduced<D, A::List>, P::X0>,
        <P::S1 as State>::HasAll<Reduced<D, A::List>, P::X1>,
        <P::S2 as State>::HasAll<Reduced<D, A::List>, P::X2>,
        <P::S3 as State>::HasAll<Reduced<D, A::List>, P::X3>,
    >;
    type Sums<P: Placement, Q: Placement> = First<
        AllOfTwo<P::S0, Q::S0, P::X0, A::List>,
        AllOfTwo<P::S1, Q::S1, P::X1, A::List>,
        AllOfTwo<P::S2, Q::S2, P::X2, A::List>,
        AllOfTwo<P::S3, Q::S3, P::X3, A::List>,
    >;
    type Met<Q: Placement> = PendingOver<Q, (), BySum>;
    fn axes(self) -> A {
        self
    }
    const ACROSS: bool = false;
    const VIA: Option<usize> = None;
}

#[diagnostic::do_not_recommend]
impl<A: Axes> Over for Across<A> {
    type Axes = A;
    type Placed<P: Placement, D: Dims, R: Combiner> = PendingOver<P, Reduced<D, A::List>, R>;
    type Reduces<P: Placement, D: Dims> = SomeSplit<P, P, Reduced<D, A::List>>;
    type Sums<P: Placement, Q: Placement> = <SomeSplit<P, Q, A::List> as Verdict>::Then<
        First<
            AcrossTwo<P::S0, Q::S0, P::X0, A::List>,
            AcrossTwo<P::S1, Q::S1, P::X1, A::List>,
            AcrossTwo<P::S2, Q::S2, P::X2, A::List>,
            AcrossTwo<P::S3, Q::S3, P::X3, A::List>,
        >,
    >;
    type Met<Q: Placement> = PendingOver<Q, (), BySum>;
    fn axes(self) -> A {
        self.0
    }
    const ACROSS: bool = true;
    const VIA: Option<usize> = None;
}

/// The dims of a reduction fit the placement `P` of a tensor of dims `D`: each rank has all of plain dims, and one of
/// the dims within [`across`] is split.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not fit placement `{P}`",
    label = "expected a dim, a tuple of dims, `..`, or `across` of them"
)]
pub trait OverIn<P, D>: Over<Axes: AxesOf<D>> {}
impl<A: Over<Axes: AxesOf<D>>, P: Placement, D: Dims> OverIn<P, D> for A where
    A::Reduces<P, D>: Accepted<P, D>
{
}

/// A product over these dims is defined, of a tensor of dims `D` in placement `P` and one of dims `E` in placement `Q`:
/// each rank has all of plain dims, those within [`across`] are split in both, and in other dims the placements match.
#[diagnostic::on_unimplemented(
    message = "dims {Self} do not fit placements `{P}` and `{Q}`",
    label = "expected a dim, a tuple of dims, or `across` of them"
)]
pub trait OverBoth<P, Q, D, E>: Over {}
impl<A: Over, P: Placement, Q: Placement<Mesh = P::Mesh>, D: Dims, E: Dims> OverBoth<P, Q, D, E>
    for A
where
    <A::Sums<P, Q> as Verdict>::Then<BesideVerdict<InProducts, P, A::Met<Q>, D, E>>: Accepted<P, Q>,
{
}

/// The placement of a product of two tensors summed over `A`.
pub type ProductPlaced<P, Q, A> =
    <A as Over>::Placed<Joined<P, <A as Over>::Met<Q>>, <<A as Over>::Axes as Axes>::List, BySum>;

/// The fault that dim `N` of `P` is split by an axis inside of `X`.
type Inside<P, X, N> = <<<X as MeshAxis>::Index as AxisIndex>::SplitInside<P, N> as Bool>::Verdict<
    SplitInsideOver<X, N>,
    Fine,
>;

/// The dim that axis `X` splits; no dim if it splits none.
type DimAt<P, X> = <<StateAt<P, X> as State>::Dim as DimList>::At0;

/// The dims can be flattened in placement `P`: only the first may be split.
#[diagnostic::on_unimplemented(
    message = "a split dim must be the first of merged dims {Self}",
    label = "placement `{P}` does not fit",
    note = "in generic code, add it as a bound"
)]
pub trait FlattensIn<P>: FlattenArg {}
impl<P: Placement, F: FlattenArg> FlattensIn<P> for F where
    First<
        <P::S0 as State>::SplitsFirst<F::List, FirstOf<F>, P::X0>,
        <P::S1 as State>::SplitsFirst<F::List, FirstOf<F>, P::X1>,
        <P::S2 as State>::SplitsFirst<F::List, FirstOf<F>, P::X2>,
        <P::S3 as State>::SplitsFirst<F::List, FirstOf<F>, P::X3>,
    >: Accepted<P, P>
{
}
type FirstOf<F> = (<<F as FlattenArg>::List as DimList>::At0,);

/// Writes the checks of conversions along an axis `X`, to or by dim `N`.
macro_rules! conversions {
    ($($(#[$doc:meta])* $name:ident<P $(, $n:ident)*> $first:ident $([$inside:ty])*, $message:literal;)*) => {$(
        $(#[$doc])*
        #[diagnostic::on_unimplemented(
            message = $message,
            label = "placement `{P}` does not fit",
            note = "in generic code, add it as a bound"
        )]
        pub trait $name<P $(, $n)*>: AxisOf<P> {}
        impl<P: Placement, X: AxisOf<P> $(, $n: Axis)*> $name<P $(, $n)*> for X where
            conversions!(@ <StateAt<P, X> as State>::$first<X>; $($inside;)*): Accepted<P, X>
        {
        }
    )*};
    (@ $verdict:ty;) => { $verdict };
    (@ $verdict:ty; $inside:ty; $($more:ty;)*) => {
        <$verdict as Verdict>::Then<conversions!(@ $inside; $($more;)*)>
    };
}
conversions! {
    /// A value is pending along the axis: `all_reduce` and `sync`.
    Reduces<P> IsPending, "no sum is pending over mesh axis `{Self}`";
    /// A value is pending along the axis, and dim `N` may be split there: `reduce_scatter`.
    Scatters<P, N> IsPending [Inside<P, X, N>], "no sum is pending over mesh axis `{Self}`";
    /// A dim is split along the axis, and by no axis inside of it: `all_gather`.
    Gathers<P> IsSplit [Inside<P, X, DimAt<P, X>>], "no dim is split over mesh axis `{Self}`";
    /// A dim is split along the axis, and dim `N` may be split there: `all_to_all`.
    Exchanges<P, N> IsSplit [Inside<P, X, DimAt<P, X>>] [Inside<P, X, N>], "no dim is split over mesh axis `{Self}`";
    /// Each rank has the whole along the axis, and dim `N` may be split there: `cut`.
    Cuts<P, N> IsWhole [Inside<P, X, N>], "the tensor is not whole along mesh axis `{Self}`";
    /// Each rank has the whole along the axis, and uses it differently: `pend`.
    Pends<P> IsPlain, "the tensor is not whole along mesh axis `{Self}`";
    /// Each rank has the whole along the axis: an optimizer whose state is split there can step it.
    StepsAlong<P> IsWhole, "the tensor is not whole along mesh axis `{Self}`";
    /// The tensor is synced along the axis: `whole`.
    Unsyncs<P> IsSynced, "the tensor is not synced over mesh axis `{Self}`";
    /// Each rank has its own along the axis: `broadcast`.
    Broadcasts<P> IsOwn, "the tensor is not each rank's own along mesh axis `{Self}`";
}

/// Axis `X` splits dim `N`, and no other axis does: the check of `N.via(X)`.
pub type SplitsBy<P, X, N> = <<<StateAt<P, X> as State>::Splits<N> as Bool>::Verdict<
    Fine,
    NotSplitThereOver<X, N>,
> as Verdict>::Then<HasEveryVerdict<Set<P, X, Whole>, (N,)>>;

/// The check of dims that an operator needs whole.
pub type HasEveryVerdict<P, L> = First<
    <<P as Placement>::S0 as State>::HasEvery<L, <P as Placement>::X0>,
    <<P as Placement>::S1 as State>::HasEvery<L, <P as Placement>::X1>,
    <<P as Placement>::S2 as State>::HasEvery<L, <P as Placement>::X2>,
    <<P as Placement>::S3 as State>::HasEvery<L, <P as Placement>::X3>,
>;
