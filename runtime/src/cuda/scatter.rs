//! Scattering by an index: `scatter.cu`.

use nomina_core::{DType, Result};

use super::Cuda;
use super::gather::{Bounded, Check, StridedDims, bound, woven};
use super::index::StridedIndex;
use super::launch::Argument;
use super::module::Module;
use super::module_call::{ModuleCall, bits};
use super::order::sorted;
use super::source::{File, Source};
use crate::dispatch::accumulator;
use crate::job::{IndexJob, LineJob, Task, Update};

/// The most places of the target for which the last write to each is found with a list of all places, even if few are
/// written.
const PLACES: usize = 1 << 16;
/// Rows of floats for each place of the target above which they are added atomically, and not one after the other.
const LONG: usize = 64;

/// The arguments: `Update` of `scatter.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct UpdateArgs {
    target: *mut u8,
    other: *const u8,
    index: *const i64,
    count: u64,
    step: i64,
    size: i64,
    low: i64,
    last: *mut u8,
    keys: *const i32,
    wide_keys: *const i64,
    from: *const i64,
    other_step: i64,
    along: i64,
    extent: i64,
    flag: *mut u8,
    record: u32,
    check: u32,
    places: StridedIndex<5>,
}

// SAFETY: the struct `Update` of `scatter.cu`.
unsafe impl Argument for UpdateArgs {}

/// Returns the number of a rule in `scatter.cu`.
fn rule(how: Update) -> i64 {
    match how {
        Update::Set => 0,
        Update::Add => 1,
        Update::Mul => 2,
        Update::Max => 3,
        Update::Min => 4,
    }
}

/// Returns the module of a rule and a dtype. Rules that replace elements use an unsigned type of the same size.
fn source(how: Update, dtype: DType) -> Source {
    let source = Source::new(File::Scatter).number("RULE", rule(how));
    match how {
        Update::Set => source.word("T0", bits(dtype.size())),
        _ => source.dtype("T0", dtype),
    }
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    for wide in [false, true] {
        for dtype in [DType::U8, DType::I16, DType::I32, DType::I64, DType::C128] {
            all.push(Module::new(
                source(Update::Set, dtype).index(wide),
                &[
                    c"update_any",
                    c"update_claim",
                    c"update_last",
                    c"update_sorted",
                ],
            ));
        }
        for how in [Update::Add, Update::Mul, Update::Max, Update::Min] {
            let takes = |dtype: &DType| crate::cpu::gather::takes(how, *dtype);
            for dtype in DType::ALL.into_iter().filter(takes) {
                let entries = &[c"update_any", c"update_sorted"];
                all.push(Module::new(source(how, dtype).index(wide), entries));
            }
        }
    }
    all
}

/// A job in the form of the kernels.
struct Plan5<'a> {
    job: &'a IndexJob,
    how: Update,
    /// The dims besides the index's, with the strides of the target, the other operand and the index, the number of the
    /// line of the index, and 0.
    rest: StridedDims<5>,
    /// The number of lines of the index.
    lines: usize,
}

impl<'a> Plan5<'a> {
    fn new(job: &'a IndexJob, how: Update) -> Self {
        let mut lines = 1;
        let dims = job.rest.dims().iter().filter(|dim| dim.size != 1);
        let rest = dims.map(|dim| {
            let [target, other, index, ..] = dim.steps;
            // A dim over which the index is broadcast has one line.
            let line = if index == 0 { 0 } else { lines };
            if index != 0 {
                lines *= dim.size;
            }
            (dim.size, [target, other, index, line as isize, 0])
        });
        let rest = rest.collect();
        Self {
            job,
            how,
            rest,
            lines,
        }
    }

    /// Returns all dims, with lines that are `each` apart, in the order of the strides of operand `by`.
    fn dims(&self, along: (usize, [isize; 5]), each: usize, by: usize) -> StridedDims<5> {
        let mut rest = self.rest.clone();
        for (_, steps) in &mut rest {
            steps[3] *= each as isize;
        }
        woven(rest, along, by)
    }

    /// Returns the dim of the index.
    fn along(&self) -> (usize, [isize; 5]) {
        let job = self.job;
        (job.count, [0, job.other_step, job.index_step, 0, 1])
    }

    /// Starts a kernel over these dims. Returns false for more dims than kernels support.
    ///
    /// # Safety
    /// See [`update`].
    unsafe fn start(
        &self,
        call: &ModuleCall,
        entry: &'static std::ffi::CStr,
        dims: &StridedDims<5>,
        args: UpdateArgs,
    ) -> Result<bool> {
        let Some(places) = StridedIndex::from_dims(dims.iter().copied()) else {
            return Ok(false);
        };
        let count = dims.iter().map(|dim| dim.0).product();
        let args = UpdateArgs {
            count: count as u64,
            places,
            ..args
        };
        // SAFETY: the caller's promise.
        unsafe { call.each(entry, count, &args)? };
        Ok(true)
    }

