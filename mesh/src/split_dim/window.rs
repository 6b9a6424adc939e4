//! Sliding windows along a split dim (halo exchange): each rank fetches the elements under the windows of its own
//! results, from as many neighbours as they reach, and computes these results as a single rank would.

use nomina::{
    AvgPoolOptions, ConvOptions, DynTensor, Error, ErrorKind, MaxPoolOptions, Padding, Result,
    Scalar,
};
use nomina_core::rule::{self, FilterForm, Sites};

use super::route::{Range, Route};
use super::{SplitDim, with_dependency};
use crate::identity;
use crate::metadata::Metadata;
use crate::origin::CallSite;
use crate::partition::part;

/// A window along one dim.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    /// The number of elements from the first under the window to the last.
    pub(crate) span: usize,
    pub(crate) stride: usize,
    /// The padding before the first and after the last element.
    pub(crate) padding: [usize; 2],
    /// Whether a last window that starts inside counts although it reaches past the end.
    pub(crate) ceil: bool,
}

/// The input from which a rank computes its results.
pub(crate) struct WindowInput {
    /// The fetched elements, without padding.
    fetched: DynTensor,
    /// The elements under the windows, padding included.
    pub(crate) x: DynTensor,
    /// The padding on each side.
    pub(crate) padding: [usize; 2],
    /// The number of this rank's results. If it is 0, `x` is a single window of padding.
    pub(crate) count: usize,
    /// The number of results over all ranks.
    pub(crate) all_count: usize,
}

impl Window {
    /// Returns the number of windows along a dim of `size`; `None` if the window does not fit or the arithmetic
    /// overflows.
    pub(crate) fn count(&self, size: usize) -> Option<usize> {
        let [before, after] = self.padding;
        let wide = size.checked_add(before)?.checked_add(after)?;
        if self.ceil && wide < self.span {
            return (self.span - wide < self.stride).then_some(1);
        }
        let room = wide.checked_sub(self.span)?;
        let count = if self.ceil {
            let count = room.div_ceil(self.stride) + 1;
            // The last window must start at an element or in the padding before the first.
            let beyond = (count - 1).checked_mul(self.stride)? >= size + before;
            count - usize::from(beyond && count > 1)
        } else {
            room / self.stride + 1
        };
        Some(count)
    }

    /// Returns the range of elements that a rank needs for its results, and the padding on each side of it.
    fn needs(&self, size: usize, (first, own): Range) -> (Range, [usize; 2]) {
        let [before, _] = self.padding;
        if own == 0 {
            return ((0, 0), [self.span, 0]);
        }
        let (from, until) = (
            first * self.stride,
            // With counts rounded up, the last window may reach past the elements.
            ((first + own - 1) * self.stride).saturating_add(self.span),
        );
        // Positions count from the start of the padding.
        let (start, end) = (
            from.clamp(before, before + size),
            until.clamp(before, before + size),
        );
        (
            (start - before, end - start),
            [
                start.saturating_sub(from).min(until - from),
                until.saturating_sub(end.max(from)),
            ],
        )
    }
}

/// Pads a dim with `fill`.
pub(crate) fn pad(
    x: &DynTensor,
    dim: usize,
    counts: [usize; 2],
    fill: Scalar,
) -> Result<DynTensor> {
    if counts == [0, 0] {
        return Ok(x.clone());
    }
    let factory = DynTensor::options().dtype(x.dtype()).device(x.device());
    let make = |count: usize| {
        let mut shape = x.shape().to_vec();
        shape[dim] = count;
        factory.full(&shape, fill, x.names().clone())
    };
    let (before, after) = (make(counts[0])?, make(counts[1])?);
    DynTensor::cat(&[&before, x, &after], dim)
}

impl WindowInput {
    /// Returns this rank's elements and those around them, for operators with one result per element.
    pub(crate) fn with_neighbours(&self, dim: usize) -> Result<DynTensor> {
        match self.count {
            // A rank without elements: its dummy window has one, which is dropped.
            0 => self.x.narrow(dim, 0, self.x.shape()[dim] - 1),
            _ => Ok(self.x.clone()),
        }
    }

