//! Lists of dims: their structure, and total functions on them.

use super::align::EachPlaced;
use super::apart::FirstRepeat;
use super::axis::{Axis, NoDim};
use super::broadcast::{BroadcastWith, Holds, HoldsInPlace};
use super::id::{Bool, False, True};
use super::labels::LabelType;
use super::place::{Nowhere, Place, SearchFor};
use super::rename::Mapping;
use crate::{Alike, PromotionRule};

/// The dims of a tensor: a tuple of up to 8 markers, `(N, C)`, `(C,)` or `()`.
///
/// This is only structure; [`Distinct`](super::Distinct) checks that no name is repeated, where names enter or meet.
/// The bounds that `x + x` needs are implied: a list broadcasts with itself, to itself. For `x / x.sum(..)`, it also
/// broadcasts with no dims, to itself.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dims",
    label = "expected a tuple of at most 8 dims",
    note = "write a tuple of dims from `dims!`: `(N, C)`, `(C,)` for one dim, `()` for none"
)]
pub trait Dims: DimTuple {}
impl<D: DimTuple> Dims for D {}

/// [`Dims`], implemented rank by rank.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a list of dims",
    label = "expected a tuple of at most 8 dims",
    note = "write a tuple of dims from `dims!`: `(N, C)`, `(C,)` for one dim, `()` for none"
)]
pub trait DimTuple
where
    // Supertraits, written below the line that rustc quotes.
    Self: DimList<Sum<Self> = Self, Rule<Self> = Alike, SameRank<Self> = True>
        + DimList<Sum<()> = Self, Under0 = Self, After<()> = Self>
        + HoldsInPlace<Self>
        + BroadcastWith<Self>
        + BroadcastWith<()>
        + Holds<Self>
        + Sized
        + Send
        + Sync
        + 'static,
{
    /// The number of dims.
    const RANK: usize;
    /// The names; `None` for [`Wild`](super::Wild).
    const NAMES: &'static [Option<&'static str>];
    /// The constant sizes; `None` for a dim of any size.
    const SIZES: &'static [Option<usize>];
    /// The types of labels; `None` for a dim without labels.
    const LABELS: &'static [Option<LabelType>];
    /// Whether a name is unknown to rustc.
    const HAS_WILD: bool;
}

