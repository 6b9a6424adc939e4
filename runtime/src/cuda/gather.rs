//! Gathering by an index, and by a map for each dim: `gather.cu`.

use nomina_core::Result;

use super::Cuda;
use super::flag::Raise;
use super::index::{RANK, StridedIndex};
use super::launch::Argument;
use super::module::Module;
use super::module_call::{AHEAD, ModuleCall, bits};
use super::source::{File, Source};
use crate::SmallVec;
use crate::job::{IndexJob, SpreadJob, Unchecked};

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Pick {
    target: *const u8,
    other: *mut u8,
    index: *const i64,
    count: u64,
    step: i64,
    size: i64,
    flag: *mut u8,
    record: u32,
    check: u32,
    places: StridedIndex<3>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct IndexBound {
    index: *const i64,
    out: *mut i64,
    keys: *mut u32,
    count: u64,
    size: i64,
    low: i64,
    beyond: i64,
    flag: *mut u8,
    record: u32,
    check: u32,
    places: StridedIndex<1>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Spread {
    x: *const u8,
    out: *mut u8,
    count: u64,
    maps: [*const i64; RANK],
    places: StridedIndex<1>,
    value: [u8; 16],
}

// SAFETY: the structs of the same names in `gather.cu`.
unsafe impl Argument for Pick {}
// SAFETY: as above.
unsafe impl Argument for IndexBound {}
// SAFETY: as above; the value is at a multiple of 16 bytes, as its alignment in `gather.cu` requires.
unsafe impl Argument for Spread {}

const _: () = assert!(std::mem::offset_of!(Spread, value).is_multiple_of(16));

/// Returns the module for elements of `bytes` bytes.
fn sized(bytes: usize) -> Source {
    Source::new(File::Gather).word("ELEMENT", bits(bytes))
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let all = [1, 2, 4, 8, 16]
        .into_iter()
        .flat_map(|bytes| [(bytes, false), (bytes, true)]);
    all.map(|(bytes, wide)| {
        let entries = &[c"pick", c"bound", c"spread"];
        Module::new(sized(bytes).index(wide), entries)
    })
    .collect()
}

/// The check of an index in a kernel, and the flag that it raises.
pub(super) struct Check {
    pub(super) size: i64,
    pub(super) flag: *mut u8,
    pub(super) record: u32,
    pub(super) check: u32,
    /// Kept until the kernel is started.
    _raise: Option<Raise>,
}

impl Check {
    /// Prepares a check. An `index` of `None` was checked before.
    pub(super) fn new(
        cuda: &'static Cuda,
        op: &'static str,
        index: Option<&Unchecked>,
    ) -> Result<Self> {
        let Some(index) = index else {
            return Ok(Self {
                size: 0,
                flag: std::ptr::null_mut(),
                record: 0,
                check: 0,
                _raise: None,
            });
        };
        let own = index.clone();
        let raise = cuda.may_raise(op, move |wrong| own.error(wrong))?;
        Ok(Self {
            size: index.size as i64,
            flag: raise.flag,
            record: raise.record,
            check: if index.wraps() { 1 } else { 2 },
            _raise: Some(raise),
        })
    }
}

/// Dims with the strides of several operands, innermost first.
pub(super) type StridedDims<const N: usize> = SmallVec<[(usize, [isize; N]); 9]>;

/// Inserts the dim of the index into the other dims, in the order of the strides of operand `by`, and merges dims that
/// are contiguous in all operands.
pub(super) fn woven<const N: usize>(
    rest: StridedDims<N>,
    along: (usize, [isize; N]),
    by: usize,
) -> StridedDims<N> {
    let mut all = rest;
    all.retain(|(size, _)| *size != 1);
    if along.0 != 1 {
        let step = along.1[by].unsigned_abs();
        let at = all
            .iter()
            .position(|(_, steps)| steps[by].unsigned_abs() > step);
        all.insert(at.unwrap_or(all.len()), along);
    }
    let mut merged = StridedDims::<N>::new();
    for (size, steps) in all {
        match merged.last_mut() {
            Some((inner, by)) if (0..N).all(|k| steps[k] == by[k] * *inner as isize) => {
                *inner *= size;
            }
            _ => merged.push((size, steps)),
        }
    }
    merged
}

/// Widens the elements to words of up to 16 bytes if they are contiguous and aligned in all operands. Returns the bytes
/// of a word.
fn widened(job: &IndexJob, dims: &mut StridedDims<3>) -> usize {
    let size = job.target.dtype.size();
    let Some(&(inner, [from, to, by])) = dims.first() else {
        return size;
    };
    if from != size as isize || to != size as isize || by != 0 {
        return size;
    }
    let fits = |width: usize| {
        let whole = |step: isize| step.unsigned_abs().is_multiple_of(width);
        width > size
            && (inner * size).is_multiple_of(width)
            && whole(job.target_step)
            && whole(job.target.ptr as isize)
            && whole(job.other.ptr as isize)
            && dims[1..]
                .iter()
                .all(|(_, [a, b, _])| whole(*a) && whole(*b))
    };
    let Some(width) = [16, 8, 4, 2].into_iter().find(|&width| fits(width)) else {
        return size;
    };
    dims[0] = (inner * size / width, [width as isize, width as isize, 0]);
    width
}

/// Gathers elements by an index. Returns false, without reading, for more dims than kernels support.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn pick(cuda: &Cuda, job: &IndexJob) -> Result<bool> {
    let dims = job.rest.dims().iter();
    let rest = dims.map(|dim| (dim.size, [dim.steps[0], dim.steps[1], dim.steps[2]]));
    let along = (job.count, [0, job.other_step, job.index_step]);
    let mut dims = woven(rest.collect(), along, 1);
    let bytes = widened(job, &mut dims);
    let Some(places) = StridedIndex::from_dims(dims.iter().copied()) else {
        return Ok(false);
    };
    let count: usize = dims.iter().map(|dim| dim.0).product();
    let call = ModuleCall::new(cuda, job.op, sized(bytes), count)?;
    let check = Check::new(call.cuda, job.op, job.unchecked.as_ref())?;
    let args = Pick {
        target: job.target.ptr,
        other: job.other.ptr,
        index: job.index,
        count: count as u64,
        step: job.target_step as i64,
        size: check.size,
        flag: check.flag,
        record: check.record,
        check: check.check,
        places,
    };
    // SAFETY: the caller's promise.
    unsafe { call.each(c"pick", count.div_ceil(AHEAD), &args)? };
    Ok(true)
}

/// The result of [`bound`].
#[derive(Clone, Copy, Debug)]
pub(super) enum Bounded {
    /// The indices, with 0 for those out of range.
    Indices(*mut i64),
    /// The offset of each index from `low`, with `beyond` for those out of range.
    Wide(*mut i64),
    /// Like [`Self::Wide`], in 32 bits.
    Keys(*mut u32),
}

/// Checks an index of these dims, and writes it contiguously; as keys, offsets from `low`, with `beyond` for those out
/// of range. Returns false for more dims than kernels support.
///
/// # Safety
/// The index is readable with these dims, and the result has room for it.
pub(super) unsafe fn bound(
    cuda: &Cuda,
    op: &'static str,
    index: *const i64,
    dims: &StridedDims<1>,
    unchecked: Option<&Unchecked>,
    to: Bounded,
    [low, beyond]: [i64; 2],
) -> Result<bool> {
    let Some(places) = StridedIndex::from_dims(dims.iter().copied()) else {
        return Ok(false);
    };
    let count: usize = dims.iter().map(|dim| dim.0).product();
    let call = ModuleCall::new(cuda, op, sized(8), count)?;
    let check = Check::new(call.cuda, op, unchecked)?;
    let (out, keys) = match to {
        Bounded::Indices(out) | Bounded::Wide(out) => (out, std::ptr::null_mut()),
        Bounded::Keys(keys) => (std::ptr::null_mut(), keys),
    };
    let args = IndexBound {
        index,
        out,
        keys,
        count: count as u64,
        size: check.size,
        low,
        beyond,
        flag: check.flag,
        record: check.record,
        check: check.check,
        places,
    };
    // SAFETY: the caller's promise.
    unsafe { call.each(c"bound", count, &args)? };
    Ok(true)
}

/// Gathers elements by a map for each dim. Returns false, without reading, for more dims than kernels support.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn spread(cuda: &Cuda, job: &SpreadJob<'_>) -> Result<bool> {
    let rank = job.shape.len();
    let dims = (0..rank).rev();
    let steps = dims.map(|dim| (job.shape[dim], [job.x_strides[dim] * job.element as isize]));
    let Some(places) = StridedIndex::from_dims(steps) else {
        return Ok(false);
    };
    let count: usize = job.shape.iter().product();
    let call = ModuleCall::new(cuda, job.op, sized(job.element), count)?;
    let lists = job.maps.iter().flatten();
    let bytes = lists.map(|map| size_of_val(map.as_slice())).sum();
    let room = call.scratch([bytes])?;
    let (mut maps, mut at) = ([std::ptr::null(); RANK], room.as_ptr());
    for (dim, map) in job.maps.iter().rev().enumerate() {
        if let Some(map) = map {
            let bytes = size_of_val(map.as_slice());
            // SAFETY: the workspace has room for all maps; positions have 64 bits on both sides.
            unsafe { call.cuda.write(job.op, at, map.as_ptr().cast(), bytes)? };
            maps[dim] = at.cast_const().cast();
            at = at.wrapping_add(bytes);
        }
    }
    let mut value = [0; 16];
    // SAFETY: a constant has 16 bytes.
    unsafe { value.as_mut_ptr().copy_from(job.value.as_ptr(), 16) };
    let args = Spread {
        x: job.x,
        out: job.out,
        count: count as u64,
        maps,
        places,
        value,
    };
    // SAFETY: the caller's promise; every index of a map is within its dim, or negative.
    unsafe { call.each(c"spread", count.div_ceil(AHEAD), &args)? };
    Ok(true)
}
