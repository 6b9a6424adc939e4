//! `sum` and `product` of iterators of tensors.

use std::iter::{Product, Sum};

use nomina_core::dims::Dims;
use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Numeric};

use super::Tensor;
use super::operand::Operand;
use crate::erased::{Known, ok, pointwise};

macro_rules! folds {
    ($($doc:literal $trait:ident $method:ident $op:ident;)*) => {$(
        #[doc = $doc]
        ///
        /// # Panics
        /// If there is no tensor, since the sizes are unknown (use `fold` from a tensor), or sizes do
        /// not match.
        impl<D: Dims, T: Numeric> $trait for Tensor<D, T> {
            #[track_caller]
            fn $method<I: Iterator<Item = Self>>(tensors: I) -> Self {
                let both = |x: Self, y: Self| {
                    Self::from_erased(pointwise::operator(Op::$op, x.into_operand(), y.into_operand(), D::STATIC))
                };
                let all = tensors.reduce(both).ok_or_else(|| {
                    let what = "an empty iterator: the sizes of the result are unknown";
                    Error::new(ErrorKind::Argument, stringify!($method), what)
                        .hint("`fold` from a tensor")
                });
                ok(all)
            }
        }

        #[doc = $doc]
        ///
        /// # Panics
        /// If there is no tensor, since the sizes are unknown (use `fold` from a tensor), or sizes do
        /// not match.
        impl<'a, D: Dims, T: Numeric> $trait<&'a Self> for Tensor<D, T> {
            #[track_caller]
            fn $method<I: Iterator<Item = &'a Self>>(tensors: I) -> Self {
                tensors.cloned().$method()
            }
        }
    )*};
}

folds! {
    "Sums tensors of the same dims: `xs.iter().sum::<Tensor<(N, C)>>()`." Sum sum Add;
    "Multiplies tensors of the same dims elementwise." Product product Mul;
}