/// Functions on lists of dims. Each is total: it is defined also if the operation that uses it is wrong, so that a
/// mistake causes a single error and later expressions keep their types.
pub trait DimList {
    /// This list followed by `X`.
    type Push<X: Axis>: Dims;
    /// `L` followed by this list.
    type After<L: Dims>: Dims;
    /// The list without its first dim.
    type Tail: Dims;
    /// The list without its last dim.
    type Init: Dims;
    /// `D` without its first dims, whose number is the rank of this list.
    type SkipIn<D: Dims>: Dims;
    /// `D` without its last dims, whose number is the rank of this list.
    type CutIn<D: Dims>: Dims;
    /// The place of the dim with the name of `X`.
    type Find<X: Axis>: Place;
    /// The place of the dim with the name of `X`, if it is there; compares heads only.
    type Seek<X: Axis>: Place;
    /// The place of the dim with the name of `X`; compares whole names, symbol by symbol.
    #[doc(hidden)]
    type Scan<X: Axis>: Place;
    /// Whether a dim has the name of `X`.
    type Contains<X: Axis>: Bool;
    /// The first dim that is repeated.
    type Repeated: Axis;
    /// The first dim that is also in `D`.
    type FirstIn<D: Dims>: Axis;
    /// Whether `E` has the same rank.
    type SameRank<E: Dims>: Bool;
    /// Whether this list and `E` together have at most 8 dims.
    type Fits<E: Dims>: Bool;
    /// The number of dims.
    type Rank: Rank;
    /// Whether rustc knows every name.
    type AllNamed: Bool;
    /// The list without the dim `X`.
    type Remove<X: Axis>: Dims;
    /// The list without the dims of `O`.
    type Minus<O: Dims>: Dims;
    /// The list without the dim `X`, which may be missing.
    type Discard<X: Axis>: Dims;
    /// `D` without the dims of this list. Like `Minus`, but for short lists, whose dims are searched in `D`.
    type TakenFrom<D: Dims>: Dims;
    /// The list with each dim replaced.
    type Map<M: Mapping>: Dims;
    /// The list with `X` replaced by the dims `E`.
    type Splice<X: Axis, E: Dims>: Dims;
    /// Two dims in reverse order; other lists unchanged.
    type Flipped: Dims;
    /// For matmul: all dims except the last two.
    type Batch: Dims;
    /// For matmul on the left: the second to last dim.
    type Row: Dims;
    /// For matmul on the right: the last dim.
    type Col: Dims;
    /// The dim that matmul contracts on the left.
    type InnerLeft: Axis;
    /// The dim that matmul contracts on the right.
    type InnerRight: Axis;
    /// The dims of an elementwise result.
    type Sum<E: DimList>: Dims;
    /// The operand whose dtype decides: a zero-dim tensor's gives way.
    type Rule<E: Dims>: PromotionRule;
    #[doc(hidden)]
    type RuleBesideNone: PromotionRule;
    #[doc(hidden)]
    type RuleBesideSome: PromotionRule;
    #[doc(hidden)]
    type Under0: Dims;
    #[doc(hidden)]
    type Under1<A: Axis>: Dims;
    #[doc(hidden)]
    type Under2<A: Axis, B: Axis>: Dims;
    #[doc(hidden)]
    type Under3<A: Axis, B: Axis, C: Axis>: Dims;
    #[doc(hidden)]
    type Under4<A: Axis, B: Axis, C: Axis, D: Axis>: Dims;
    #[doc(hidden)]
    type Under5<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis>: Dims;
    #[doc(hidden)]
    type Under6<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis>: Dims;
    #[doc(hidden)]
    type Under7<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis>: Dims;
    #[doc(hidden)]
    type Under8<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis, H: Axis>: Dims;
    #[doc(hidden)]
    type At0: Axis;
    #[doc(hidden)]
    type At1: Axis;
    #[doc(hidden)]
    type At2: Axis;
    #[doc(hidden)]
    type At3: Axis;
    #[doc(hidden)]
    type At4: Axis;
    #[doc(hidden)]
    type At5: Axis;
    #[doc(hidden)]
    type At6: Axis;
    #[doc(hidden)]
    type At7: Axis;
    #[doc(hidden)]
    type Remove0: Dims;
    #[doc(hidden)]
    type Set0<X: Axis>: Dims;
    #[doc(hidden)]
    type Until0: Dims;
    #[doc(hidden)]
    type Remove1: Dims;
    #[doc(hidden)]
    type Set1<X: Axis>: Dims;
    #[doc(hidden)]
    type Until1: Dims;
    #[doc(hidden)]
    type Remove2: Dims;
    #[doc(hidden)]
    type Set2<X: Axis>: Dims;
    #[doc(hidden)]
    type Until2: Dims;
    #[doc(hidden)]
    type Remove3: Dims;
    #[doc(hidden)]
    type Set3<X: Axis>: Dims;
    #[doc(hidden)]
    type Until3: Dims;
    #[doc(hidden)]
    type Remove4: Dims;
    #[doc(hidden)]
    type Set4<X: Axis>: Dims;
    #[doc(hidden)]
    type Until4: Dims;
    #[doc(hidden)]
    type Remove5: Dims;
    #[doc(hidden)]
    type Set5<X: Axis>: Dims;
    #[doc(hidden)]
    type Until5: Dims;
    #[doc(hidden)]
    type Remove6: Dims;
    #[doc(hidden)]
    type Set6<X: Axis>: Dims;
    #[doc(hidden)]
    type Until6: Dims;
    #[doc(hidden)]
    type Remove7: Dims;
    #[doc(hidden)]
    type Set7<X: Axis>: Dims;
    #[doc(hidden)]
    type Until7: Dims;
    #[doc(hidden)]
    type Place0: Place;
    #[doc(hidden)]
    type Place1: Place;
    #[doc(hidden)]
    type Place2: Place;
    #[doc(hidden)]
    type Place3: Place;
    #[doc(hidden)]
    type Place4: Place;
    #[doc(hidden)]
    type Place5: Place;
    #[doc(hidden)]
    type Place6: Place;
    #[doc(hidden)]
    type Place7: Place;
    #[doc(hidden)]
    type From0: Dims;
    #[doc(hidden)]
    type From1: Dims;
    #[doc(hidden)]
    type From2: Dims;
    #[doc(hidden)]
    type From3: Dims;
    #[doc(hidden)]
    type From4: Dims;
    #[doc(hidden)]
    type From5: Dims;
    #[doc(hidden)]
    type From6: Dims;
    #[doc(hidden)]
    type From7: Dims;
    #[doc(hidden)]
    type From8: Dims;
    #[doc(hidden)]
    type Push1<A: Axis>: Dims;
    #[doc(hidden)]
    type Push2<A: Axis, B: Axis>: Dims;
    #[doc(hidden)]
    type Push3<A: Axis, B: Axis, C: Axis>: Dims;
    #[doc(hidden)]
    type Push4<A: Axis, B: Axis, C: Axis, D: Axis>: Dims;
    #[doc(hidden)]
    type Push5<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis>: Dims;
    #[doc(hidden)]
    type Push6<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis>: Dims;
    #[doc(hidden)]
    type Push7<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis>: Dims;
    #[doc(hidden)]
    type Push8<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis, H: Axis>: Dims;
}