    /// Returns whether the writes may be done in any order.
    fn any_order(&self) -> bool {
        let job = self.job;
        let dtype = job.target.dtype;
        let rows = self.lines == 1;
        match self.how {
            Update::Max | Update::Min => true,
            Update::Add | Update::Mul if dtype.is_integral() => true,
            // Narrow floats are accumulated in a wider dtype, which has no atomic operation on the target.
            Update::Add if accumulator(dtype) != dtype => job.count == 1,
            // With an index for each element, sums are atomic, and their rounding varies.
            Update::Add => !rows || job.count > LONG.saturating_mul(job.extent),
            Update::Mul => job.count == 1,
            Update::Set => {
                let same = self.rest.iter().all(|(_, steps)| steps[1] == 0);
                job.count == 1 || (same && job.other_step == 0)
            }
        }
    }
}

/// Scatters elements by an index. Returns false, without writing, for more dims than kernels support.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn update(cuda: &Cuda, job: &IndexJob, how: Update) -> Result<bool> {
    let plan = Plan5::new(job, how);
    let dims = plan.dims(plan.along(), job.extent, 1);
    let Some(places) = StridedIndex::from_dims(dims.iter().copied()) else {
        return Ok(false);
    };
    let writes: usize = dims.iter().map(|dim| dim.0).product();
    let listed = plan.lines.saturating_mul(job.extent);
    let most = writes.max(plan.lines * job.count).max(listed);
    let call = ModuleCall::new(cuda, job.op, source(how, job.target.dtype), most)?;
    let mut args = UpdateArgs {
        target: job.target.ptr,
        other: job.other.ptr,
        index: job.index,
        count: writes as u64,
        step: job.target_step as i64,
        size: 0,
        low: job.low,
        last: std::ptr::null_mut(),
        keys: std::ptr::null(),
        wide_keys: std::ptr::null(),
        from: std::ptr::null(),
        other_step: job.other_step as i64,
        along: job.count as i64,
        extent: job.extent as i64,
        flag: std::ptr::null_mut(),
        record: 0,
        check: 0,
        places,
    };
    let few = listed <= PLACES.max(4 * plan.lines * job.count);
    // SAFETY: the caller's promise, here and below.
    unsafe {
        if plan.any_order() {
            let check = Check::new(call.cuda, job.op, job.unchecked.as_ref())?;
            args.checked(&check);
            return plan.start(&call, c"update_any", &dims, args);
        }
        if how == Update::Set && few {
            let check = Check::new(call.cuda, job.op, job.unchecked.as_ref())?;
            args.checked(&check);
            let last = call.zeros([listed, call.position()])?;
            args.last = last.as_ptr();
            let mut lines = plan.rest.clone();
            lines.retain(|(_, steps)| steps[2] != 0);
            for (_, steps) in &mut lines {
                steps[3] *= job.extent as isize;
            }
            let claims = woven(lines, plan.along(), 2);
            return Ok(plan.start(&call, c"update_claim", &claims, args)?
                && plan.start(&call, c"update_last", &dims, args)?);
        }
        by_order(&plan, &call, args)
    }
}

impl UpdateArgs {
    fn checked(&mut self, check: &Check) {
        self.size = check.size;
        self.flag = check.flag;
        self.record = check.record;
        self.check = check.check;
    }
}

/// Sorts the index, and combines elements of the same index in their order.
///
/// # Safety
/// See [`update`].
unsafe fn by_order(plan: &Plan5<'_>, call: &ModuleCall, mut args: UpdateArgs) -> Result<bool> {
    let job = plan.job;
    let (lines, count) = (plan.lines, job.count);
    let all = lines * count;
    // One more key is for indices out of range.
    let narrow = job.extent < i32::MAX as usize;
    let (dtype, bytes) = if narrow {
        (DType::I32, 4)
    } else {
        (DType::I64, 8)
    };
    let (keys, in_order, from) = (
        call.scratch([all, bytes])?,
        call.scratch([all, bytes])?,
        call.scratch([all, 8])?,
    );
    let mut dims = StridedDims::<1>::new();
    dims.push((count, [job.index_step]));
    let repeated = plan.rest.iter().filter(|(_, steps)| steps[2] != 0);
    dims.extend(repeated.map(|(size, steps)| (*size, [steps[2]])));
    let to = if narrow {
        Bounded::Keys(keys.as_ptr().cast())
    } else {
        Bounded::Wide(keys.as_ptr().cast())
    };
    let ends = [job.low, job.extent as i64];
    let unchecked = job.unchecked.as_ref();
    // SAFETY: the caller's promise; the workspaces have room for the index, here and below.
    if !unsafe { bound(call.cuda, job.op, job.index, &dims, unchecked, to, ends)? } {
        return Ok(false);
    }
    let (shape, strides) = ([lines, count], [count as isize, 1]);
    let ordered = LineJob {
        op: job.op,
        task: Task::Sort { descending: false },
        shape: &shape,
        strides: &strides,
        x: keys.as_ptr(),
        dtype,
        dim: 1,
        count,
        values: in_order.as_ptr(),
        positions: from.as_ptr().cast(),
        out_strides: &strides,
    };
    let width = usize::BITS - job.extent.leading_zeros();
    if narrow {
        args.keys = in_order.as_ptr().cast();
    } else {
        args.wide_keys = in_order.as_ptr().cast();
    }
    args.from = from.as_ptr().cast();
    let along = (count, [0, 0, 0, 0, 1]);
    let mut dims = plan.dims((1, [0; 5]), count, 1);
    dims.push(along);
    // SAFETY: the caller's promise.
    unsafe {
        Ok(sorted(call.cuda, &ordered, width)?
            && plan.start(call, c"update_sorted", &dims, args)?)
    }
}
