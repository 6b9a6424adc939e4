//! Faults of placements: each is a type, whose message rustc prints, and a value with the same words.

use alloc::string::String;
use core::marker::PhantomData;

use super::placement::MeshAxis;
use crate::dims::{Accepted, Axis, Outcome};

pub use crate::dims::Fine;

/// The outcome of a check of placements.
pub trait Verdict: Outcome {
    /// `Self` if it is a fault, else `V`.
    type Then<V: Verdict>: Verdict;
    /// The fault by value, with the mesh axis and the dims it refers to.
    const FAULT: Option<(Fault, &'static str, [&'static str; 2])>;
}

impl Verdict for Fine {
    type Then<V: Verdict> = V;
    const FAULT: Option<(Fault, &'static str, [&'static str; 2])> = None;
}

/// The ranks along mesh axis `X`, as the subject of bounds.
#[derive(Clone, Copy, Debug)]
pub struct RanksAlong<X>(PhantomData<X>);

const fn name_of<N: Axis>() -> &'static str {
    match N::NAME {
        Some(name) => name,
        None => "*",
    }
}

/// Writes a type, a trait that never holds and a value for each fault. A message may contain `{X}`, the mesh axis, and
/// `{N}` and `{O}`, the dims.
macro_rules! faults {
    ($(
        $(#[$doc:meta])*
        $fault:ident $name:ident<X $(, $n:ident)*> $never:ident $message:literal $label:literal $note:literal;
    )*) => {
        /// A fault of placements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fault {
            $($(#[$doc])* $fault,)*
        }

        impl Fault {
            /// All faults.
            pub const ALL: &'static [Self] = &[$(Self::$fault),*];

            /// Returns the message and the hint that rustc prints: the fault, its mesh axis, and the fix.
            #[must_use]
            pub fn texts(self, axis: &str, dims: [&str; 2]) -> (String, String) {
                let (message, label) = match self {
                    $(Self::$fault => ($message, concat!($label, "; ", $note)),)*
                };
                let fill = |text: &str| {
                    text.replace("{X}", axis).replace("{N}", dims[0]).replace("{O}", dims[1])
                };
                (fill(message), fill(label))
            }
        }

        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug)]
            pub struct $name<X $(, $n)*>(PhantomData<(X, $($n),*)>);

            impl<X: MeshAxis $(, $n: Axis)*> Outcome for $name<X $(, $n)*> {}
            impl<X: MeshAxis $(, $n: Axis)*> Verdict for $name<X $(, $n)*> {
                type Then<V: Verdict> = Self;
                const FAULT: Option<(Fault, &'static str, [&'static str; 2])> = {
                    let names: &[&'static str] = &[$(name_of::<$n>(),)* "", ""];
                    Some((Fault::$fault, X::NAME, [names[0], names[1]]))
                };
            }
            impl<X, $($n,)* L, M> Accepted<L, M> for $name<X $(, $n)*> where RanksAlong<X>: $never<X $(, $n)*> {}

            #[doc = concat!("Never holds: the message of [`", stringify!($name), "`].")]
            #[diagnostic::on_unimplemented(message = $message, label = $label, note = $note)]
            pub trait $never<X $(, $n)*> {}
        )*
    };
}