    /// Returns this rank's results from those computed from [`x`](Self::x) and `other_operands`. A rank without
    /// results drops the result of its dummy window.
    pub(crate) fn own_results(
        &self,
        op: &'static str,
        found: DynTensor,
        dim: usize,
        other_operands: &[&DynTensor],
    ) -> Result<DynTensor> {
        let operands = || std::iter::once(&self.fetched).chain(other_operands.iter().copied());
        match self.count {
            0 => {
                let operands: Vec<DynTensor> = operands().cloned().collect();
                with_dependency(op, found.detach().narrow(dim, 0, 0)?, &operands)
            }
            _ => Ok(found),
        }
    }
}

impl SplitDim {
    /// Fetches the elements under the windows of this rank's results.
    pub(crate) fn fetch_windows(
        &self,
        x: &DynTensor,
        window: &Window,
        fill: Scalar,
    ) -> Result<WindowInput> {
        let (size, ranks) = (self.size(), self.ranks());
        let all_count = match window.stride {
            0 => None,
            _ => window.count(size),
        };
        let Some(all_count) = all_count else {
            let what = format!(
                "a window of {} elements with stride {} along a dim of {size}, with {:?} around",
                window.span, window.stride, window.padding
            );
            let error = Error::new(ErrorKind::Shape, self.op, what);
            return Err(error
                .operand(&self.metadata.names, &self.metadata.sizes)
                .hint("use a smaller window or more padding"));
        };
        let needs = |rank| window.needs(size, part(all_count, ranks, rank));
        let wants = (0..ranks).map(|rank| vec![needs(rank).0]).collect();
        let x = self.fetch(x, &Route::from_partition(size, ranks, wants))?;
        let counts = needs(self.rank()).1;
        let mut wide = pad(&x, self.dim, counts, fill)?;
        if x.shape()[self.dim] == 0 {
            wide = with_dependency(self.op, wide, std::slice::from_ref(&x))?;
        }
        Ok(WindowInput {
            x: wide,
            fetched: x,
            padding: counts,
            count: part(all_count, ranks, self.rank()).1,
            all_count,
        })
    }
}

/// An operator that slides along dims, some of which are split.
pub(crate) struct SlidingOp {
    pub(crate) metadata: Metadata,
    pub(crate) op: &'static str,
    pub(crate) at: CallSite,
    /// The dims in order, each with the axis that splits it.
    pub(crate) dims: Vec<(usize, Option<usize>)>,
}

/// A result, and the global sizes of the split dims that changed.
pub(crate) struct WindowResult {
    pub(crate) local: DynTensor,
    pub(crate) sizes: Vec<(usize, usize)>,
}

impl From<DynTensor> for WindowResult {
    /// Wraps a result whose split dims keep their sizes.
    fn from(local: DynTensor) -> Self {
        Self {
            local,
            sizes: Vec::new(),
        }
    }
}

/// Returns the error for grouped channels with split output channels.
pub(crate) fn split_groups_error(op: &'static str, groups: usize) -> Error {
    let what = format!("{groups} groups of channels, but split output channels");
    Error::new(ErrorKind::Argument, op, what).hint("split the groups by hand, or gather the weight")
}

impl SlidingOp {
    /// Returns the positions of the dims.
    pub(crate) fn dim_positions(&self) -> Vec<usize> {
        self.dims.iter().map(|(dim, _)| *dim).collect()
    }

    pub(super) fn error(&self, kind: ErrorKind, what: String) -> Error {
        Error::new(kind, self.op, what).operand(&self.metadata.names, &self.metadata.sizes)
    }

