//! Promotion of dtypes in types. Gives the same answers as
//! [`DType::promote`](crate::DType::promote) and [`Promoter`](crate::Promoter) do by value.

use half::{bf16, f16};
use num_complex::Complex;

use super::Element;
use crate::scalar::Scalar;

/// The operand whose dtype decides. A zero-dim tensor's dtype gives way to the other operand's,
/// unless it is of a higher category.
pub trait PromotionRule: 'static {
    /// Selects one of three dtypes, for this rule being [`Alike`], [`LeftZeroDim`] or
    /// [`RightZeroDim`].
    type Select<S: Element, L: Element, R: Element>: Element;
}

/// Both operands have dims, or neither.
#[derive(Clone, Copy, Debug)]
pub enum Alike {}

/// The left operand is zero-dim, the right is not.
#[derive(Clone, Copy, Debug)]
pub enum LeftZeroDim {}

/// The right operand is zero-dim, the left is not.
#[derive(Clone, Copy, Debug)]
pub enum RightZeroDim {}

impl PromotionRule for Alike {
    type Select<S: Element, L: Element, R: Element> = S;
}
impl PromotionRule for LeftZeroDim {
    type Select<S: Element, L: Element, R: Element> = L;
}
impl PromotionRule for RightZeroDim {
    type Select<S: Element, L: Element, R: Element> = R;
}

/// The dtype of an operator on tensors of dtypes `Self` and `U`. Holds for every pair. A dtype
/// promotes with itself to itself, also in generic code.
#[diagnostic::on_unimplemented(
    message = "dtypes `{Self}` and `{U}` have no common dtype here",
    label = "no common dtype known"
)]
pub trait Promote<U, R = Alike>: Element {
    /// The common dtype.
    type Output: Element;
}
impl<T: Element, R> Promote<T, R> for T {
    type Output = T;
}

/// The common dtype of two tensors: `Promoted<f32, f64>` is `f64`.
pub type Promoted<T, U, R = Alike> = <T as Promote<U, R>>::Output;

/// A computed result of dtype `Self` may be stored as `U`, in place or as `out`. The category may
/// not decrease, but floats may narrow.
#[diagnostic::on_unimplemented(
    message = "a result of dtype `{Self}` cannot be stored in a tensor of dtype `{U}`",
    label = "`{Self}` does not fit into `{U}`",
    note = "convert the operand first, or use the out-of-place operator"
)]
pub trait StoreAs<U>: Element {}
#[diagnostic::do_not_recommend]
impl<T: Element> StoreAs<T> for T {}
// Impls that nobody uses: rustc would suggest a single other impl in errors, but not several.
#[diagnostic::do_not_recommend]
impl StoreAs<Alike> for Complex<f32> {}
#[diagnostic::do_not_recommend]
impl StoreAs<Alike> for Complex<f64> {}

/// A dtype of real floating-point numbers: `f16`, `bf16`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not a float dtype",
    label = "needs `f16`, `bf16`, `f32` or `f64`",
    note = "convert it first: `x.to::<f32>()`"
)]
pub trait Float: Real + Inexact {}

/// A dtype of complex numbers.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not a complex dtype",
    label = "needs `Complex<f32>` or `Complex<f64>`"
)]
pub trait ComplexElement: Element {}

/// A dtype for linear algebra and Fourier transforms: `f32`, `f64` and the complex ones.
#[diagnostic::on_unimplemented(
    message = "linear algebra does not take dtype `{Self}`",
    label = "needs `f32`, `f64`, `Complex<f32>` or `Complex<f64>`",
    note = "convert it first: `x.to::<f32>()`"
)]
pub trait Solvable: Inexact {
    /// The complex dtype of the same precision.
    type Complex: ComplexElement + Inexact<Real = Self::Real> + Solvable;
}

macro_rules! solvable {
    ($($t:ty => $complex:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl Solvable for $t {
            type Complex = $complex;
        }
    )*};
}
solvable! {
    f32 => Complex<f32>;
    f64 => Complex<f64>;
    Complex<f32> => Complex<f32>;
    Complex<f64> => Complex<f64>;
}

/// A real or complex floating-point dtype. Required by `mean`, `softmax` and gradients.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is neither a float nor a complex dtype",
    label = "needs a float or complex dtype",
    note = "convert it first: `x.to::<f32>()`"
)]
pub trait Inexact:
    Numeric + Element<Float = Self, Sum = Self> + PromoteScalar<f64, Output = Self>
{
}

/// A dtype with an order: every dtype except the complex ones.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` has no order",
    label = "needs a dtype that is not complex"
)]
pub trait Real: Element<Real = Self> {}

/// A dtype of integers: `u8` to `i64`.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not an integer dtype",
    label = "needs `u8`, `i8`, `i16`, `i32` or `i64`"
)]
pub trait Integer: Real + Numeric {}

/// A dtype of indices: `i64` or `i32`.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not an index dtype",
    label = "an index needs `i64` or `i32`"
)]
pub trait IndexElement: Integer {}
#[diagnostic::do_not_recommend]
impl IndexElement for i64 {}
#[diagnostic::do_not_recommend]
impl IndexElement for i32 {}

/// A dtype of integers or truth values. Required by bitwise operators.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not integer or bool",
    label = "needs an integer dtype or `bool`"
)]
pub trait Integral: Real {}

