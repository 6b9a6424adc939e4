//! Resizing without aliasing, composed of other operators.
//!
//! Each dim has a table of the elements that contribute to each new one, and their weights, so that the elements are
//! picked by an index and summed in one pass.

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use super::list;
use super::resample::{InterpolateMode, check_sizes, smooth};
use crate::call::{FusedReduction, fused_reduce, index_select, to_device, to_dtype};
use crate::job::{Node, ResampledDim, Resize};
use crate::raw::Raw;
use crate::shape::{Shape, product};
use crate::tape::{AxisWeights, record_linear};

/// Resizes dims like PyTorch's `antialias`: if a dim is made smaller, the mode's kernel is widened by the same factor.
///
/// # Errors
/// If the mode is neither linear nor cubic, the dtype is not a float, there are no elements or none are requested, or
/// memory is missing.
pub fn interpolate_antialias(x: &Raw, dims: &[Resize], mode: InterpolateMode) -> Result<Raw> {
    let op = Op::Interpolate;
    let places: Shape = dims.iter().map(|resize| resize.dim).collect();
    check_sizes(x, dims, &places)?;
    smooth(op, x)?;
    let dtype = x.dtype();
    let mut x = match dtype {
        DType::F16 | DType::BF16 => to_dtype(x, DType::F32)?,
        _ => x.clone(),
    };
    for resize in dims {
        let size = x.shape()[resize.dim];
        let along = ResampledDim::new(size, resize, false, true);
        x = resized(op, &x, resize.dim, &along, mode)?;
    }
    to_dtype(&x, dtype)
}

/// The elements that contribute to each element of the result, and their weights; equally many for each.
struct Taps {
    each: usize,
    index: Vec<i64>,
    weights: Vec<f64>,
}

impl Taps {
    fn new(op: Op, x: &Raw, along: &ResampledDim, mode: InterpolateMode) -> Result<Self> {
        let (kernel, reach): (fn(f64) -> f64, f64) = match mode {
            InterpolateMode::Cubic => (cubic, 2.0),
            _ => (triangle, 1.0),
        };
        let wider = along.scale.max(1.0);
        // PyTorch's rounding: elements within half an element of the kernel's ends count.
        let range = |i: usize| {
            let middle = along.scale * (i as f64 + 0.5);
            let end = |at: f64| (at + 0.5).clamp(0.0, along.size as f64) as usize;
            let (first, last) = (end(middle - reach * wider), end(middle + reach * wider));
            let first = first.min(along.size - 1);
            (middle, first..last.max(first + 1))
        };
        let each = ((2.0 * reach * wider).ceil() as usize).saturating_add(1);
        let each = along.size.min(each);
        let count = product([along.out, each]);
        let (mut index, mut weights) = (list(op, x, count)?, list(op, x, count)?);
        for i in 0..along.out {
            let (middle, taken) = range(i);
            let (start, spare) = (weights.len(), each - taken.len());
            weights.extend(
                taken
                    .clone()
                    .map(|j| kernel((j as f64 + 0.5 - middle) / wider)),
            );
            let total: f64 = weights[start..].iter().sum();
            weights[start..]
                .iter_mut()
                .for_each(|weight| *weight /= total);
            // Padding repeats the last element and shares its weight: an infinity times a weight of zero would be NaN.
            let last = weights.len() - 1;
            let share = weights[last] / (spare + 1) as f64;
            weights[last] = share;
            weights.extend(std::iter::repeat_n(share, spare));
            let end = taken.end - 1;
            index.extend(taken.map(|j| j as i64));
            index.extend(std::iter::repeat_n(end as i64, spare));
        }
        Ok(Self {
            each,
            index,
            weights,
        })
    }

    /// Sums the elements by their weights.
    fn summed(&self, op: Op, x: &Raw, dim: usize, out: usize) -> Result<Raw> {
        let index = Raw::from_vec(self.index.clone(), &[self.index.len()])?;
        let picked = index_select(op, x, dim, &to_device(&index, x.device())?)?;
        let mut split = Shape::from_slice(picked.shape());
        split[dim] = out;
        split.insert(dim + 1, self.each);
        let mut shape = Shape::from_elem(1, split.len());
        (shape[dim], shape[dim + 1]) = (out, self.each);
        let weights = to_dtype(&Raw::from_vec(self.weights.clone(), &shape)?, x.dtype())?;
        let (picked, weights) = (picked.reshape(&split)?, to_device(&weights, x.device())?);
        let program = [
            Node::Tensor(0),
            Node::Tensor(1),
            Node::Apply(Op::Mul, &[0, 1]),
        ];
        let by = FusedReduction {
            op: Op::Sum,
            dims: &[dim + 1],
            keepdim: false,
        };
        fused_reduce(&program, &[&picked, &weights], &[], None, by)
    }
}

/// Resizes one dim.
fn resized(
    op: Op,
    x: &Raw,
    dim: usize,
    along: &ResampledDim,
    mode: InterpolateMode,
) -> Result<Raw> {
    let taps = Taps::new(op, x, along, mode)?;
    let made = taps.summed(op, &x.clone().detach(), dim, along.out)?;
    record_linear(op, made, x, || {
        let mut weights = AxisWeights::new(dim, along.size, along.out);
        let each = taps.index.iter().zip(&taps.weights).enumerate();
        each.for_each(|(at, (&from, &by))| weights.add(at / taps.each, from as usize, by));
        vec![weights]
    })
}

fn triangle(x: f64) -> f64 {
    (1.0 - x.abs()).max(0.0)
}

/// Keys' cubic spline with -0.5, as PyTorch uses here.
fn cubic(x: f64) -> f64 {
    match x.abs() {
        x if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
        x if x < 2.0 => ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0,
        _ => 0.0,
    }
}
