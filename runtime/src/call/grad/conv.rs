//! Convolutions and their transposes: each takes the other's gradient to its input. Operands are the batch, channels and the
//! dims that a kernel slides along; a weight has the channels of the side that has all of them, then those of a group.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use super::arithmetic::sum;
use super::{Back, by};
use crate::call::backend::backend;
use crate::call::conv::{convolve::strides, three};
use crate::call::product::conjugated;
use crate::call::reduce::address;
use crate::call::{
    ConvArgs, ConvSites, PadMode, TransposedArgs, contiguous, conv, conv_transpose, pad,
};
use crate::job::{Sliding, WeightGradientJob};
use crate::profile::Span;
use crate::raw::Raw;
use crate::shape::Shape;

/// How a kernel slides along each dim, from the side that has more elements to the other.
#[derive(Clone, Debug)]
struct Slides {
    op: Op,
    windows: Vec<Sliding>,
    groups: usize,
}

/// Records what a kernel slid over, or what its transpose added up.
pub(in crate::call) fn convolved(
    op: Op,
    out: Raw,
    [x, weight]: [&Raw; 2],
    bias: Option<&Raw>,
    (windows, groups): (&[Sliding], usize),
    transposed: bool,
) -> Result<Raw> {
    let make = || {
        let windows = windows[3 - (x.rank() - 2)..].to_vec();
        let slides = Slides {
            op,
            windows,
            groups,
        };
        let (x, weight) = (x.clone(), weight.clone());
        move |back: &Back<'_>, operand: usize| {
            let grad = back.grad()?;
            Ok(Some(match (operand, transposed) {
                (0, false) => slides.back(&grad, &conjugated(&weight)?, x.shape())?,
                (0, true) => slides.slid(&grad, &conjugated(&weight)?, x.shape())?,
                (1, false) => {
                    slides.of_weight(&conjugated(&x)?, &grad, weight.shape(), back.records())?
                }
                (1, true) => {
                    slides.of_weight(&grad, &conjugated(&x)?, weight.shape(), back.records())?
                }
                _ => {
                    let others = (0..grad.rank()).filter(|&dim| dim != 1);
                    sum(&grad, &others.collect::<Shape>(), false)?
                }
            }))
        }
    };
    match bias {
        Some(bias) => by(op, out, [x, weight, bias], make),
        None => by(op, out, [x, weight], make),
    }
}

impl Slides {
    fn each(&self, number: impl Fn(&Sliding) -> usize) -> Vec<usize> {
        self.windows.iter().map(number).collect()
    }

