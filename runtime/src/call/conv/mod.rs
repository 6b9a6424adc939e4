//! Windows that slide along dims: convolution, pooling, padding, resampling.

mod antialias;
mod columns;
pub(super) mod convolve;
mod pad;
mod point;
mod pool;
mod resample;

use nomina_core::op::Op;
use nomina_core::{Error, ErrorKind, Names, Result};

use super::check;
use crate::raw::Raw;
use crate::shape::Shape;

pub use antialias::interpolate_antialias;
pub use columns::{Columns, fold, im2col};
pub use convolve::{ConvArgs, ConvSites, TransposedArgs, conv, conv_transpose};
pub use pad::{PadMode, pad};
pub use pool::{AvgArgs, MaxArgs, adaptive_avg, adaptive_max, avg_pool, max_pool, max_unpool};
pub use resample::{InterpolateMode, interpolate};

/// How many elements before and after a dim, or taken away where negative.
pub type PadPair = (i64, i64);

#[cold]
fn refuse(kind: ErrorKind, op: Op, operands: &[&Raw], what: impl Into<String>) -> Error {
    operands
        .iter()
        .fold(Error::new(kind, op.name(), what), |error, x| {
            error.operand(&Names::default(), x.shape())
        })
}

/// Dims in another order: the others, then `last`.
fn order(rank: usize, last: &[usize]) -> Shape {
    let others = (0..rank).filter(|dim| !last.contains(dim));
    others.chain(last.iter().copied()).collect()
}

/// What undoes a permutation.
fn inverse(order: &[usize]) -> Shape {
    let mut inverse = Shape::from_elem(0, order.len());
    for (at, &dim) in order.iter().enumerate() {
        inverse[dim] = at;
    }
    inverse
}

/// Checks that dims are there, each once, and no more than three.
fn check_dims(op: Op, x: &Raw, dims: &[usize]) -> Result<()> {
    if dims.is_empty() || dims.len() > 3 {
        let what = format!("{} dims to slide along", dims.len());
        return Err(refuse(ErrorKind::Argument, op, &[x], what).hint("take one to three dims"));
    }
    check::dims(op.name(), x.shape(), dims)
}

/// Checks that there is one number for each of the dims.
fn check_count(op: Op, x: &Raw, what: &str, given: usize, dims: usize) -> Result<()> {
    if given == dims {
        return Ok(());
    }
    let what = format!("{given} numbers as `{what}` for {dims} dims");
    Err(refuse(ErrorKind::Argument, op, &[x], what).hint("give one for each dim to slide along"))
}

/// Refuses a size, given by its argument's name, that no dim can have, and so no window over one.
fn check_limits(op: Op, x: &Raw, dim: Option<usize>, sizes: &[(&str, usize)]) -> Result<()> {
    let beyond = |&&(_, size): &&(&str, usize)| isize::try_from(size).is_err();
    let Some((argument, size)) = sizes.iter().find(beyond) else {
        return Ok(());
    };
    let what = format!("`{argument}` is {size}, more elements than a dim can have");
    let error = refuse(ErrorKind::Argument, op, &[x], what).hint("take a smaller number");
    Err(match dim {
        Some(dim) => error.at(0, dim),
        None => error,
    })
}

/// The size of a dim with padding on both sides; `None` beyond what a dim can have.
fn padded_size(size: usize, before: usize, after: usize) -> Option<usize> {
    let both = size.checked_add(before)?.checked_add(after)?;
    isize::try_from(both).is_ok().then_some(both)
}

/// The error of a padding that makes a dim of `size` elements larger than a dim can be.
#[cold]
fn too_much_padding(op: Op, operands: &[&Raw], size: usize, padding: usize) -> Error {
    let what = format!(
        "`padding` is {padding}: on both sides of {size} elements, that is more than a dim can have"
    );
    refuse(ErrorKind::Argument, op, operands, what).hint("pad less")
}

/// The error of a kernel that spans more elements than a dim can have.
#[cold]
fn too_long_kernel(op: Op, operands: &[&Raw], kernel: usize, dilation: usize) -> Error {
    let what = format!(
        "a kernel of {kernel} elements with a `dilation` of {dilation} spans more elements than a dim can have"
    );
    refuse(ErrorKind::Argument, op, operands, what).hint("take a smaller kernel or dilation")
}

/// An empty list with room for `n`, where memory has it.
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

/// `[.., a, b, c]` with as many leading 1s as make three.
pub(super) fn three<T: Copy>(one: T, each: &[T]) -> [T; 3] {
    let mut three = [one; 3];
    three[3 - each.len()..].copy_from_slice(each);
    three
}

#[cfg(test)]
mod tests;