    /// Fetches the elements under the windows along split dims and calls `compute` with them and their padding.
    /// `other_operands` has the other operands that `compute` uses.
    pub(crate) fn slide(
        &self,
        x: &DynTensor,
        windows: &[Window],
        fill: Scalar,
        other_operands: &[&DynTensor],
        compute: impl FnOnce(&DynTensor, &[(usize, [usize; 2])]) -> Result<DynTensor>,
    ) -> Result<WindowResult> {
        let (mut x, mut sizes, mut outside) = (x.clone(), Vec::new(), Vec::new());
        let mut along = Vec::new();
        for (&(dim, axis), window) in self.dims.iter().zip(windows) {
            let Some(axis) = axis else { continue };
            let split_dim = SplitDim {
                metadata: self.metadata.clone(),
                op: self.op,
                dim,
                axis,
                at: self.at,
            };
            let input = split_dim.fetch_windows(&x, window, fill)?;
            outside.push((dim, input.padding));
            sizes.push((dim, input.all_count));
            x = input.x.clone();
            along.push((dim, input));
        }
        let mut local = compute(&x, &outside)?;
        for (dim, input) in along {
            local = input.own_results(self.op, local, dim, other_operands)?;
        }
        Ok(WindowResult { local, sizes })
    }

    /// Returns a window's span, after checking that `kernel` and `dilation` are at least 1.
    pub(super) fn span(&self, kernel: usize, dilation: usize) -> Result<usize> {
        let reach = kernel.checked_sub(1).filter(|_| dilation > 0);
        let reach = reach.and_then(|reach| reach.checked_mul(dilation)?.checked_add(1));
        reach.ok_or_else(|| {
            let what = format!("a window of {kernel} elements at a distance of {dilation}");
            self.error(ErrorKind::Argument, what)
                .hint("both are at least 1")
        })
    }

    /// Runs a convolution; `compute` is the operator on one rank. The padding along split dims is done here.
    pub(crate) fn conv<const S: usize>(
        &self,
        x: &DynTensor,
        channel: usize,
        weight: &DynTensor,
        bias: Option<&DynTensor>,
        mut options: ConvOptions<S>,
        compute: impl FnOnce(&DynTensor, Option<&DynTensor>, ConvOptions<S>) -> Result<DynTensor>,
    ) -> Result<WindowResult> {
        let sites = Sites {
            channel,
            spatial: self.dims.iter().map(|(dim, _)| *dim).collect(),
        };
        let form = FilterForm {
            by_name: true,
            transposed: false,
        };
        let filter = rule::filter(self.op, x.names(), &sites, weight.names(), form)?;
        if self.dims.iter().all(|(_, axis)| axis.is_none()) {
            return compute(x, bias, options).map(WindowResult::from);
        }
        let same = options.padding == Padding::Same;
        if same && options.stride != [1; S] {
            let what = format!("`same` padding with strides of {:?}", options.stride);
            return Err(self
                .error(ErrorKind::Argument, what)
                .hint("give the padding, or use a stride of 1"));
        }
        let (mut x, mut windows, mut zeros) = (x.clone(), Vec::with_capacity(S), [0; S]);
        for (i, &(dim, axis)) in self.dims.iter().enumerate().take(S) {
            let kernel = weight.shape()[filter.kernel[i]];
            let span = self.span(kernel, options.dilation[i])?;
            let zeros_around = match options.padding {
                Padding::Zeros(zeros) => [zeros[i]; 2],
                Padding::Same => [(span - 1) / 2, span - 1 - (span - 1) / 2],
            };
            match axis {
                None if same => x = pad(&x, dim, zeros_around, Scalar::Int(0))?,
                None => zeros[i] = zeros_around[0],
                Some(_) => {}
            }
            windows.push(Window {
                span,
                stride: options.stride[i],
                padding: zeros_around,
                ceil: false,
            });
        }
        options.padding = Padding::Zeros(zeros);
        let other_operands: Vec<&DynTensor> = std::iter::once(weight).chain(bias).collect();
        let zero = Scalar::Int(0);
        self.slide(&x, &windows, zero, &other_operands, |x, _| {
            compute(x, bias, options)
        })
    }

