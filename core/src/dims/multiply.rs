//! Checks of constant sizes in `flatten` and `unflatten`: they must multiply to another one.
//!
//! Numbers in types cost rustc milliseconds, so nothing is computed unless all sizes are constant.

use core::ops::{Add, Mul};

use typenum::consts::{U0, U1, U2, U3, U4, U5, U6, U7, U8, U9, U10};
use typenum::{B1, IsEqual, Prod, Sum};

use super::axis::Axis;
use super::dims::MoreThan8Dims;
use super::id::{Bool, End, False, S52, S53, S54, S55, S56, S57, S58, S59, S60, S61, True};
use super::size::{DimSize, Fixed};
use super::verdict::NamesOf;

/// Reads decimal digits into a number, where `N` is the value of the digits before them.
pub trait Digits<N> {
    /// The number.
    type Number;
}

impl<N> Digits<N> for End {
    type Number = N;
}

macro_rules! digits {
    ($($symbol:ident $number:ident)*) => {$(
        impl<N, D> Digits<N> for $symbol<D>
        where
            N: Mul<U10>,
            Prod<N, U10>: Add<$number>,
            D: Digits<Sum<Prod<N, U10>, $number>>,
        {
            type Number = D::Number;
        }
    )*};
}
digits!(S52 U0 S53 U1 S54 U2 S55 U3 S56 U4 S57 U5 S58 U6 S59 U7 S60 U8 S61 U9);

/// The number `N` times a constant size.
pub trait Times<S> {
    /// The product.
    type Output;
}

impl<N, const K: usize, D: Digits<U0>> Times<Fixed<K, D>> for N
where
    N: Mul<D::Number>,
{
    type Output = Prod<N, D::Number>;
}

/// A list of dims with constant sizes, whose product is a number in types.
pub trait Multiply {
    /// The product.
    type Product;
}

impl Multiply for () {
    type Product = U1;
}

macro_rules! multiply {
    () => {};
    ($a:ident $($rest:ident)*) => {
        impl<$a: Axis, $($rest: Axis),*> Multiply for ($a, $($rest,)*)
        where
            ($($rest,)*): Multiply<Product: Times<$a::Size>>,
        {
            type Product = <<($($rest,)*) as Multiply>::Product as Times<$a::Size>>::Output;
        }
    };
}
each_rank!(multiply);

/// If all sizes are constant, those of the list multiply to the size of dim `X`.
pub trait MultiplyTo<X> {}

/// [`MultiplyTo`], where `Constant` is whether all sizes are constant.
pub trait MultiplyToIf<X, Constant> {}

impl<X> MultiplyTo<X> for () {}
impl<X> MultiplyTo<X> for MoreThan8Dims {}

/// Writes, per rank, the error message for a wrong product; the numbers in it are parameters of a trait.
macro_rules! multiply_to {
    ($($name:ident $product:literal: $($a:ident $k:ident $d:ident)*;)*) => {$(
        /// The constant sizes of dims `D` multiply to `P`, the size of dim `X`.
        #[diagnostic::on_unimplemented(
            message = $product,
            label = "the products of the sizes differ"
        )]
        pub trait $name<D, X, $(const $k: usize,)* const P: usize> {}
        #[diagnostic::do_not_recommend]
        impl<D, X, E, $(const $k: usize,)* const P: usize> $name<D, X, $($k,)* P> for NamesOf<D>
        where
            X: Axis<Size = Fixed<P, E>>,
            E: Digits<U0>,
            D: Multiply<Product: IsEqual<E::Number, Output = B1>>,
        {
        }

        impl<$($a: Axis,)* X: Axis> MultiplyTo<X> for ($($a,)*)
        where
            Self: MultiplyToIf<X, multiply_to!(@all <X::Size as DimSize>::IsConstant, $($a)*)>
        {
        }

        impl<$($a: Axis,)* X> MultiplyToIf<X, False> for ($($a,)*) {}

        impl<$($a, $d, const $k: usize,)* X, E, const P: usize> MultiplyToIf<X, True> for ($($a,)*)
        where
            $($a: Axis<Size = Fixed<$k, $d>>,)*
            X: Axis<Size = Fixed<P, E>>,
            NamesOf<Self>: $name<Self, X, $($k,)* P>,
        {
        }
    )*};
    (@all $all:ty,) => { $all };
    (@all $all:ty, $a:ident $($rest:ident)*) => {
        multiply_to!(@all <$all as Bool>::And<<<$a as Axis>::Size as DimSize>::IsConstant>, $($rest)*)
    };
}

multiply_to! {
    Product1 "dims {D} have {K0} elements, and dim `{X}` has {P}": A0 K0 D0;
    Product2 "dims {D} have {K0} * {K1} elements, and dim `{X}` has {P}": A0 K0 D0 A1 K1 D1;
    Product3 "dims {D} have {K0} * {K1} * {K2} elements, and dim `{X}` has {P}": A0 K0 D0 A1 K1 D1 A2 K2 D2;
    Product4 "dims {D} have {K0} * {K1} * {K2} * {K3} elements, and dim `{X}` has {P}":
        A0 K0 D0 A1 K1 D1 A2 K2 D2 A3 K3 D3;
    Product5 "dims {D} have {K0} * {K1} * {K2} * {K3} * {K4} elements, and dim `{X}` has {P}":
        A0 K0 D0 A1 K1 D1 A2 K2 D2 A3 K3 D3 A4 K4 D4;
    Product6 "dims {D} have {K0} * {K1} * {K2} * {K3} * {K4} * {K5} elements, and dim `{X}` has {P}":
        A0 K0 D0 A1 K1 D1 A2 K2 D2 A3 K3 D3 A4 K4 D4 A5 K5 D5;
    Product7 "dims {D} have {K0} * {K1} * {K2} * {K3} * {K4} * {K5} * {K6} elements, and dim `{X}` has {P}":
        A0 K0 D0 A1 K1 D1 A2 K2 D2 A3 K3 D3 A4 K4 D4 A5 K5 D5 A6 K6 D6;
    Product8 "dims {D} have {K0} * {K1} * {K2} * {K3} * {K4} * {K5} * {K6} * {K7} elements, and dim `{X}` has {P}":
        A0 K0 D0 A1 K1 D1 A2 K2 D2 A3 K3 D3 A4 K4 D4 A5 K5 D5 A6 K6 D6 A7 K7 D7;
}