/// A number of dims, with comparisons against small numbers.
pub trait Rank: 'static {
    #[doc(hidden)]
    type Is0: Bool;
    #[doc(hidden)]
    type Is1: Bool;
    #[doc(hidden)]
    type Is2: Bool;
    #[doc(hidden)]
    type Is3: Bool;
    #[doc(hidden)]
    type Is4: Bool;
    #[doc(hidden)]
    type Is5: Bool;
    #[doc(hidden)]
    type Is6: Bool;
    #[doc(hidden)]
    type Is7: Bool;
    #[doc(hidden)]
    type Is8: Bool;
    #[doc(hidden)]
    type IsMore: Bool;
    #[doc(hidden)]
    type UpTo0: Bool;
    #[doc(hidden)]
    type UpTo1: Bool;
    #[doc(hidden)]
    type UpTo2: Bool;
    #[doc(hidden)]
    type UpTo3: Bool;
    #[doc(hidden)]
    type UpTo4: Bool;
    #[doc(hidden)]
    type UpTo5: Bool;
    #[doc(hidden)]
    type UpTo6: Bool;
    #[doc(hidden)]
    type UpTo7: Bool;
    #[doc(hidden)]
    type UpTo8: Bool;
}

/// The result of a function that would need a ninth dim. [`Distinct`](super::Distinct) and the checks of operations
/// that add dims refuse it. Its rank is 9 by convention.
#[derive(Clone, Copy, Debug)]
pub enum MoreThan8Dims {}

/// The rank of [`MoreThan8Dims`].
#[derive(Clone, Copy, Debug)]
pub enum TooMany {}

impl Rank for TooMany {
    type Is0 = False;
    type Is1 = False;
    type Is2 = False;
    type Is3 = False;
    type Is4 = False;
    type Is5 = False;
    type Is6 = False;
    type Is7 = False;
    type Is8 = False;
    type IsMore = True;
    type UpTo0 = False;
    type UpTo1 = False;
    type UpTo2 = False;
    type UpTo3 = False;
    type UpTo4 = False;
    type UpTo5 = False;
    type UpTo6 = False;
    type UpTo7 = False;
    type UpTo8 = False;
}

impl BroadcastWith<MoreThan8Dims> for MoreThan8Dims {}
impl BroadcastWith<()> for MoreThan8Dims {}
#[diagnostic::do_not_recommend]
impl Holds<MoreThan8Dims> for MoreThan8Dims {}
impl<T> EachPlaced<T> for MoreThan8Dims {}

#[diagnostic::do_not_recommend]
impl DimTuple for MoreThan8Dims {
    const RANK: usize = 9;
    const NAMES: &'static [Option<&'static str>] = &[];
    const SIZES: &'static [Option<usize>] = &[];
    const LABELS: &'static [Option<LabelType>] = &[];
    const HAS_WILD: bool = false;
}

