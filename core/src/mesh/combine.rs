//! Combiners: the operations that turn pending pieces into a value.

use super::fault::{Fine, StillPendingOver, Verdict};
use super::placement::MeshAxis;

/// An element-wise combination of the pieces of several ranks, in rank order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The maximum; NaN if any piece is NaN.
    Max,
    /// The minimum; NaN if any piece is NaN.
    Min,
    /// Whether any piece is true; for bool only.
    Any,
    /// Whether all pieces are true; for bool only.
    All,
}

/// A [`Combine`] as a type.
pub trait Combiner: Copy + Send + Sync + 'static {
    /// No fault for a sum; for other combiners, the fault that they are still pending.
    #[doc(hidden)]
    type Linear<X: MeshAxis>: Verdict;
    /// The value.
    const COMBINE: Combine;
}

macro_rules! combiners {
    ($($name:ident $combine:ident $linear:ty, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Combiner for $name {
            type Linear<X: MeshAxis> = $linear;
            const COMBINE: Combine = Combine::$combine;
        }
    )*};
}
combiners! {
    BySum Add Fine, "The sum.";
    ByProduct Mul StillPendingOver<X>, "The product.";
    ByMax Max StillPendingOver<X>, "The greatest.";
    ByMin Min StillPendingOver<X>, "The smallest.";
    ByAny Any StillPendingOver<X>, "Whether one is true.";
    ByAll All StillPendingOver<X>, "Whether all are true.";
}
