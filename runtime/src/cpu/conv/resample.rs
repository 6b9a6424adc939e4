//! Resampling of planes to other sizes: dim by dim, each element is a weighted sum of a few
//! elements.

use half::{bf16, f16};
use nomina_core::DType;

use super::number::{ConvNumber, Widen};
use crate::job::ResampleJob;

use crate::cpu::parallel::{GRAIN, try_split};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::memory::NoMemory;
use crate::memory::scratch::{filled, room};
use crate::shape::product;

/// Resamples the planes.
///
/// # Safety
/// All elements are in bounds; nobody else accesses the result meanwhile.
pub(crate) unsafe fn execute(job: &ResampleJob<'_>) -> Result<(), NoMemory> {
    match job.dtype {
        DType::F32 => resample_as::<f32, f32>(job, |w| w as f32),
        DType::F64 => resample_as::<f64, f64>(job, |w| w),
        DType::F16 => resample_as::<f16, f32>(job, |w| w as f32),
        DType::BF16 => resample_as::<bf16, f32>(job, |w| w as f32),
        // The caller admits only floats.
        _ => Ok(()),
    }
}

/// A kernel that resamples one dim of a plane: `[outer, size, inner]` to `[outer, out, inner]`.
struct ResampleDim<'a, A> {
    from: &'a [A],
    to: &'a mut [A],
    size: usize,
    inner: usize,
    each: usize,
    index: &'a [usize],
    weight: &'a [A],
}

impl<A: ConvNumber + PartialEq> Kernel for ResampleDim<'_, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let out = self.index.len() / self.each;
        let outer = self.from.len() / (self.size * self.inner);
        for o in 0..outer {
            let from = &self.from[o * self.size * self.inner..(o + 1) * self.size * self.inner];
            let to = &mut self.to[o * out * self.inner..(o + 1) * out * self.inner];
            for (i, to) in to.chunks_exact_mut(self.inner).enumerate() {
                let taps = i * self.each..(i + 1) * self.each;
                to.fill(A::ZERO);
                for (&index, &weight) in self.index[taps.clone()].iter().zip(&self.weight[taps]) {
                    // A neighbour with weight zero may be infinite.
                    if weight == A::ZERO {
                        continue;
                    }
                    let row = &from[index * self.inner..(index + 1) * self.inner];
                    for (to, &x) in to.iter_mut().zip(row) {
                        *to = to.plus(weight.times(x));
                    }
                }
            }
        }
    }
}

fn resample_as<S: Widen<A>, A: ConvNumber + PartialEq>(
    job: &ResampleJob<'_>,
    weight: fn(f64) -> A,
) -> Result<(), NoMemory> {
    // The indices and weights for each dim and each element of the result.
    let mut tables: crate::SmallVec<[(Vec<usize>, Vec<A>); 3]> = crate::SmallVec::new();
    for dim in job.dims {
        let taps = (0..dim.out).flat_map(|i| {
            let (index, weights) = dim.taps(i);
            index.into_iter().zip(weights).take(dim.each())
        });
        let count = [dim.out, dim.each()];
        let (mut index, mut weights) = (room(count)?, room(count)?);
        for (at, by) in taps {
            index.push(at);
            weights.push(weight(by));
        }
        tables.push((index, weights));
    }
    let rank = job.dims.len();
    let size: usize = job.dims.iter().map(|dim| dim.size).product();
    let out_size: usize = job.dims.iter().map(|dim| dim.out).product();
    // The greatest of all intermediate sizes of a plane.
    let mut most = size;
    for dim in 0..rank {
        let outer: usize = job.dims[..dim].iter().map(|dim| dim.size).product();
        let inner = job.dims[dim..].iter().map(|dim| dim.out);
        most = most.max(product([outer, inner.product()]));
    }
    try_split(job.planes, GRAIN / (size + out_size), &|range| {
        let (mut from, mut to) = (room::<A, _>([most])?, filled([most], A::ZERO)?);
        for plane in range {
            let x = job.x.cast::<S>().wrapping_add(plane * size);
            from.clear();
            // SAFETY: the plane has `size` elements.
            from.extend((0..size).map(|i| unsafe { x.add(i).read() }.up()));
            // From the last dim on, each dim is resampled in turn.
            let mut inner = 1;
            for dim in (0..rank).rev() {
                let along = &job.dims[dim];
                let outer: usize = job.dims[..dim].iter().map(|dim| dim.size).product();
                to.clear();
                to.resize(outer * along.out * inner, A::ZERO);
                dispatch(ResampleDim {
                    from: &from,
                    to: &mut to,
                    size: along.size,
                    inner,
                    each: along.each(),
                    index: &tables[dim].0,
                    weight: &tables[dim].1,
                });
                std::mem::swap(&mut from, &mut to);
                inner *= along.out;
            }
            let out = job.out.cast::<S>().wrapping_add(plane * out_size);
            for (i, &value) in from.iter().enumerate() {
                // SAFETY: this task owns the plane.
                unsafe { out.add(i).write(S::down(value)) };
            }
        }
        Ok(())
    })
}