    /// Returns the windows of a pool, and the padding that is left to the operator: that along dims that are not split.
    fn pool_windows<const S: usize>(
        &self,
        kernel: [usize; S],
        dilation: [usize; S],
        stride: [usize; S],
        padding: [usize; S],
        ceil: bool,
    ) -> Result<(Vec<Window>, [usize; S])> {
        let (mut windows, mut rest) = (Vec::with_capacity(S), padding);
        for (i, &(_, axis)) in self.dims.iter().enumerate().take(S) {
            if axis.is_some() {
                let span = self.span(kernel[i], dilation[i])?;
                if padding[i] > span / 2 {
                    let what = format!("padding {} for a window of {}", padding[i], kernel[i]);
                    return Err(self
                        .error(ErrorKind::Argument, what)
                        .hint("pad by at most half of the window"));
                }
                rest[i] = 0;
            }
            windows.push(Window {
                span: self.span(kernel[i], dilation[i])?,
                stride: stride[i],
                padding: [padding[i]; 2],
                ceil,
            });
        }
        Ok((windows, rest))
    }

    /// Computes the maxima under windows.
    pub(crate) fn max_pool<const S: usize>(
        &self,
        x: &DynTensor,
        kernel: [usize; S],
        options: MaxPoolOptions<S>,
        compute: impl FnOnce(&DynTensor, MaxPoolOptions<S>) -> Result<DynTensor>,
    ) -> Result<WindowResult> {
        let stride = options.stride.unwrap_or(kernel);
        let MaxPoolOptions {
            dilation,
            padding,
            ceil_mode,
            ..
        } = options;
        let (windows, padding) = self.pool_windows(kernel, dilation, stride, padding, ceil_mode)?;
        let least = identity::extreme_number(x.dtype(), true);
        let options = MaxPoolOptions { padding, ..options };
        self.slide(x, &windows, least, &[], |x, _| compute(x, options))
    }

    /// Computes the means under windows.
    pub(crate) fn avg_pool<const S: usize>(
        &self,
        x: &DynTensor,
        kernel: [usize; S],
        options: AvgPoolOptions<S>,
        compute: impl Fn(&DynTensor, AvgPoolOptions<S>) -> Result<DynTensor>,
    ) -> Result<WindowResult> {
        let split = self.dims.iter().any(|(_, axis)| axis.is_some());
        if split && options.ceil_mode {
            let what = "`ceil_mode` of means along a split dim: the last windows are smaller";
            return Err(self
                .error(ErrorKind::Argument, what.to_owned())
                .hint("pad the dim, or gather it"));
        }
        let stride = options.stride.unwrap_or(kernel);
        let (windows, padding) =
            self.pool_windows(kernel, [1; S], stride, options.padding, false)?;
        let own = AvgPoolOptions { padding, ..options };
        let zero = Scalar::Int(0);
        if !split || options.count_include_pad || options.divisor_override.is_some() {
            return self.slide(x, &windows, zero, &[], |x, _| compute(x, own));
        }
        // The sums, divided by the number of elements that are not padding.
        let sums = AvgPoolOptions {
            divisor_override: Some(1),
            ..own
        };
        self.slide(x, &windows, zero, &[], |x, outside| {
            let mut ones = x.detach().ones_like()?;
            for &(dim, [before, after]) in outside {
                let inside = ones.shape()[dim] - before - after;
                ones = pad(&ones.narrow(dim, 0, inside)?, dim, [before, after], zero)?;
            }
            compute(x, sums)?.div(&compute(&ones, sums)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_needs_what_its_windows_cover() {
        for size in 1..=9 {
            for span in 1..=4 {
                for stride in 1..=3 {
                    for padding in [[0, 0], [1, 1], [2, 1], [3, 3]] {
                        for ceil in [false, true] {
                            let window = Window {
                                span,
                                stride,
                                padding,
                                ceil,
                            };
                            let Some(all) = window.count(size) else {
                                continue;
                            };
                            for ranks in 1..=4 {
                                for rank in 0..ranks {
                                    let (first, own) = part(all, ranks, rank);
                                    let ((start, len), [before, after]) =
                                        window.needs(size, (first, own));
                                    assert!(start + len <= size);
                                    let covered = before + len + after;
                                    let windows = (own.max(1) - 1) * stride + span;
                                    assert_eq!(
                                        covered, windows,
                                        "{window:?} {size} {rank}/{ranks}"
                                    );
                                    if own > 0 && len > 0 {
                                        assert_eq!(first * stride + before, start + padding[0]);
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
