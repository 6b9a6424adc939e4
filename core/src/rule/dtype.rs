//! Result dtypes of operator families, and their dtype checks.

use alloc::format;

use crate::dtype::{Category, DType};
use crate::error::{Error, ErrorKind, Result};

/// Returns the result dtype of a unary float function (`exp`, `sqrt`): `default` for integers and
/// bool.
#[must_use]
pub const fn unary_float(dtype: DType, default: DType) -> DType {
    dtype.to_float(default)
}

/// Returns the result dtype of true division of operands with dtype `common`: `default` for
/// integers and bool.
#[must_use]
pub const fn div(common: DType, default: DType) -> DType {
    common.to_float(default)
}

/// Returns the result dtype of `sum`, `prod`, `cumsum`, `cumprod`: i64 for integers and bool.
#[must_use]
pub const fn sum(dtype: DType) -> DType {
    dtype.to_float(DType::I64)
}

/// Returns the result dtype of comparisons and `logical_*`: bool.
#[must_use]
pub const fn comparison() -> DType {
    DType::Bool
}

/// Returns the result dtype of `abs`, `std` and `var`: the dtype of the parts for complex.
#[must_use]
pub const fn abs(dtype: DType) -> DType {
    dtype.to_real()
}

/// Returns the dtype of positions: `argmax`, `topk`'s indices, `nonzero`.
#[must_use]
pub const fn indices() -> DType {
    DType::I64
}

/// Checks for a float or complex dtype, for `mean`, `var`, `std`, `softmax`.
///
/// # Errors
/// [`ErrorKind::DType`] for integers and bool.
pub fn require_float(op: &'static str, dtype: DType) -> Result<DType> {
    if dtype.is_integral() {
        return Err(refuse(
            op,
            "a float or complex",
            dtype,
            "convert it first: `x.to::<f32>()`",
        ));
    }
    Ok(dtype)
}

/// Checks for a dtype with an order: not complex.
///
/// # Errors
/// [`ErrorKind::DType`] for complex.
pub fn require_real(op: &'static str, dtype: DType) -> Result<DType> {
    if dtype.is_complex() {
        return Err(refuse(
            op,
            "a real",
            dtype,
            "use its `abs` or its real part",
        ));
    }
    Ok(dtype)
}

/// Checks for a numeric dtype: not bool.
///
/// # Errors
/// [`ErrorKind::DType`] for bool.
pub fn require_numeric(op: &'static str, dtype: DType) -> Result<DType> {
    if dtype == DType::Bool {
        return Err(refuse(
            op,
            "a numeric",
            dtype,
            "use `logical_not`, or convert it first",
        ));
    }
    Ok(dtype)
}

/// Checks for an integer dtype or bool, for bitwise operators.
///
/// # Errors
/// [`ErrorKind::DType`] for float and complex.
pub fn require_integral(op: &'static str, dtype: DType) -> Result<DType> {
    if !dtype.is_integral() {
        return Err(refuse(
            op,
            "an integer or bool",
            dtype,
            "convert it first: `x.to::<i64>()`",
        ));
    }
    Ok(dtype)
}

/// Checks that the operands have the same dtype: matrix products do not promote.
///
/// # Errors
/// [`ErrorKind::DType`] if they differ.
pub fn require_same(op: &'static str, a: DType, b: DType) -> Result<DType> {
    if a == b {
        return Ok(a);
    }
    Err(Error::new(
        ErrorKind::DType,
        op,
        format!("takes operands of one dtype, not {a} and {b}"),
    )
    .hint(format!("convert one first: `x.to::<{}>()`", a.promote(b))))
}

/// Checks the operands of `sub`: neither tensors nor numbers may be bool.
///
/// # Errors
/// [`ErrorKind::DType`] if one is bool.
pub fn require_sub(op: &'static str, a: Category, b: Category) -> Result<()> {
    if a != Category::Bool && b != Category::Bool {
        return Ok(());
    }
    Err(Error::new(ErrorKind::DType, op, "bool can't be subtracted")
        .hint("use `logical_xor`, or `logical_not` to invert a mask"))
}

/// Checks that a computed result of dtype `from` may be stored in a tensor of dtype `to`, in place
/// or as `out`: the category may not decrease.
///
/// # Errors
/// [`ErrorKind::DType`] if it would.
pub fn cast_to(op: &'static str, from: DType, to: DType) -> Result<()> {
    if from.can_cast(to) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::DType,
        op,
        format!("a result of dtype {from} can't be stored as {to}"),
    )
    .hint(format!(
        "convert self first: `x.to::<{from}>()`, or use the out-of-place form"
    )))
}

#[cold]
fn refuse(op: &'static str, what: &str, dtype: DType, hint: &str) -> Error {
    Error::new(
        ErrorKind::DType,
        op,
        format!("takes {what} dtype, not {dtype}"),
    )
    .hint(hint)
}
