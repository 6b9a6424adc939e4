//! Convolutions by cuDNN, where it is installed: it is loaded when the first convolution asks for it, and asked for an
//! algorithm once for every kind of convolution.
//!
//! Operands that do not lie without gaps, channels innermost or outermost, are copied first. A bias is added afterwards.

mod api;
mod plan;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::choice::Who;
use super::context::{Cuda, lock};
use super::probe;
use crate::job::{Backend, ConvJob, Input, Place, Pointwise, TransposedJob, WeightGradientJob};
use crate::plan::Plan;
use crate::shape::{Shape, Strides};
use crate::storage::DeviceBuffer;
use api::{Functions, Object, Status};
use plan::{ConvPlan, Question, Sizes, Way, strides};

/// Plans that are kept. A program with more kinds of convolutions starts over.
const KEPT: usize = 4096;

/// Multiplications up to which a start of our own kernel costs less than one of the library.
const SMALL: usize = 1 << 18;

/// Who convolves, as `NOMINA_CUDA_CONV` says.
pub(super) fn who() -> Who {
    static WHO: OnceLock<Who> = OnceLock::new();
    *WHO.get_or_init(|| Who::of("NOMINA_CUDA_CONV", "cudnn"))
}

/// The library on one device.
#[derive(Debug)]
pub(super) struct Library {
    api: Functions,
    version: (u32, u32),
    /// One thread at a time uses it.
    used: Mutex<Used>,
    made: AtomicU64,
}

#[derive(Debug)]
struct Used {
    handle: Object,
    /// `None` for what the library has no way for.
    plans: HashMap<Question, Option<ConvPlan>>,
}

// SAFETY: a handle may be used by any thread, one at a time.
unsafe impl Send for Used {}

impl Library {
    /// Opens the library, or says why it does not convolve.
    pub(super) fn open(cuda: &Cuda) -> Result<Self, String> {
        let api = Functions::load()?;
        let op = Op::Conv2d.name();
        let text = |error: Error| error.to_string();
        // SAFETY: takes nothing.
        let (version, of) = unsafe { ((api.version)() as u32, (api.cuda)() as u32) };
        let version = (version / 10_000, version % 10_000 / 100);
        if version.0 < 9 {
            let (major, minor) = version;
            return Err(format!(
                "libcudnn is cuDNN {major}.{minor}, and 9 is the oldest that is known"
            ));
        }
        probe::fits(op, "libcudnn", "nvidia-cudnn-cu", probe::numbers(of)).map_err(text)?;
        let _bound = cuda.bind(op).map_err(text)?;
        let said = |status: Status| format!("cuDNN does not start: {}", api.words(status));
        let mut handle = null_mut();
        // SAFETY: the device's context is bound, this is a place for a handle, and the stream is never destroyed.
        unsafe {
            (api.create)(&raw mut handle).result().map_err(said)?;
            (api.set_stream)(handle, cuda.stream.cast())
                .result()
                .map_err(said)?;
        }
        let plans = HashMap::new();
        Ok(Self {
            api,
            version,
            used: Mutex::new(Used { handle, plans }),
            made: AtomicU64::new(0),
        })
    }

    /// Its version, and how many convolutions it has made.
    pub(super) fn told(&self) -> ((u32, u32), u64) {
        (self.version, self.made.load(Ordering::Relaxed))
    }

    /// Starts a convolution, or returns false where the library has no way for it.
    ///
    /// # Safety
    /// The operands lie where they say and as the question says.
    unsafe fn run(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        asked: Question,
        operands: [*const u8; 2],
        result: *mut u8,
    ) -> Result<bool> {
        let _bound = cuda.bind(op)?;
        let mut used = lock(&self.used);
        let Used { handle, plans } = &mut *used;
        if plans.len() >= KEPT {
            plans.clear();
        }
        let plan = match plans.entry(asked) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(free) => {
                let plan = ConvPlan::new(&self.api, *handle, &asked);
                free.insert(plan.or_else(|status| self.refused(op, status))?)
            }
        };
        let Some(found) = plan else {
            return Ok(false);
        };
        // Freed in the stream's order: the next convolution may use it again.
        let workspace = match found.workspace {
            0 => None,
            bytes => match cuda.scratch(op, [bytes]) {
                Err(error) if error.kind() == ErrorKind::Memory => return Ok(false),
                other => Some(other?),
            },
        };
        let at = workspace.as_ref().map_or(null_mut(), DeviceBuffer::as_ptr);
        // SAFETY: the caller's promise; the workspace is as long as the plan says.
        if let Err(status) = unsafe { found.run(*handle, operands, result, at) } {
            *plan = self.refused(op, status)?;
            return Ok(false);
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }

