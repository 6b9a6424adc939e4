//! Names in types.
//!
//! A tensor's dims are a tuple of markers, `(N, C)`. Each relation has a module, with functions
//! that compute the result's dims and cannot fail (`Sum<D, E>`, `Without<D, A>`), and traits that
//! only check (`D: Broadcast<E>`, `D: Has<X>`). So one mistake causes a single error at the user's line, and
//! everything after it keeps its type.
//!
//! | operation | its dims | its check |
//! |---|---|---|
//! | `x + y` | [`Sum`] | [`Broadcast`] |
//! | `x += y` | | [`Absorbs`] |
//! | `out` | | [`Holds`] of the result's |
//! | `sum`, `select` | [`Without`] | [`In`] or [`Has`] |
//! | `align_to` | [`Aligned`] | [`Order`] |
//! | `align_as` | the other's | [`AlignInto`] |
//! | `rename` | [`Renamed`] | [`Rename`] |
//! | `transpose`, `t` | [`Transposed`], [`Flipped`] | [`Has`], [`Flat`] |
//! | `refine_names` | [`Refined`] | [`Refine`] |
//! | `to_dims`, `into_dims` | the wanted ones | [`SpelledAs`] |
//! | `flatten`, `unflatten` | [`Flattened`], [`Unflattened`] | [`Flatten`], [`Unflatten`] |
//! | `flatten_others` | [`Inserted`] of those that stay | [`FlattenOthers`] |
//! | `unflatten_as` | the other's | [`UnflattenAs`] |
//! | `index_select`, `embedding` | [`Selected`], [`Embedded`] | [`IndexOf`], [`EmbedIn`] |
//! | `at` | of each [`Subscript`] | [`SubscriptOf`] |
//! | `stack`, `unsqueeze` | [`Inserted`] | [`Insert`] |
//! | `diagonal`, `unfold` | [`Appended`] | [`Append`] |
//! | `expand` | [`Expanded`] | [`Expand`] |
//! | `repeat`, `tile` | | [`Repeats`] |
//! | `searchsorted` | the values' | [`Sequences`] |
//! | `contract` | [`Contracted`] | [`Contract`] |
//! | convolution, pools, `pad` | [`Convolved`] | [`SpatialOf`], [`WeightFor`] |
//! | `einsum!` | its result's, [`Aligned`] with [`Others`] | [`Has`], [`ListedBy`], [`OfOperand`] |
//! | `cdist` | [`Distances`] | [`RowsBeside`] |
//! | attention | [`Attended`] | [`Attend`] |
//! | `matmul` and the like | [`Product`] | [`MatMul`], [`Matrix`], [`Vector`], [`Batched`] |
//! | `inv`, `pinv` | [`Inverse`] | [`MatrixOf`] |
//! | `solve`, `lstsq` | [`Solved`] | [`RightSideOf`] |
//! | `qr`, `svd`, `eigh` | [`LeftFactor`], [`Spectrum`], [`RightFactor`] | [`Append`] |
//! | factories | | [`ShapeFor`], [`ArrayFor`], [`Distinct`] |

/// Calls a macro with a list of type parameters for each rank.
macro_rules! each_rank {
    ($each:ident) => {
        $each!();
        $each!(A0);
        $each!(A0 A1);
        $each!(A0 A1 A2);
        $each!(A0 A1 A2 A3);
        $each!(A0 A1 A2 A3 A4);
        $each!(A0 A1 A2 A3 A4 A5);
        $each!(A0 A1 A2 A3 A4 A5 A6);
        $each!(A0 A1 A2 A3 A4 A5 A6 A7);
    };
}

mod align;
mod apart;
mod array;
mod at;
mod attend;
mod axis;
mod broadcast;
mod contract;
#[allow(clippy::module_inception)]
mod dims;
mod distinct;
mod einsum;
mod expand;
mod flatten;
#[rustfmt::skip]
mod generated;
mod axes;
mod flatten_others;
pub mod head;
pub mod id;
mod index;
mod insert;
mod labels;
mod last;
mod matmul;
mod matrix;
mod multiply;
mod place;
mod places;
mod prime;
mod refine;
mod rename;
mod repeat;
mod search;
mod shape;
mod single;
mod size;
mod verdict;
mod window;

