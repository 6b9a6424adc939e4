//! Writes to existing tensors.

use nomina_core::{Result, Scalar, rule};

use super::assign::{assign, assign_number};
use super::convert::{fill_elements, write_elements};
use super::device::to_device;
use crate::raw::{Raw, RawMut};

/// Writes the elements of `src`, broadcast to `dest`'s shape and cast to its dtype.
///
/// # Errors
/// If `src` does not broadcast to `dest`, or is on another device and has dims.
pub fn copy_into(dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.records([src]) {
        return assign("copy", dest, |_| Ok(src.clone()));
    }
    write_elements(dest, src)
}

/// Like [`copy_into`], but `src` may be on another device.
///
/// # Errors
/// If `src` does not broadcast to `dest`, or memory is missing.
pub fn copy_across(dest: RawMut<'_>, src: &Raw) -> Result<()> {
    if dest.device() == src.device() {
        return copy_into(dest, src);
    }
    rule::broadcast_into("copy", dest.shape(), src.shape())?;
    let src = to_device(src, dest.device())?;
    copy_into(dest, &src)
}

/// Writes one number everywhere, cast to the dtype.
///
/// # Errors
/// If the device is missing.
pub fn fill(dest: RawMut<'_>, value: Scalar) -> Result<()> {
    if dest.records([]) {
        return assign_number("fill", dest, value);
    }
    fill_elements(dest, value)
}