    /// No plan, where a status is a refusal.
    fn refused(&self, op: &'static str, status: Status) -> Result<Option<ConvPlan>> {
        if status.is_refusal() {
            return Ok(None);
        }
        let what = format!("cuDNN says {}", self.api.words(status));
        Err(Error::new(ErrorKind::Device, op, what)
            .hint("set NOMINA_CUDA_CONV=own to convolve without it, and report this"))
    }
}

/// The library, where it is to be asked.
fn asked(cuda: &'static Cuda, asked: &Question) -> Option<&'static Library> {
    let work = [asked.over(), asked.kernel()].map(crate::shape::product);
    let wanted = match who() {
        Who::Own => false,
        Who::Library => true,
        Who::Auto => crate::shape::product([work[1], crate::shape::product(asked.slid())]) > SMALL,
    };
    let some = work.into_iter().all(|count| count != 0);
    (wanted && some && asked.is_askable())
        .then(|| cuda.convolver().ok())
        .flatten()
}

/// An operand as the library takes it.
#[derive(Clone, Copy)]
struct Side {
    at: *const u8,
    sizes: Sizes,
    strides: [isize; 5],
}

impl Side {
    /// Whether it lies without gaps, from an address on that the library takes.
    fn is_packed(&self, last: bool) -> bool {
        let want = strides(self.sizes, last);
        let each = self.sizes.iter().zip(self.strides.iter().zip(&want));
        let same = each
            .into_iter()
            .all(|(&size, (have, want))| size == 1 || have == want);
        same && self.at.addr().is_multiple_of(16)
    }

    /// Where it lies without gaps: there, or in a copy, which is kept.
    ///
    /// # Safety
    /// Elements of the dtype lie where it says, on this device.
    unsafe fn packed(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        dtype: DType,
        last: bool,
        kept: &mut Option<DeviceBuffer>,
    ) -> Result<*const u8> {
        if self.is_packed(last) {
            return Ok(self.at);
        }
        let block = cuda.scratch(op, [crate::shape::bytes(op, &self.sizes, dtype)?])?;
        let to = strides(self.sizes, last);
        let size = dtype.size();
        let plan = Plan::new(&self.sizes, &[(&to[..], size), (&self.strides[..], size)]);
        let place = |ptr| Place { ptr, dtype };
        // SAFETY: the caller's promise; the block is as long as the copy.
        unsafe {
            Backend::copy(
                cuda,
                &plan,
                place(block.as_ptr()),
                place(self.at.cast_mut()),
            )?
        };
        Ok(kept.insert(block).as_ptr())
    }
}

/// Computes both operands' result, which lies without gaps; false where the library is not there or does not take it.
///
/// # Safety
/// All elements lie where the sides say, on this device.
unsafe fn convolve(
    cuda: &'static Cuda,
    op: &'static str,
    question: Question,
    sides: [Side; 2],
    result: *mut u8,
) -> Result<bool> {
    let Some(library) = asked(cuda, &question) else {
        return Ok(false);
    };
    let mut kept = [None, None];
    let mut at = [std::ptr::null(); 2];
    for ((at, side), kept) in at.iter_mut().zip(sides).zip(&mut kept) {
        // SAFETY: the caller's promise.
        *at = unsafe { side.packed(cuda, op, question.dtype, question.last, kept)? };
    }
    // SAFETY: as above; copies have blocks of their own, which are used again only by what comes after.
    unsafe { library.run(cuda, op, question, at, result) }
}

/// What a job of one of the three kinds asks, with channels outermost.
macro_rules! question {
    ($way:ident, $job:ident) => {
        Question {
            way: Way::$way,
            dtype: $job.dtype,
            tf32: super::tf32_is_allowed() && $job.dtype == DType::F32,
            batch: $job.batch,
            groups: $job.groups,
            channels: $job.channels,
            outs: $job.outs,
            windows: $job.windows,
            last: false,
        }
    };
}

/// A convolution; false where our own kernels are to compute it.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn conv(cuda: &'static Cuda, job: &ConvJob) -> Result<bool> {
    let question = Question {
        last: job.channels_last,
        ..question!(Forward, job)
    };
    let x = Side {
        at: job.x,
        sizes: question.over(),
        strides: job.x_strides,
    };
    let out = strides(question.slid(), job.channels_last);
    if [out[0], out[1], out[4]] != job.out_strides {
        return Ok(false);
    }
    let weight = packed(job.weight, question.kernel(), job.channels_last);
    // SAFETY: the caller's promise.
    unsafe {
        let found = convolve(cuda, job.op, question, [x, weight], job.out)?;
        if found && let Some(bias) = job.bias {
            add(cuda, job.op, &question, question.slid(), bias, job.out)?;
        }
        Ok(found)
    }
}

