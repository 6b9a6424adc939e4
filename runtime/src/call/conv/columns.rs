//! im2col and col2im: windows as columns, and back.

use nomina_core::op::Op;
use nomina_core::{ErrorKind, Result};

use super::convolve::positive;
use super::{check_count, check_limits, padded_size, refuse, too_long_kernel, too_much_padding};
use crate::call::backend::backend;
use crate::call::contiguous;
use crate::job::{ColumnsJob, Sliding, WindowDims};
use crate::raw::Raw;
use crate::shape::{count, product};
use crate::tape::{record_fold, record_im2col};

/// The arguments of a window that slides over two dims.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a> {
    /// The window's sizes.
    pub kernel: &'a [usize],
    /// The distance between elements under the window.
    pub dilation: &'a [usize],
    /// Zeros before and after.
    pub padding: &'a [usize],
    /// The distance between positions.
    pub stride: &'a [usize],
}

impl<'a> Columns<'a> {
    fn as_array(&self) -> [&'a [usize]; 4] {
        [self.kernel, self.dilation, self.padding, self.stride]
    }
}

fn windows(op: Op, x: &Raw, sizes: &[usize], args: &Columns<'_>) -> Result<WindowDims> {
    for (what, given) in [
        ("kernel_size", args.kernel),
        ("dilation", args.dilation),
        ("padding", args.padding),
        ("stride", args.stride),
    ] {
        check_count(op, x, what, given.len(), sizes.len())?;
    }
    let mut windows = [Sliding::NONE; 3];
    for (i, &size) in sizes.iter().enumerate() {
        let [kernel, stride, before, dilation] = [
            args.kernel[i],
            args.stride[i],
            args.padding[i],
            args.dilation[i],
        ];
        positive(op, x, 0, stride, dilation)?;
        check_limits(op, x, None, &[("output_size", size)])?;
        let Some(padded) = padded_size(size, before, before) else {
            return Err(too_much_padding(op, &[x], size, before));
        };
        let reach = Sliding::reach(kernel, dilation);
        if reach.is_none() && kernel > 0 {
            return Err(too_long_kernel(op, &[x], kernel, dilation));
        }
        let free = reach.and_then(|reach| padded.checked_sub(reach));
        let Some(free) = free else {
            let what = format!(
                "a window of {kernel} elements, {dilation} apart, over {size} with a padding of {before}"
            );
            return Err(
                refuse(ErrorKind::Shape, op, &[x], what).hint("pad more, or use a smaller window")
            );
        };
        windows[3 - sizes.len() + i] = Sliding {
            size,
            kernel,
            stride,
            before,
            dilation,
            out: free / stride + 1,
        };
    }
    Ok(windows)
}

/// Returns the elements of `(N, C, H, W)` under each position of a window: `(N, C * KH * KW, positions)`.
///
/// # Errors
/// If there is another number of dims, sizes do not fit, or memory is missing.
pub fn im2col(x: &Raw, args: &Columns<'_>) -> Result<Raw> {
    let op = Op::Im2col;
    if x.rank() != 4 {
        let what = format!("{} dims, expected 4", x.rank());
        return Err(
            refuse(ErrorKind::Rank, op, &[x], what).hint("add a batch dim with `unsqueeze`")
        );
    }
    let windows = windows(op, x, &x.shape()[2..], args)?;
    let (batch, channels) = (x.shape()[0], x.shape()[1]);
    let rows = product(windows.iter().map(|w| w.kernel).chain([channels]));
    let positions = product(windows.iter().map(|w| w.out));
    let mut out = Raw::empty(op.name(), &[batch, rows, positions], x.dtype(), x.device())?;
    let input = contiguous(x)?;
    let job = ColumnsJob {
        op: op.name(),
        dtype: x.dtype(),
        planes: count(&[batch, channels]),
        windows,
        x: input.as_ptr(),
        out: out.fresh_ptr(),
        fold: false,
    };
    if out.numel() > 0 {
        // SAFETY: the windows slide over the input's planes; the result is fresh and has room.
        unsafe { backend(op.name(), x.device())?.columns(&job)? };
    }
    record_im2col(out, x, args.as_array())
}

/// Sums the columns `(N, C * KH * KW, positions)` at the positions of their windows, in `(N, C, sizes)`.
///
/// # Errors
/// If there is another number of dims, sizes do not fit, or memory is missing.
pub fn fold(x: &Raw, sizes: &[usize], args: &Columns<'_>) -> Result<Raw> {
    let op = Op::Fold;
    if x.rank() != 3 || sizes.len() != 2 {
        let what = format!(
            "{} dims and {} sizes, expected 3 and 2",
            x.rank(),
            sizes.len()
        );
        return Err(refuse(ErrorKind::Rank, op, &[x], what)
            .hint("give columns as from `im2col`, and the sizes of two dims"));
    }
    op.row().check_dtype(x.dtype())?;
    let windows = windows(op, x, sizes, args)?;
    let taps = product(windows.iter().map(|w| w.kernel));
    let positions = product(windows.iter().map(|w| w.out));
    let rows = x.shape()[1];
    if !rows.is_multiple_of(taps) || x.shape()[2] != positions {
        let what = format!("columns for a window of {taps} elements at {positions} positions");
        return Err(refuse(ErrorKind::Shape, op, &[x], what)
            .hint("columns are (N, channels times window elements, positions)"));
    }
    let channels = rows / taps;
    let shape = [x.shape()[0], channels, sizes[0], sizes[1]];
    let mut out = Raw::empty(op.name(), &shape, x.dtype(), x.device())?;
    let input = contiguous(x)?;
    let job = ColumnsJob {
        op: op.name(),
        dtype: x.dtype(),
        planes: count(&shape[..2]),
        windows,
        x: input.as_ptr(),
        out: out.fresh_ptr(),
        fold: true,
    };
    if out.numel() > 0 {
        // SAFETY: as in `im2col`.
        unsafe { backend(op.name(), x.device())?.columns(&job)? };
    }
    record_fold(out, x, args.as_array())
}