    /// Where the dims stand: `out` in a weight.
    fn at<R>(&self, out: usize, use_it: impl FnOnce(&ConvSites<'_>) -> R) -> R {
        let slide: Vec<usize> = (2..2 + self.windows.len()).collect();
        use_it(&ConvSites {
            channel: 1,
            spatial: &slide,
            out,
            weight_channel: 1 - out,
            kernel: &slide,
        })
    }

    /// From the side of the result back to a tensor of `shape`.
    fn back(&self, grad: &Raw, weight: &Raw, shape: &[usize]) -> Result<Raw> {
        if shape.contains(&0) || weight.numel() == 0 {
            return Raw::zeros("backward", shape, grad.dtype(), grad.device());
        }
        let reached = |window: &Sliding| {
            let reach = window.dilation * (window.kernel - 1) + 1;
            ((window.out - 1) * window.stride + reach).saturating_sub(2 * window.before)
        };
        let sizes = &shape[2..];
        let missing = self.windows.iter().zip(sizes);
        let missing: Vec<usize> = missing
            .map(|(window, size)| size.saturating_sub(reached(window)))
            .collect();
        let args = TransposedArgs {
            stride: &self.each(|window| window.stride),
            padding: &self.each(|window| window.before),
            output_padding: &missing,
            groups: self.groups,
            dilation: &self.each(|window| window.dilation),
        };
        let found = self.at(1, |at| {
            conv_transpose(self.op, grad, weight, None, at, &args)
        })?;
        fitting(found, shape)
    }

    /// From the side that is slid over to a tensor of `shape`.
    fn slid(&self, grad: &Raw, weight: &Raw, shape: &[usize]) -> Result<Raw> {
        if shape.contains(&0) || weight.numel() == 0 {
            return Raw::zeros("backward", shape, grad.dtype(), grad.device());
        }
        let args = ConvArgs {
            stride: &self.each(|window| window.stride),
            padding: Some(&self.each(|window| window.before)),
            dilation: &self.each(|window| window.dilation),
            groups: self.groups,
        };
        let found = self.at(0, |at| conv(self.op, grad, weight, None, at, &args))?;
        fitting(found, shape)
    }

    /// What each element of a kernel of `shape` has between the side that is slid over and the other: the one is slid over by
    /// the other, with the batch in place of channels, strides in place of dilations.
    fn of_weight(&self, over: &Raw, other: &Raw, shape: &[usize], records: bool) -> Result<Raw> {
        if shape.contains(&0) || over.numel() == 0 || other.numel() == 0 {
            return Raw::zeros("backward", shape, over.dtype(), over.device());
        }
        if !records && let Some(found) = self.at_once(over, other, shape)? {
            return Ok(found);
        }
        let (batch, channels) = (over.shape()[0], shape[1]);
        let mut split = Shape::from_slice(&[batch, self.groups, channels]);
        split.extend_from_slice(&over.shape()[2..]);
        let mut order: Shape = [2, 1, 0].into_iter().collect();
        order.extend(3..split.len());
        let mut joined = Shape::from_slice(&[channels, self.groups * batch]);
        joined.extend_from_slice(&over.shape()[2..]);
        let over = over.reshape(&split)?.permute(&order)?.reshape(&joined)?;
        let over = self.padded(&over)?;
        let args = ConvArgs {
            stride: &self.each(|window| window.dilation),
            padding: Some(&self.each(|window| window.before)),
            dilation: &self.each(|window| window.stride),
            groups: self.groups,
        };
        let slid_by = other.transpose(0, 1)?;
        let found = self.at(0, |at| conv(self.op, &over, &slid_by, None, at, &args))?;
        fitting(found.transpose(0, 1)?, shape)
    }

    /// The same by what a backend has for it.
    fn at_once(&self, over: &Raw, other: &Raw, shape: &[usize]) -> Result<Option<Raw>> {
        let (dtype, device) = (over.dtype(), over.device());
        if dtype != other.dtype() || device != other.device() {
            return Ok(None);
        }
        let op = self.op.name();
        let other = contiguous(other)?;
        let mut out = Raw::empty(op, shape, dtype, device)?;
        let apart = other.strides();
        let job = WeightGradientJob {
            op,
            dtype,
            batch: over.shape()[0],
            groups: self.groups,
            channels: shape[1],
            outs: shape[0] / self.groups,
            windows: three(Sliding::NONE, &self.windows),
            x: over.as_ptr(),
            x_strides: strides(over),
            grad: other.as_ptr(),
            grad_strides: [apart[0], apart[1], 1],
            out: address(&mut out),
        };
        let _span = Span::new(op);
        // SAFETY: windows slide over one operand and have the other's positions; the result is fresh and row-major.
        let found = unsafe { backend(op, device)?.conv_weight(&job)? };
        Ok(found.then_some(out))
    }

    /// With zeros behind where a window reaches farther beyond the last element than before the first.
    fn padded(&self, x: &Raw) -> Result<Raw> {
        let mut x = x.clone();
        for (at, window) in self.windows.iter().enumerate() {
            let reach = window.dilation * (window.kernel - 1) + 1;
            let end = (window.out - 1) * window.stride + reach;
            let more = end.saturating_sub(x.shape()[2 + at] + 2 * window.before);
            if more > 0 {
                let pairs = [(0, more as i64)];
                let none = Scalar::Int(0);
                x = pad(Op::Pad, &x, &[2 + at], &pairs, PadMode::Constant, none)?;
            }
        }
        Ok(x)
    }
}

/// As much of a tensor as `shape` has.
fn fitting(x: Raw, shape: &[usize]) -> Result<Raw> {
    let mut x = x;
    for (dim, &size) in shape.iter().enumerate() {
        if x.shape()[dim] > size {
            x = x.narrow(dim, 0, size)?;
        }
    }
    Ok(x)
}
