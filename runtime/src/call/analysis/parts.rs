//! Reductions of parts of a dim, of all elements or of those that are not NaN.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::one_pass::{groups_in_one_pass, kernel, windows_in_one_pass};
use super::{
    Arg, LONG, ReduceOptions, along, chosen, grouped, index_select, is_present, multiplied, number,
    pointwise, pointwise_owned, present, reduce, require_elements, result, sliding, to_dtype,
    windowed, with_room,
};
use crate::call::{cat, clamp, full};
use crate::dispatch::accumulator;
use crate::raw::Raw;
use crate::shape::Shape;

/// The parts of a dim, each of which is reduced to one element.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Parts<'a> {
    /// Windows of equal size.
    Windows {
        /// The number of elements of a window.
        size: usize,
        /// The distance between the starts of two windows.
        step: usize,
    },
    /// A window for each element of a dim of floats. Elements beyond the ends count as NaN.
    Around {
        /// The number of elements of a window.
        size: usize,
        /// The number of elements of the window before its own.
        left: usize,
    },
    /// Groups by labels.
    Groups {
        /// The label of each position, counted from 0.
        labels: &'a Raw,
        /// The number of positions of each group.
        counts: &'a Raw,
    },
}

impl Parts<'_> {
    /// Reduces each part along a dim.
    ///
    /// # Errors
    /// If the operator does not take the dtype, there is no extreme of an empty group, or memory is missing.
    pub(crate) fn reduce(self, op: Op, x: &Raw, dim: usize) -> Result<Raw> {
        match self {
            Parts::Windows { size, step: 1 } => sliding(op, x, dim, size),
            Parts::Windows { size, step } => windowed(op, x, dim, [size, step]),
            Parts::Around { size, left } => {
                if is_short(op, size)
                    && let Some(found) = windows_in_one_pass(op, false, x, dim, [size, left])?
                {
                    return Ok(found);
                }
                let x = surrounded(x, dim, [size, left])?;
                Parts::Windows { size, step: 1 }.reduce(op, &x, dim)
            }
            Parts::Groups { labels, counts } => {
                let groups = (labels, counts);
                if matches!(op, Op::Amax | Op::Amin) {
                    result(op, x)?;
                    require_elements(x, counts)?;
                }
                if let Some(found) = groups_in_one_pass(op, false, x, dim, groups)? {
                    return Ok(found);
                }
                match op {
                    Op::Var | Op::Std => deviation(op, x, dim, groups, None),
                    _ => grouped(op, x, dim, groups),
                }
            }
        }
    }

    /// Counts the elements of each part that are not NaN.
    ///
    /// # Errors
    /// If memory is missing.
    pub(crate) fn count(self, x: &Raw, dim: usize) -> Result<Raw> {
        if let Parts::Around { size, left } = self {
            let x = surrounded(x, dim, [size, left])?;
            return Parts::Windows { size, step: 1 }.count(&x, dim);
        }
        self.reduce(Op::Sum, &is_present(x)?, dim)
    }

    /// Like [`reduce`](Self::reduce), but skips NaN. A part of floats without other elements has sum 0; its other
    /// reductions are NaN.
    ///
    /// # Errors
    /// If the operator does not take the dtype, there is no extreme of an empty group of integers, or memory is missing.
    pub(crate) fn reduce_present(self, op: Op, x: &Raw, dim: usize) -> Result<Raw> {
        result(op, x)?;
        if matches!(op, Op::Var | Op::Std) {
            Op::Nanvar.row().check_dtype(x.dtype())?;
        }
        if x.dtype().is_integral() {
            return self.reduce(op, x, dim);
        }
        if let Parts::Around { size, left } = self {
            if is_short(op, size)
                && let Some(found) = windows_in_one_pass(op, true, x, dim, [size, left])?
            {
                return Ok(found);
            }
            let x = surrounded(x, dim, [size, left])?;
            return Parts::Windows { size, step: 1 }.reduce_present(op, &x, dim);
        }
        if let Parts::Windows { size, step } = self
            && let Some(skipping) = kernel(op, x.dtype())
            && (is_short(op, size) || step > 1)
        {
            return windowed(skipping, x, dim, [size, step]);
        }
        if let Parts::Groups { labels, counts } = self
            && let Some(found) = groups_in_one_pass(op, true, x, dim, (labels, counts))?
        {
            return Ok(found);
        }
        let mask = is_present(x)?;
        match (op, self) {
            (Op::Amax | Op::Amin, _) => self.extreme(op, x, dim, &mask),
            (Op::Var | Op::Std, Parts::Groups { labels, counts }) => {
                deviation(op, x, dim, (labels, counts), Some(&mask))
            }
            (Op::Mean, _) => {
                let wide = to_dtype(&present(x, &mask)?, accumulator(x.dtype()))?;
                let (wide, back) = with_room(wide)?;
                let counts = self.reduce(Op::Sum, &mask, dim)?;
                let sums = self.reduce(Op::Sum, &wide, dim)?;
                let means = pointwise_owned(Op::Div, sums, &[Arg::Tensor(&counts)])?;
                to_dtype(&multiplied(means, back)?, x.dtype())
            }
            _ => self.reduce(op, &present(x, &mask)?, dim),
        }
    }

    /// Returns an extreme of the elements that a mask marks, NaN if it marks none of a part.
    fn extreme(self, op: Op, x: &Raw, dim: usize, mask: &Raw) -> Result<Raw> {
        let least = match op {
            Op::Amax => f64::NEG_INFINITY,
            _ => f64::INFINITY,
        };
        let filled = chosen(mask, Arg::Tensor(x), number(least))?;
        let found = match self {
            // An empty group is no error here: its extreme is NaN, too.
            Parts::Groups { labels, counts } => grouped(op, &filled, dim, (labels, counts))?,
            _ => self.reduce(op, &filled, dim)?,
        };
        let counts = self.reduce(Op::Sum, mask, dim)?;
        let is_empty = pointwise(Op::Eq, &[Arg::Tensor(&counts), integer(0)])?;
        chosen(&is_empty, number(f64::NAN), Arg::Tensor(&found))
    }
}