faults! {
    /// A pending sum with an operand that each rank has whole.
    PendingBesideWhole PendingBesideWholeOver<X> BothFinished
        "a sum over mesh axis `{X}` is still pending, and the other operand is whole: it would be added once per rank"
        "finish the sum first"
        "`.all_reduce({X})`, or `.reduce_scatter({X}, ..)`";
    /// A pending sum with an operand that is split.
    PendingBesideSplit PendingBesideSplitOver<X, N> BothSplit
        "a sum over mesh axis `{X}` is still pending, and the other operand is split there by dim `{N}`"
        "finish the sum first"
        "`.reduce_scatter({X}, {N})`, or `.all_reduce({X})`";
    /// A nonlinear operation on a pending sum.
    StillPending StillPendingOver<X> Finished
        "a sum over mesh axis `{X}` is still pending: only linear operators may follow"
        "finish the sum first"
        "`.all_reduce({X})`, or `.reduce_scatter({X}, ..)`";
    /// A product of two pending sums.
    BothPending BothPendingOver<X> OneFinished
        "two sums over mesh axis `{X}` are pending: the product of sums is not the sum of products"
        "finish one of them first"
        "`.all_reduce({X})`";
    /// A dim is split that an operator needs whole.
    IsSplit IsSplitOver<X, N> HasAllOf
        "dim `{N}` is split over mesh axis `{X}`"
        "each rank has a part of `{N}`"
        "`across({N})` leaves a pending result where the operator has one; `.all_gather({X})` makes the dim whole";
    /// A dim is split that an operator needs whole; the operator has a form that communicates.
    IsSplitVia IsSplitViaOver<X, N> HasEveryOf
        "dim `{N}` is split over mesh axis `{X}`"
        "each rank has a part of `{N}`"
        "`{N}.via({X})` communicates; `.all_gather({X})` makes the dim whole";
    /// One operand is synced, the other is not.
    SyncedBeside SyncedBesideOver<X> BothSynced
        "one operand is synced over mesh axis `{X}`, the other is not: its gradient would need an implicit sum"
        "make the sum explicit"
        "`.whole({X})` on the synced operand";
    /// Two operands are split by different dims.
    SplitApart SplitApartOver<X, N, O> SplitAlike
        "placements do not fit along mesh axis `{X}`: one operand is split by dim `{N}`, the other by dim `{O}`"
        "the parts do not match"
        "`.all_to_all({X}, ..)` splits by another dim, `.all_gather({X})` makes it whole";
    /// A dim is split in one operand and whole in the other.
    SplitBesideWhole SplitBesideWholeOver<X, N> PartsOfBoth
        "placements do not fit along mesh axis `{X}`: one operand is split by dim `{N}`, the other has all of `{N}`"
        "the ranks' sizes would differ"
        "`.cut({X}, {N})` on the whole operand, or `.all_gather({X})` on the split one";
    /// One operand is each rank's own, the other is shared by all ranks.
    OwnBeside OwnBesideOver<X> BothOwn
        "one operand is each rank's own along mesh axis `{X}`, the other is not"
        "say what the pieces form"
        "`.claim()`, or `.broadcast({X}, rank)`";
    /// A reduction over ranks of a tensor that is not pending.
    NothingPending NothingPendingOver<X> HasPendingSum
        "no sum is pending over mesh axis `{X}`"
        "each rank has the whole value; a sum would count it once per rank"
        "remove the call";
    /// A gather of a tensor that is not split.
    NothingSplit NothingSplitOver<X> HasSplitDim
        "no dim is split over mesh axis `{X}`"
        "there are no parts to gather"
        "remove the call";
    /// A cut of a tensor that is not whole.
    NothingWhole NothingWholeOver<X> HasWholeValue
        "the tensor is not whole along mesh axis `{X}`"
        "only a whole tensor can be cut or made pending"
        "`.all_to_all({X}, ..)` splits by another dim, `.reduce_scatter({X}, ..)` finishes a sum, `.whole({X})` is for synced tensors";
    /// `whole` of a tensor that is not synced.
    NothingSynced NothingSyncedOver<X> HasSyncedValue
        "the tensor is not synced over mesh axis `{X}`"
        "`whole` marks where a synced tensor's gradient is summed"
        "remove the call";
    /// `broadcast` of a tensor that is not each rank's own.
    NothingOwn NothingOwnOver<X> HasOwnValue
        "the tensor is not each rank's own along mesh axis `{X}`"
        "there is nothing to broadcast"
        "remove the call";
    /// `across` of a dim that is not split.
    NotSplit NotSplitOver<X, N> SplitSomewhere
        "dim `{N}` is not split over any mesh axis"
        "nothing to sum across"
        "remove `across`: `{N}`";
    /// `via` an axis that does not split the dim.
    NotSplitThere NotSplitThereOver<X, N> SplitThere
        "dim `{N}` is not split over mesh axis `{X}`"
        "each rank has the whole dim"
        "remove `via`: `{N}`";
    /// `via` in a reduction, whose pieces are combined by a later conversion.
    ViaOfSum ViaOfSumOver<X, N> CombinedLater
        "a reduction over dim `{N}` cannot go `via` mesh axis `{X}`"
        "the pieces are combined when the result is converted"
        "`across({N})` leaves it pending, and `.all_reduce({X})` finishes it";
    /// A dim that another, inner axis splits further.
    SplitInside SplitInsideOver<X, N> SplitLast
        "dim `{N}` is split further inside mesh axis `{X}`"
        "only the innermost axis of a dim can be converted"
        "convert the inner axis first";
    /// `across` of a dim that is split in one operand only.
    SplitInOne SplitInOneOver<X, N> SplitInEach
        "dim `{N}` is split over mesh axis `{X}` in one operand, and whole in the other"
        "the ranks' sizes would differ"
        "`.cut({X}, {N})` on the whole operand";
    /// A split dim is not the first of the dims that are flattened.
    SplitBehind SplitBehindOver<X, N> SplitFirst
        "dim `{N}` is split over mesh axis `{X}`, and is not the first of the dims to merge"
        "the parts of the result would not be contiguous"
        "`.all_gather({X})`, or put `{N}` first";
    /// No rank has all values.
    NotAllValues NotAllValuesOver<X> HasAllValuesThere
        "no rank along mesh axis `{X}` has all values"
        "each rank has its own part"
        "`.all_gather({X})` gathers parts, `.all_reduce({X})` finishes a sum";
    /// A loss would count once per rank.
    LossIsWhole LossIsWholeOver<X> CountsOnce
        "the loss is whole on each rank of mesh axis `{X}`: each copy would count"
        "backward takes one number, not one per rank"
        "`.sync({X})` instead of `.all_reduce({X})`, or `.pend({X})`";
}