pub use align::{
    AlignInto, AlignTarget, Aligned, Around, EachPlaced, Exact, HasPlace, OneRest, OneRestIn,
    Order, OrderItem, OrderOf, OrderSpec, OrderState, OrderedBy, TwoRests,
};
pub use apart::{Apart, FirstRepeat, Items, ListOfNames, NoneTwice, ToldNone};
pub use array::ArrayFor;
pub use at::{At, Step, Subscript, SubscriptOf, SubscriptRange, SubscriptView, Unstepped};
pub use attend::{
    AtLeast2Dims, Attend, Attended, Beside, Distances, Inner, InnerWith, Joined, Linear,
    RowsBeside, ScoresOf,
};
pub use axes::{
    Axes, AxesOf, DimOf, EachIn, Has, HasOrLacks, In, Keep, LastOf, Lists, NotBehindWild, Replaced,
    Searched, Without, keep,
};
pub use axis::{
    Alike, Axis, AxisFn, Dim, Kind, LeftIsWild, Mismatch, Named, NoDim, Of, OneDim, Pairing,
    RightIsWild, Unnamed, Wild,
};
pub use broadcast::{
    Absorbs, Broadcast, BroadcastWith, DtypeRule, ExpandInto, Holds, HoldsInPlace, Sum,
};
pub use contract::{
    ByName, Contract, ContractOver, ContractTo, Contracted, FullyNamed, TensorDot, Tensordotted,
};
pub use dims::{DimList, DimTuple, Dims, MoreThan8Dims, Rank, TooMany};
pub use distinct::{
    AtMost8, AtMost8Unless, Deferred, Distinct, DistinctUnless, Fresh, FreshDim, ShortUnless,
    StandsOnce, ToldNew, ToldOnce,
};
pub use einsum::{DimLists, EinsumNamed, ListedBy, NoneLeft, OfOperand, Others};
pub use expand::{Expand, ExpandArg, Expanded};
pub use flatten::{
    Adjacent, Adjoins, Flatten, FlattenArg, FlattenIn, Flattened, Follows, Successor, Unflatten,
    UnflattenIn, Unflattened,
};
pub use flatten_others::{FlattenOthers, StayByName, UnflattenAs};
pub use id::{Bool, False, IsTrue, Reflexive, Same, True};
pub use index::{
    EmbedIn, Embedded, EmbedsAt, IndexOf, IndexedAt, IndexedBy, Selected, ToldIndexed,
};
pub use insert::{Append, Appended, Insert, Inserted, TakesFirst, TakesLast};
pub use labels::{HasLabels, Label, LabelType, LabelValue, Metric, Text};
pub use last::LastDim;
pub use matmul::{
    AtLeast1Dim, Batched, Factor, MatMul, MatMulOn, Matrix, Product, TimesRight, Vector,
    ZeroDimBeside,
};
pub use matrix::{
    Inverse, LeftFactor, MatrixOf, RightFactor, RightSideOf, RowsAndColumns, Solved, Spectrum,
};
pub use multiply::{
    MultiplyTo, MultiplyToIf, Product1, Product2, Product3, Product4, Product5, Product6, Product7,
    Product8,
};
pub use place::{
    BehindWild, Decided, IsThere, NoWild, Nowhere, Place, Place0, Place1, Place2, Place3, Place4,
    Place5, Place6, Place7, SearchFor, Several, Sought, Stands,
};
pub use places::{Places, Positions, places, position, positions};
pub use prime::{AllPrimes, Primable, Prime, PrimeEach, PrimeIn, PrimedDims};
pub use refine::{Refine, RefineInto, Refined, SpelledAs};
pub use rename::{
    All, DropNames, Flat, Flipped, Forget, Mapping, OldDims, Rename, RenameArg, RenameIn, Renamed,
    SameRankAs, Transposed,
};
pub use repeat::Repeats;
pub use search::Sequences;
pub use shape::{Constant, Shape, ShapeFor, SizedDim, Sizes, SizesFor};
pub use single::OneOrAll;
pub use size::{Admits, AnySize, CanBe, CanEqual, DimSize, Fixed, Meets, Open, Resizable, SizeOf};
pub use verdict::*;
pub use window::{
    Convolved, Count, EachResizable, EveryName, Kernel, KernelOf, KernelRank, OutChannel, SizesOf,
    SlidesAlong, SpatialOf, WeightFor, WeightRank,
};
