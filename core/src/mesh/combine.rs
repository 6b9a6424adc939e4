//! How pending pieces make a value.

use super::fault::{Fine, StillPendingOver, Verdict};
use super::placement::MeshAxis;

/// How the pieces of several ranks are combined, element by element, in the order of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The sum.
    Add,
    /// The product.
    Mul,
    /// The greatest; NaN where one is.
    Max,
    /// The smallest; NaN where one is.
    Min,
    /// Whether one is true; of bool alone.
    Any,
    /// Whether all are true; of bool alone.
    All,
}

/// A [`Combine`] as a type.
pub trait Combiner: Copy + Send + Sync + 'static {
    /// Nothing is wrong of a sum, of others that they are still pending.
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