/// A dtype of numbers: every dtype except `bool`.
///
/// An integer scalar does not change it, also in generic code: `x * 2`.
#[diagnostic::on_unimplemented(
    message = "dtype `{Self}` is not numeric",
    label = "`bool` is not a number here",
    note = "for bool: `logical_and`, `logical_not` and similar"
)]
pub trait Numeric: Element + PromoteScalar<i32, Output = Self> {}

macro_rules! categories {
    ($($category:ident: $($t:ty)*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl $category for $t {}
    )*)*};
}
categories! {
    Float: f16 bf16 f32 f64;
    ComplexElement: Complex<f32> Complex<f64>;
    Inexact: f16 bf16 f32 f64 Complex<f32> Complex<f64>;
    Real: bool u8 i8 i16 i32 i64 f16 bf16 f32 f64;
    Integer: u8 i8 i16 i32 i64;
    Integral: bool u8 i8 i16 i32 i64;
    Numeric: u8 i8 i16 i32 i64 f16 bf16 f32 f64 Complex<f32> Complex<f64>;
}

/// A Rust number that can be an operand together with a tensor.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is neither a tensor nor a number",
    label = "expected a tensor or a number"
)]
pub trait Number: Copy + Into<Scalar> {
    /// The category that takes part in promotion.
    type Category: NumberCategory;
}

/// A number that is not complex.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a real number",
    label = "expected a real number"
)]
pub trait RealNumber: Number {}

/// The result dtypes when a number of this category is combined with a tensor.
pub trait NumberCategory: 'static {
    /// The result for a tensor of `bool`.
    type WithBool: Element;
    /// The result for a tensor of the integer dtype `T`.
    type WithInteger<T: Element>: Element;
}

/// The category of `bool`.
#[derive(Clone, Copy, Debug)]
pub enum BoolNumber {}
/// The category of integers.
#[derive(Clone, Copy, Debug)]
pub enum IntegerNumber {}
/// The category of real numbers.
#[derive(Clone, Copy, Debug)]
pub enum FloatNumber {}
/// The category of complex numbers.
#[derive(Clone, Copy, Debug)]
pub enum ComplexNumber {}

impl NumberCategory for BoolNumber {
    type WithBool = bool;
    type WithInteger<T: Element> = T;
}
impl NumberCategory for IntegerNumber {
    type WithBool = i64;
    type WithInteger<T: Element> = T;
}
impl NumberCategory for FloatNumber {
    type WithBool = f32;
    type WithInteger<T: Element> = f32;
}
impl NumberCategory for ComplexNumber {
    type WithBool = Complex<f32>;
    type WithInteger<T: Element> = Complex<f32>;
}

macro_rules! numbers {
    ($($category:ident: $($t:ty)*;)*) => {$($(
        #[diagnostic::do_not_recommend]
        impl Number for $t {
            type Category = $category;
        }
    )*)*};
}
numbers! {
    BoolNumber: bool;
    IntegerNumber: u8 i8 i16 i32 i64 u16 u32 usize isize;
    FloatNumber: f16 bf16 f32 f64;
    ComplexNumber: Complex<f32> Complex<f64>;
}
macro_rules! real_numbers {
    ($($t:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl RealNumber for $t {}
    )*};
}
real_numbers!(bool u8 i8 i16 i32 i64 u16 u32 usize isize f16 bf16 f32 f64);

/// The dtype of an operator on a tensor of dtype `Self` and a number of type `S`. The number gives
/// way, unless it is of a higher category.
#[diagnostic::on_unimplemented(
    message = "a tensor of dtype `{Self}` does not combine with `{S}`",
    label = "expected a tensor, or a number that combines with `{Self}`"
)]
pub trait PromoteScalar<S>: Element {
    /// The dtype of the result.
    type Output: Element;
}

/// The dtype of an operator on a tensor of dtype `T` and a number of type `S`.
pub type WithScalar<T, S> = <T as PromoteScalar<S>>::Output;

macro_rules! beside_numbers {
    ($($t:ty: $output:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<S: Number> PromoteScalar<S> for $t {
            type Output = $output;
        }
    )*};
}
beside_numbers! {
    bool: <S::Category as NumberCategory>::WithBool;
    u8: <S::Category as NumberCategory>::WithInteger<u8>;
    i8: <S::Category as NumberCategory>::WithInteger<i8>;
    i16: <S::Category as NumberCategory>::WithInteger<i16>;
    i32: <S::Category as NumberCategory>::WithInteger<i32>;
    i64: <S::Category as NumberCategory>::WithInteger<i64>;
    Complex<f32>: Complex<f32>;
    Complex<f64>: Complex<f64>;
}

// One impl for every real number, so that the result's dtype is known before the literal's type is.
#[diagnostic::do_not_recommend]
impl<T: Float, S: RealNumber> PromoteScalar<S> for T {
    type Output = T;
}

macro_rules! floats_beside_complex {
    ($($t:ty: $output:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<Complex<f32>> for $t {
            type Output = $output;
        }
        #[diagnostic::do_not_recommend]
        impl PromoteScalar<Complex<f64>> for $t {
            type Output = $output;
        }
    )*};
}
floats_beside_complex! {
    f16: Complex<f32>;
    bf16: Complex<f32>;
    f32: Complex<f32>;
    f64: Complex<f64>;
}
