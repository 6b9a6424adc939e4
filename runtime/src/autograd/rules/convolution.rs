//! Gradients of convolutions and their transposes: each computes the other's gradient of its input. Operands are the batch, channels
//! and the dims that a kernel slides along; a weight has the channels of the side that has all of them, then those of a group.

use nomina_core::op::Op;
use nomina_core::{Result, Scalar};

use crate::call::arithmetic::sum;
use crate::call::{
    ConvArgs, ConvSites, PadMode, TransposedArgs, conjugated, conv, conv_transpose, pad,
    weight_gradient,
};
use crate::job::Sliding;
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{Backward, ConvolutionSaved, Upstream};

impl Backward for ConvolutionSaved {
    fn gradient(&self, upstream: &Upstream<'_>, operand: usize) -> Result<Option<Raw>> {
        let (grad, records) = (upstream.grad()?, upstream.records());
        let (x, weight) = (&self.x, &self.weight);
        let windows = ConvWindows {
            op: upstream.op(),
            windows: &self.windows,
            groups: self.groups,
        };
        Ok(Some(match (operand, self.transposed) {
            (0, false) => windows.transpose(&grad, &conjugated(weight)?, x.shape())?,
            (0, true) => windows.convolve(&grad, &conjugated(weight)?, x.shape())?,
            (1, false) => windows.of_weight(&conjugated(x)?, &grad, weight.shape(), records)?,
            (1, true) => windows.of_weight(&grad, &conjugated(x)?, weight.shape(), records)?,
            _ => {
                let others = (0..grad.rank()).filter(|&dim| dim != 1);
                sum(&grad, &others.collect::<Shape>(), false)?
            }
        }))
    }
}

/// The windows of a convolution, from the side with more elements to the other.
struct ConvWindows<'a> {
    op: Op,
    windows: &'a [Sliding],
    groups: usize,
}

impl ConvWindows<'_> {
    fn each(&self, number: impl Fn(&Sliding) -> usize) -> Vec<usize> {
        self.windows.iter().map(number).collect()
    }

    /// Calls `use_it` with the positions of the dims; `out` is that of the result's channels in a weight.
    fn with_sites<R>(&self, out: usize, use_it: impl FnOnce(&ConvSites<'_>) -> R) -> R {
        let slide: Vec<usize> = (2..2 + self.windows.len()).collect();
        use_it(&ConvSites {
            channel: 1,
            spatial: &slide,
            out,
            weight_channel: 1 - out,
            kernel: &slide,
        })
    }

    /// Convolves a gradient back, by the transpose, to a tensor of `shape`.
    fn transpose(&self, grad: &Raw, weight: &Raw, shape: &[usize]) -> Result<Raw> {
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
        let found = self.with_sites(1, |at| {
            conv_transpose(self.op, grad, weight, None, at, &args)
        })?;
        narrow_to(found, shape)
    }

    /// Convolves a gradient forward to a tensor of `shape`.
    fn convolve(&self, grad: &Raw, weight: &Raw, shape: &[usize]) -> Result<Raw> {
        if shape.contains(&0) || weight.numel() == 0 {
            return Raw::zeros("backward", shape, grad.dtype(), grad.device());
        }
        let args = ConvArgs {
            stride: &self.each(|window| window.stride),
            padding: Some(&self.each(|window| window.before)),
            dilation: &self.each(|window| window.dilation),
            groups: self.groups,
        };
        let found = self.with_sites(0, |at| conv(self.op, grad, weight, None, at, &args))?;
        narrow_to(found, shape)
    }

    /// Computes the gradient of a weight of `shape`: a convolution of the input side by the output side, in which the batch takes the
    /// place of the channels and strides that of dilations.
    fn of_weight(&self, over: &Raw, other: &Raw, shape: &[usize], records: bool) -> Result<Raw> {
        if shape.contains(&0) || over.numel() == 0 || other.numel() == 0 {
            return Raw::zeros("backward", shape, over.dtype(), over.device());
        }
        if !records
            && let Some(found) =
                weight_gradient(self.op, (self.windows, self.groups), over, other, shape)?
        {
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
        let found = self.with_sites(0, |at| conv(self.op, &over, &slid_by, None, at, &args))?;
        narrow_to(found.transpose(0, 1)?, shape)
    }

    /// Pads with zeros at the end of dims where a window reaches farther beyond the last element than before the first.
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

/// Narrows a tensor to `shape`.
fn narrow_to(x: Raw, shape: &[usize]) -> Result<Raw> {
    let mut x = x;
    for (dim, &size) in shape.iter().enumerate() {
        if x.shape()[dim] > size {
            x = x.narrow(dim, 0, size)?;
        }
    }
    Ok(x)
}
