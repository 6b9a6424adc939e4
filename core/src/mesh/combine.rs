//! How pending pieces make a value.

use super::fault::{Fine, StillPendingOver, Verdict};
use super::placement::MeshAxis;
use crate::dims::{Bool, False, True};

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
    /// Whether it is the sum, through which linear operators go.
    type IsAdd: Bool;
    /// Nothing is wrong of a sum, of others that they are still pending.
    #[doc(hidden)]
    type Linear<X: MeshAxis>: Verdict;
    /// The value.
    const COMBINE: Combine;
}

macro_rules! combiners {
    ($($name:ident $combine:ident $is_add:ident $linear:ty, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        impl Combiner for $name {
            type IsAdd = $is_add;
            type Linear<X: MeshAxis> = $linear;
            const COMBINE: Combine = Combine::$combine;
        }
    )*};
}
combiners! {
    BySum Add True Fine, "The sum.";
    ByProduct Mul False StillPendingOver<X>, "The product.";
    ByMax Max False StillPendingOver<X>, "The greatest.";
    ByMin Min False StillPendingOver<X>, "The smallest.";
    ByAny Any False StillPendingOver<X>, "Whether one is true.";
    ByAll All False StillPendingOver<X>, "Whether all are true.";
}
