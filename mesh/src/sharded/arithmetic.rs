//! The operators `+ - * /`, `-x` and the assigning forms.

use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

use nomina::dims::Dims;
use nomina::{Absorb, Combine, Element, Numeric};
use nomina_core::mesh::{AllLinear, InProducts, InQuotients, InSums, Placement};

use super::operand::{Fits, MeshOperand, OutPlace};
use super::{OutDims, OutDtype, Sharded};
use crate::call::ok;

macro_rules! operators {
    ($($trait:ident $method:ident $tried:ident $dtype:ty, $mode:ty;)*) => {$(
        impl<D: Dims, P: Placement, T: Element, R: MeshOperand> $trait<R> for &Sharded<D, P, T>
        where
            R::Kind: Combine<D, T>,
            R::Placed: Fits<$mode, P, D>,
        {
            type Output = Sharded<OutDims<R, D, T>, OutPlace<R, P>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                ok(self.$tried(other))
            }
        }

        impl<D: Dims, P: Placement, T: Element, R: MeshOperand> $trait<R> for Sharded<D, P, T>
        where
            R::Kind: Combine<D, T>,
            R::Placed: Fits<$mode, P, D>,
        {
            type Output = Sharded<OutDims<R, D, T>, OutPlace<R, P>, $dtype>;
            #[track_caller]
            fn $method(self, other: R) -> Self::Output {
                ok(self.$tried(other))
            }
        }
    )*};
}
operators! {
    Add add try_add OutDtype<R, D, T>, InSums;
    Sub sub try_sub OutDtype<R, D, T>, InSums;
    Mul mul try_mul OutDtype<R, D, T>, InProducts;
    Div div try_div <OutDtype<R, D, T> as Element>::Float, InQuotients;
}

// The operand's dims are a subset of `self`'s. Therefore `self` splits every dim that the operand splits, and the
// placement does not change.
macro_rules! assigning {
    ($($trait:ident $method:ident $local:ident $kind:ty, $mode:ty;)*) => {$(
        impl<D: Dims, P: Placement, T: Element, R: MeshOperand> $trait<R> for Sharded<D, P, T>
        where
            R::Kind: Absorb<D, T, $kind>,
            R::Placed: Fits<$mode, P, D>,
        {
            #[track_caller]
            fn $method(&mut self, other: R) {
                ok(self.require_fit(stringify!($local), &other));
                ok(self.local.$local(other.local()).map(drop));
            }
        }
    )*};
}
assigning! {
    AddAssign add_assign try_add_ nomina::tensor::operand::AsCommon, InSums;
    SubAssign sub_assign try_sub_ nomina::tensor::operand::AsCommon, InSums;
    MulAssign mul_assign try_mul_ nomina::tensor::operand::AsCommon, InProducts;
    DivAssign div_assign try_div_ nomina::tensor::operand::AsFloat, InQuotients;
}

impl<D: Dims, P: Placement + AllLinear, T: Numeric> Neg for &Sharded<D, P, T> {
    type Output = Sharded<D, P, T>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        ok(self.try_neg())
    }
}

impl<D: Dims, P: Placement + AllLinear, T: Numeric> Neg for Sharded<D, P, T> {
    type Output = Self;
    #[track_caller]
    fn neg(self) -> Self::Output {
        ok(self.try_neg())
    }
}