impl<X> SearchFor<X> for MoreThan8Dims {
    type At = Nowhere;
}

impl FirstRepeat for MoreThan8Dims {
    type Twice = NoDim;
}

impl DimList for MoreThan8Dims {
    type Push<X: Axis> = Self;
    type After<L: Dims> = Self;
    type Tail = Self;
    type Init = Self;
    type SkipIn<D: Dims> = Self;
    type CutIn<D: Dims> = Self;
    type Find<X: Axis> = Nowhere;
    type Seek<X: Axis> = Nowhere;
    type Scan<X: Axis> = Nowhere;
    type Contains<X: Axis> = False;
    type Repeated = NoDim;
    type FirstIn<D: Dims> = NoDim;
    type SameRank<E: Dims> = <E::Rank as Rank>::IsMore;
    type Fits<E: Dims> = False;
    type Rank = TooMany;
    type AllNamed = False;
    type Remove<X: Axis> = Self;
    type Minus<O: Dims> = Self;
    type Discard<X: Axis> = Self;
    type TakenFrom<D: Dims> = D;
    type Map<M: Mapping> = Self;
    type Splice<X: Axis, E: Dims> = Self;
    type Flipped = Self;
    type Batch = ();
    type Row = ();
    type Col = ();
    type InnerLeft = NoDim;
    type InnerRight = NoDim;
    type Sum<E: DimList> = Self;
    type Rule<E: Dims> = Alike;
    type RuleBesideNone = Alike;
    type RuleBesideSome = Alike;
    type Under0 = Self;
    type Under1<A: Axis> = Self;
    type Under2<A: Axis, B: Axis> = Self;
    type Under3<A: Axis, B: Axis, C: Axis> = Self;
    type Under4<A: Axis, B: Axis, C: Axis, D: Axis> = Self;
    type Under5<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis> = Self;
    type Under6<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis> = Self;
    type Under7<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis> = Self;
    type Under8<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis, H: Axis> = Self;
    type At0 = NoDim;
    type At1 = NoDim;
    type At2 = NoDim;
    type At3 = NoDim;
    type At4 = NoDim;
    type At5 = NoDim;
    type At6 = NoDim;
    type At7 = NoDim;
    type Remove0 = Self;
    type Set0<X: Axis> = Self;
    type Until0 = Self;
    type Remove1 = Self;
    type Set1<X: Axis> = Self;
    type Until1 = Self;
    type Remove2 = Self;
    type Set2<X: Axis> = Self;
    type Until2 = Self;
    type Remove3 = Self;
    type Set3<X: Axis> = Self;
    type Until3 = Self;
    type Remove4 = Self;
    type Set4<X: Axis> = Self;
    type Until4 = Self;
    type Remove5 = Self;
    type Set5<X: Axis> = Self;
    type Until5 = Self;
    type Remove6 = Self;
    type Set6<X: Axis> = Self;
    type Until6 = Self;
    type Remove7 = Self;
    type Set7<X: Axis> = Self;
    type Until7 = Self;
    type Place0 = Nowhere;
    type Place1 = Nowhere;
    type Place2 = Nowhere;
    type Place3 = Nowhere;
    type Place4 = Nowhere;
    type Place5 = Nowhere;
    type Place6 = Nowhere;
    type Place7 = Nowhere;
    type From0 = Self;
    type From1 = Self;
    type From2 = Self;
    type From3 = Self;
    type From4 = Self;
    type From5 = Self;
    type From6 = Self;
    type From7 = Self;
    type From8 = Self;
    type Push1<A: Axis> = Self;
    type Push2<A: Axis, B: Axis> = Self;
    type Push3<A: Axis, B: Axis, C: Axis> = Self;
    type Push4<A: Axis, B: Axis, C: Axis, D: Axis> = Self;
    type Push5<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis> = Self;
    type Push6<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis> = Self;
    type Push7<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis> = Self;
    type Push8<A: Axis, B: Axis, C: Axis, D: Axis, E: Axis, F: Axis, G: Axis, H: Axis> = Self;
}