/// Returns whether windows are reduced one by one.
fn is_short(op: Op, size: usize) -> bool {
    size < LONG || matches!(op, Op::Var | Op::Std)
}

/// Returns a tensor with NaN beyond the ends of a dim, where the windows around its elements need some.
fn surrounded(x: &Raw, dim: usize, [size, left]: [usize; 2]) -> Result<Raw> {
    let nan = |count: usize| {
        let mut shape = Shape::from_slice(x.shape());
        shape[dim] = count;
        full(&[], Scalar::Float(f64::NAN), x.dtype(), x.device())?.expand(&shape)
    };
    cat(&[&nan(left)?, x, &nan(size - 1 - left)?], dim)
}

fn integer(value: i64) -> Arg<'static> {
    Arg::Scalar(Scalar::Int(value))
}

/// Computes the variance of each group, or its root, with a correction of 1: of all elements, or of those that a mask
/// marks. Deviations are from the group's mean, in a wide dtype.
fn deviation(op: Op, x: &Raw, dim: usize, groups: (&Raw, &Raw), mask: Option<&Raw>) -> Result<Raw> {
    let result = result(op, x)?;
    let (wide, counts) = match mask {
        Some(mask) => (present(x, mask)?, grouped(Op::Sum, mask, dim, groups)?),
        None => (x.clone(), along(groups.1, x.rank(), dim)?),
    };
    let wide = to_dtype(&wide, accumulator(x.dtype()))?;
    // A variance is out of range where the squares are; its root is not.
    let (wide, back) = match op {
        Op::Std => with_room_for_squares(wide, x.dtype())?,
        _ => (wide, None),
    };
    let sums = grouped(Op::Sum, &wide, dim, groups)?;
    let means = pointwise_owned(Op::Div, sums, &[Arg::Tensor(&counts)])?;
    let means = index_select(Op::GroupBy, &means, dim, groups.0)?;
    let mut off = pointwise_owned(Op::Sub, means, &[Arg::Tensor(&wide)])?;
    if let Some(mask) = mask {
        off = present(&off, mask)?;
    }
    if off.dtype().is_complex() {
        off = pointwise_owned(Op::Abs, off, &[])?;
    }
    let squares = pointwise(Op::Mul, &[Arg::Tensor(&off), Arg::Tensor(&off)])?;
    let squares = grouped(Op::Sum, &squares, dim, groups)?;
    let freedom = pointwise(Op::Sub, &[Arg::Tensor(&counts), integer(1)])?;
    let freedom = clamp(&freedom, Some(integer(0)), None)?;
    let variance = pointwise_owned(Op::Div, squares, &[Arg::Tensor(&freedom)])?;
    if op == Op::Var {
        return to_dtype(&variance, result);
    }
    // The root has no slope at zero; its gradient is zero there.
    let is_zero = pointwise(Op::Eq, &[Arg::Tensor(&variance), number(0.0)])?;
    let root = chosen(&is_zero, number(1.0), Arg::Tensor(&variance))?;
    let root = pointwise_owned(Op::Sqrt, root, &[])?;
    let root = chosen(&is_zero, number(0.0), Arg::Tensor(&root))?;
    to_dtype(&multiplied(root, back)?, result)
}

/// Multiplies a tensor by the power of two that keeps the squares of its elements in the range of `f64`, and returns the
/// number by which a root of squares is then to be multiplied. Elements that were narrower need none.
pub(super) fn with_room_for_squares(x: Raw, narrow: DType) -> Result<(Raw, Option<f64>)> {
    if narrow != x.dtype() || !x.device().is_cpu() || x.numel() == 0 {
        return Ok((x, None));
    }
    let sizes = pointwise(Op::Abs, &[Arg::Tensor(&x.clone().detach())])?;
    let dims: Shape = (0..x.rank()).collect();
    let most = reduce(Op::Amax, &sizes, &dims, false, ReduceOptions::default())?;
    let most = most.item()?.to_f64();
    if most == 0.0 || !most.is_finite() || (1e-120..1e120).contains(&most) {
        return Ok((x, None));
    }
    let factor = f64::exp2(-most.log2().ceil().clamp(-1000.0, 1000.0));
    Ok((multiplied(x, Some(factor))?, Some(factor.recip())))
}
