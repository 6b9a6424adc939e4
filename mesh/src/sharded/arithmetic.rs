//! The operators `+ - * / %`, `& | ^`, `-x`, `!x` and the assigning forms.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign,
    Mul, MulAssign, Neg, Not, Rem, RemAssign, Sub, SubAssign,
};

use nomina::dims::Dims;
use nomina::{Absorb, Combine, Element, Integral, Numeric};
use nomina_core::mesh::{
    AllFinished, AllLinear, InPointwise, InProducts, InQuotients, InSums, Placement,
};

use super::operand::{Fits, MeshOperand, OutPlace};
use super::{OutDims, OutDtype, Sharded};
use crate::call::ok;

macro_rules! operators {
    ($($trait:ident $method:ident $tried:ident $dtype:ty, $mode:ty $(, $common:ident)?;)*) => {$(
        impl<D: Dims, P: Placement, T: Element, R: MeshOperand> $trait<R> for &Sharded<D, P, T>
        where
            R::Kind: Combine<D, T $(, Dtype: $common)?>,
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
            R::Kind: Combine<D, T $(, Dtype: $common)?>,
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
    Rem rem try_remainder OutDtype<R, D, T>, InPointwise;
    BitAnd bitand try_bitwise_and OutDtype<R, D, T>, InPointwise, Integral;
    BitOr bitor try_bitwise_or OutDtype<R, D, T>, InPointwise, Integral;
    BitXor bitxor try_bitwise_xor OutDtype<R, D, T>, InPointwise, Integral;
}

// The operand's dims are a subset of `self`'s. Therefore `self` splits every dim that the operand splits, and the
// placement does not change.
macro_rules! assigning {
    ($($trait:ident $method:ident $local:ident $kind:ty, $mode:ty, $own:ident;)*) => {$(
        impl<D: Dims, P: Placement, T: $own, R: MeshOperand> $trait<R> for Sharded<D, P, T>
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
    AddAssign add_assign try_add_ nomina::tensor::operand::AsCommon, InSums, Element;
    SubAssign sub_assign try_sub_ nomina::tensor::operand::AsCommon, InSums, Element;
    MulAssign mul_assign try_mul_ nomina::tensor::operand::AsCommon, InProducts, Element;
    DivAssign div_assign try_div_ nomina::tensor::operand::AsFloat, InQuotients, Element;
    RemAssign rem_assign try_remainder_ nomina::tensor::operand::AsCommon, InPointwise, Element;
    BitAndAssign bitand_assign try_bitwise_and_ nomina::tensor::operand::AsCommon, InPointwise, Integral;
    BitOrAssign bitor_assign try_bitwise_or_ nomina::tensor::operand::AsCommon, InPointwise, Integral;
    BitXorAssign bitxor_assign try_bitwise_xor_ nomina::tensor::operand::AsCommon, InPointwise, Integral;
}

macro_rules! prefixed {
    ($($trait:ident $method:ident $tried:ident $state:ident $dtype:ident;)*) => {$(
        impl<D: Dims, P: Placement + $state, T: $dtype> $trait for &Sharded<D, P, T> {
            type Output = Sharded<D, P, T>;
            #[track_caller]
            fn $method(self) -> Self::Output {
                ok(self.$tried())
            }
        }

        impl<D: Dims, P: Placement + $state, T: $dtype> $trait for Sharded<D, P, T> {
            type Output = Self;
            #[track_caller]
            fn $method(self) -> Self::Output {
                ok(self.$tried())
            }
        }
    )*};
}
prefixed! {
    Neg neg try_neg AllLinear Numeric;
    Not not try_bitwise_not AllFinished Integral;
}
