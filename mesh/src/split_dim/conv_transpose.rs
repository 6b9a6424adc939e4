//! Transposed convolutions along split dims: each rank computes its part of the results from all elements whose kernels
//! reach it. Each result is the sum that a single rank would compute, and ranks exchange elements rather than partial
//! results.

use nomina::{ConvTransposeOptions, DynTensor, Error, ErrorKind, Result, Scalar};
use nomina_core::rule::{self, FilterForm, Sites};

use super::route::{Range, Route};
use super::window::{SlidingOp, WindowResult, pad};
use super::{SplitDim, with_dependency, with_names_of};
use crate::partition::part;

/// The kernels of a dim's elements, `stride` apart.
#[derive(Clone, Copy, Debug)]
struct KernelSpans {
    span: usize,
    stride: usize,
    /// The number of results cut off at the start.
    before: usize,
    /// The number of results over all ranks, after the cut.
    all: usize,
}

impl KernelSpans {
    /// Returns the elements whose kernels reach a range of results.
    fn needs(&self, size: usize, (first, own): Range) -> Range {
        if own == 0 {
            return (0, 0);
        }
        let first = first + self.before;
        let start = (first + 1).saturating_sub(self.span).div_ceil(self.stride);
        let end = (first + own).div_ceil(self.stride).min(size);
        (start.min(end), end.saturating_sub(start))
    }

    /// Cuts a range of results out of the `len` results of the elements from `start` on. Returns the start and length
    /// of the cut, and the numbers of zeros to add before and after it.
    fn cut(&self, start: usize, len: usize, (first, own): Range) -> (usize, usize, [usize; 2]) {
        let (have, want) = (start * self.stride, first + self.before);
        let (from, until) = (have.max(want), (have + len).min(want + own));
        (from - have, until - from, [from - want, want + own - until])
    }
}

impl SlidingOp {
    /// Runs a transposed convolution; `compute` is the operator on one rank. Padding and output padding of split dims
    /// are applied here, so the bias is added last.
    pub(crate) fn conv_transpose<const S: usize>(
        &self,
        x: &DynTensor,
        channel: usize,
        weight: &DynTensor,
        bias: Option<&DynTensor>,
        mut options: ConvTransposeOptions<S>,
        compute: impl FnOnce(
            &DynTensor,
            Option<&DynTensor>,
            ConvTransposeOptions<S>,
        ) -> Result<DynTensor>,
    ) -> Result<WindowResult> {
        if self.dims.iter().all(|(_, axis)| axis.is_none()) {
            return compute(x, bias, options).map(WindowResult::from);
        }
        let sites = Sites {
            channel,
            spatial: self.dim_positions().into_iter().collect(),
        };
        let form = FilterForm {
            by_name: true,
            transposed: true,
        };
        let filter = rule::filter(self.op, x.names(), &sites, weight.names(), form)?;
        let mut names = filter.names;
        if let Some(bias) = bias {
            let out = weight.names()[filter.out].as_ref();
            names = rule::filter_bias(self.op, names, &sites, out, bias.names())?;
            if bias.dtype() != x.dtype() {
                let what = format!("a bias of {} for {}", bias.dtype(), x.dtype());
                return Err(self.error(ErrorKind::DType, what));
            }
        }
        let (mut wide, mut along) = (x.clone(), Vec::new());
        for (i, &(dim, axis)) in self.dims.iter().enumerate().take(S) {
            let Some(axis) = axis else { continue };
            let split_dim = SplitDim {
                metadata: self.metadata.clone(),
                op: self.op,
                dim,
                axis,
                at: self.at,
            };
            let spans = self.spans(
                split_dim.size(),
                weight.shape()[filter.kernel[i]],
                i,
                &options,
            )?;
            (options.padding[i], options.output_padding[i]) = (0, 0);
            let (size, ranks) = (split_dim.size(), split_dim.ranks());
            let own = |rank| part(spans.all, ranks, rank);
            let needs = |rank| spans.needs(size, own(rank));
            let wants = (0..ranks).map(|rank| vec![needs(rank)]).collect();
            let fetched = split_dim.fetch(&wide, &Route::from_partition(size, ranks, wants))?;
            let (start, len) = needs(split_dim.rank());
            wide = match len {
                // A dummy element: the operator does not accept an empty dim.
                0 => {
                    let one = pad(&fetched, dim, [1, 0], Scalar::Int(0))?;
                    with_dependency(self.op, one, std::slice::from_ref(&fetched))?
                }
                _ => fetched.clone(),
            };
            along.push((dim, spans, (start, len), own(split_dim.rank()), fetched));
        }
        let mut local = compute(&wide, None, options)?;
        let mut sizes = Vec::new();
        for (dim, spans, (start, len), own, fetched) in along {
            let (from, count, zeros) = match len {
                0 => (0, 0, [own.1, 0]),
                _ => spans.cut(start, local.shape()[dim], own),
            };
            let cut = local.narrow(dim, from as i64, count)?;
            local = pad(&cut, dim, zeros, Scalar::Int(0))?;
            if len == 0 {
                local = with_dependency(self.op, local.detach(), &[fetched, weight.clone()])?;
            }
            sizes.push((dim, spans.all));
        }
        let (mut raw, mut shape) = (local.into_parts().0, vec![1; x.rank()]);
        if let Some(bias) = bias {
            shape[channel] = bias.numel();
            let like = DynTensor::from_parts(raw, names.clone())?;
            let bias = with_names_of(bias.raw().reshape(&shape)?, &like)?;
            raw = like.add(&bias)?.into_parts().0;
        }
        Ok(WindowResult {
            local: DynTensor::from_parts(raw, names)?,
            sizes,
        })
    }