/// The transpose of a convolution; false as for [`conv`].
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn transpose(cuda: &'static Cuda, job: &TransposedJob) -> Result<bool> {
    let question = Question {
        // What is slid over is the result.
        channels: job.outs,
        outs: job.channels,
        ..question!(Data, job)
    };
    let x = Side {
        at: job.x,
        sizes: question.slid(),
        strides: job.x_strides,
    };
    let weight = packed(job.weight, question.kernel(), false);
    // SAFETY: the caller's promise.
    unsafe {
        let found = convolve(cuda, job.op, question, [weight, x], job.out)?;
        if found && let Some(bias) = job.bias {
            add(cuda, job.op, &question, question.over(), bias, job.out)?;
        }
        Ok(found)
    }
}

/// The gradient of a convolution's weight; false as for [`conv`].
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn weight(cuda: &'static Cuda, job: &WeightGradientJob) -> Result<bool> {
    let question = question!(Weight, job);
    let x = Side {
        at: job.x,
        sizes: question.over(),
        strides: job.x_strides,
    };
    let [batch, channels, step] = job.grad_strides;
    let [_, _, _, h, w] = question.slid();
    let (row, plane) = (step * w as isize, step * (w * h) as isize);
    let grad = Side {
        at: job.grad,
        sizes: question.slid(),
        strides: [batch, channels, plane, row, step],
    };
    // SAFETY: the caller's promise.
    unsafe { convolve(cuda, job.op, question, [x, grad], job.out) }
}

/// A side that was made without gaps.
fn packed(at: *const u8, sizes: Sizes, last: bool) -> Side {
    let strides = strides(sizes, last);
    Side { at, sizes, strides }
}

/// Adds a bias to a result.
///
/// # Safety
/// As for [`convolve`].
unsafe fn add(
    cuda: &'static Cuda,
    op: &'static str,
    question: &Question,
    sizes: Sizes,
    bias: *const u8,
    out: *mut u8,
) -> Result<()> {
    let dtype = question.dtype;
    let size = dtype.size();
    let shape = Shape::from_slice(&sizes);
    let to = Strides::from_slice(&strides(sizes, question.last));
    let from = Strides::from_slice(&[0, 1, 0, 0, 0]);
    let plan = Plan::new(&shape, &[(&to, size), (&to, size), (&from, size)]);
    let place = |ptr| Place { ptr, dtype };
    let job = Pointwise {
        op: Op::Add,
        compute: dtype,
        plan: &plan,
        dest: place(out),
        inputs: &[
            Input::Tensor(place(out)),
            Input::Tensor(place(bias.cast_mut())),
        ],
        in_place: true,
    };
    // SAFETY: the caller's promise; each element is read where it is written.
    unsafe { Backend::pointwise(cuda, &job) }.map_err(|error| error.in_op(op))
}
