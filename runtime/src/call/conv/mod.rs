//! Windows that slide along dims: convolution, pooling, padding, resampling.

mod antialias;
mod columns;
mod convolve;
mod pad;
mod point;
mod pool;
mod prepared;
mod resample;
mod transpose;
mod weight_gradient;

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};

use super::check;
use crate::raw::Raw;
use crate::shape::Shape;

pub use antialias::interpolate_antialias;
pub use columns::{Columns, fold, im2col};
pub use convolve::{ConvArgs, ConvSites, conv, conv_then};
pub use pad::{PadMode, pad};
pub use pool::{AvgArgs, MaxArgs, adaptive_avg, adaptive_max, avg_pool, max_pool, max_unpool};
pub use prepared::{ConvAfter, ConvWeight, PreparedWeight};
pub use resample::{InterpolateMode, interpolate};
pub use transpose::{TransposedArgs, conv_transpose};
pub(crate) use weight_gradient::weight_gradient;

/// The number of elements added before and after a dim; negative numbers remove elements.
pub type PadPair = (i64, i64);

#[cold]
fn refuse(kind: ErrorKind, op: Op, operands: &[&Raw], what: impl Into<String>) -> Error {
    operands
        .iter()
        .fold(Error::new(kind, op.name(), what), |error, x| {
            error.operand(&Names::default(), x.shape())
        })
}

/// Returns the order of dims with `last` at the end.
fn order(rank: usize, last: &[usize]) -> Shape {
    let others = (0..rank).filter(|dim| !last.contains(dim));
    others.chain(last.iter().copied()).collect()
}

/// Returns the inverse of a permutation.
fn inverse(order: &[usize]) -> Shape {
    let mut inverse = Shape::from_elem(0, order.len());
    for (at, &dim) in order.iter().enumerate() {
        inverse[dim] = at;
    }
    inverse
}

/// Checks that dims exist, are distinct, and are at most three.
fn check_dims(op: Op, x: &Raw, dims: &[usize]) -> Result<()> {
    if dims.is_empty() || dims.len() > 3 {
        let what = format!("{} spatial dims", dims.len());
        return Err(refuse(ErrorKind::Argument, op, &[x], what).hint("use one to three dims"));
    }
    check::dims(op.name(), x.shape(), dims)
}

/// Checks that there is one number for each of the dims.
fn check_count(op: Op, x: &Raw, what: &str, given: usize, dims: usize) -> Result<()> {
    if given == dims {
        return Ok(());
    }
    let what = format!("{given} numbers as `{what}` for {dims} dims");
    Err(refuse(ErrorKind::Argument, op, &[x], what).hint("give one for each spatial dim"))
}

/// Checks that a size, given with its argument's name, is one that a dim can have.
fn check_limits(op: Op, x: &Raw, dim: Option<usize>, sizes: &[(&str, usize)]) -> Result<()> {
    let beyond = |&&(_, size): &&(&str, usize)| isize::try_from(size).is_err();
    let Some((argument, size)) = sizes.iter().find(beyond) else {
        return Ok(());
    };
    let what = format!("`{argument}` is {size}, more elements than a dim can have");
    let error = refuse(ErrorKind::Argument, op, &[x], what).hint("use a smaller number");
    Err(match dim {
        Some(dim) => error.at(0, dim),
        None => error,
    })
}

/// Returns the size of a dim with padding on both sides; `None` if it is too large for a dim.
fn padded_size(size: usize, before: usize, after: usize) -> Option<usize> {
    let both = size.checked_add(before)?.checked_add(after)?;
    isize::try_from(both).is_ok().then_some(both)
}

/// Returns the error of a padding that makes a dim of `size` elements too large.
#[cold]
fn too_much_padding(op: Op, operands: &[&Raw], size: usize, padding: usize) -> Error {
    let what = format!(
        "`padding` is {padding}: on both sides of {size} elements, that is more than a dim can have"
    );
    refuse(ErrorKind::Argument, op, operands, what).hint("pad less")
}

/// Returns the error of a kernel that spans more elements than a dim can have.
#[cold]
fn too_long_kernel(op: Op, operands: &[&Raw], kernel: usize, dilation: usize) -> Error {
    let what = format!(
        "a kernel of {kernel} elements with a `dilation` of {dilation} spans more elements than a dim can have"
    );
    refuse(ErrorKind::Argument, op, operands, what).hint("use a smaller kernel or dilation")
}

/// Returns an empty list with room for `n`, if there is memory.
fn list<T>(op: Op, x: &Raw, n: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    match list.try_reserve_exact(n) {
        Ok(()) => Ok(list),
        Err(_) => Err(refuse(
            ErrorKind::Memory,
            op,
            &[x],
            format!("a dim of {n} elements"),
        )
        .hint("check the sizes")),
    }
}

/// Returns `[.., a, b, c]` with leading values `one` up to three.
pub(super) fn three<T: Copy>(one: T, each: &[T]) -> [T; 3] {
    let mut three = [one; 3];
    three[3 - each.len()..].copy_from_slice(each);
    three
}

#[cfg(test)]
mod after_tests;
#[cfg(test)]
mod dtype_tests;
#[cfg(test)]
mod pool_tests;
#[cfg(test)]
mod tests;