    /// Returns the kernels along the `i`-th dim, which has `size` elements over all ranks.
    fn spans<const S: usize>(
        &self,
        size: usize,
        kernel: usize,
        i: usize,
        options: &ConvTransposeOptions<S>,
    ) -> Result<KernelSpans> {
        let (stride, dilation) = (options.stride[i], options.dilation[i]);
        let span = self.span(kernel, dilation)?;
        let (before, more) = (options.padding[i], options.output_padding[i]);
        if stride == 0 || more >= stride.max(dilation) {
            let what = format!("an output padding of {more} with a stride of {stride}");
            return Err(self
                .error(ErrorKind::Argument, what)
                .hint("strides are at least 1, paddings below stride or dilation"));
        }
        let last = size
            .checked_sub(1)
            .and_then(|last| last.checked_mul(stride));
        let whole = last.and_then(|last| last.checked_add(span)?.checked_add(more));
        let all = whole.and_then(|whole| whole.checked_sub(before.checked_mul(2)?));
        match all.filter(|all| *all > 0) {
            Some(all) => Ok(KernelSpans {
                span,
                stride,
                before,
                all,
            }),
            None => {
                let what = format!(
                    "{size} elements and a kernel of {kernel} with a padding of {before} give no size"
                );
                let error: Error = self.error(ErrorKind::Shape, what);
                Err(error.hint("use less padding, or a larger kernel"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_needs_what_reaches_its_results() {
        for size in 1..=6 {
            for span in 1..=4 {
                for stride in 1..=5 {
                    for before in 0..=2 {
                        for more in 0..stride {
                            let whole = (size - 1) * stride + span + more;
                            if whole <= 2 * before {
                                continue;
                            }
                            let all = whole - 2 * before;
                            let spans = KernelSpans {
                                span,
                                stride,
                                before,
                                all,
                            };
                            for own in (1..=4).flat_map(|ranks| {
                                (0..ranks).map(move |rank| part(all, ranks, rank))
                            }) {
                                let results = own.0 + before..own.0 + before + own.1;
                                let reach = |i: &usize| {
                                    let kernel = i * stride..i * stride + span;
                                    let both = results.start.max(kernel.start)
                                        ..results.end.min(kernel.end);
                                    !both.is_empty()
                                };
                                let expected: Vec<usize> = (0..size).filter(reach).collect();
                                let (start, len) = spans.needs(size, own);
                                let found: Vec<usize> = (start..start + len).collect();
                                assert_eq!(found, expected, "{spans:?} {size} {own:?}");
                                if len > 0 {
                                    let of = (len - 1) * stride + span;
                                    let (from, count, zeros) = spans.cut(start, of, own);
                                    assert_eq!(zeros[0] + count + zeros[1], own.1);
                                    assert_eq!(start * stride + from, results.start + zeros[0]);
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
