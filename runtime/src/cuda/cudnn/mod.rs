//! Convolutions by the graphs of cuDNN, if it is installed. It is loaded at the first convolution, and proposes engines
//! once for each kind of convolution.
//!
//! Operands that are not contiguous, with channels innermost or outermost, are copied first. A bias is added by the
//! graph if an engine does so, and else afterwards.

mod api;
mod descriptor;
mod graph;
mod operand;
mod plan;
mod query;
mod saved;

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::context::Cuda;
use super::per_device::{PerDevice, lock};
use super::precision::tf32_is_allowed;
use super::probe;
use super::provider::Provider;
use crate::job::{Backend, ConvJob, Input, Place, Pointwise, TransposedJob, WeightGradientJob};
use crate::plan::Plan;
use crate::shape::{Shape, Strides};
use crate::storage::DeviceBuffer;
use api::{CudnnFunctions, Status};
use descriptor::CudnnHandle;
use graph::ALIGNMENT;
use operand::LibraryOperand;
use plan::{ConvAddresses, ConvPlan};
use query::{ConvQuery, ConvSizes, Direction, strides};

/// The most plans that are kept. All are discarded when a program exceeds it.
const KEPT: usize = 4096;

/// The most multiplications for which starting our own kernel costs less than starting one of the library.
const SMALL: usize = 1 << 18;

/// Returns the implementation of convolutions that `NOMINA_CUDA_CONV` selects.
pub(super) fn provider() -> Provider {
    static PROVIDER: OnceLock<Provider> = OnceLock::new();
    *PROVIDER.get_or_init(|| Provider::from_env("NOMINA_CUDA_CONV", "cudnn"))
}

/// The library on one device.
#[derive(Debug)]
pub(super) struct Cudnn {
    api: &'static CudnnFunctions,
    /// Its own version, major and minor.
    pub(super) version: (u32, u32),
    /// The library's whole version and the device, for plans on disk.
    place: String,
    /// Used by one thread at a time.
    used: Mutex<Used>,
    calls: AtomicU64,
}

/// The library on each device, from the first convolution on, or why it is not used.
static LIBRARIES: PerDevice<Result<Cudnn, String>> = PerDevice::new();

/// Returns the library on a device, or why it is not used.
pub(super) fn library(cuda: &Cuda) -> Result<&'static Cudnn, &'static String> {
    cuda.library(&LIBRARIES, Cudnn::open)
}

#[derive(Debug)]
struct Used {
    handle: CudnnHandle,
    /// `None` for a convolution that the library cannot compute.
    plans: HashMap<ConvQuery, Option<ConvPlan>>,
}

// SAFETY: any thread may use a handle, one at a time.
unsafe impl Send for Used {}

impl Cudnn {
    /// Opens the library, or returns why it is not used.
    fn open(cuda: &Cuda) -> Result<Self, String> {
        let api = CudnnFunctions::get().map_err(String::clone)?;
        let op = Op::Conv2d.name();
        let text = |error: Error| error.to_string();
        // SAFETY: functions without arguments.
        let (whole, of) = unsafe { ((api.version)() as u32, (api.cuda)() as u32) };
        let version = (whole / 10_000, whole % 10_000 / 100);
        if version.0 < 9 {
            let (major, minor) = version;
            return Err(format!(
                "libcudnn is cuDNN {major}.{minor}, but 9 is the oldest supported"
            ));
        }
        probe::fits(op, "libcudnn", "nvidia-cudnn-cu", probe::numbers(of)).map_err(text)?;
        let _bound = cuda.bind(op).map_err(text)?;
        let said = |status: Status| format!("cuDNN does not start: {}", api.words(status));
        let mut handle = null_mut();
        // SAFETY: the device's context is bound, the pointer is to a handle, and the stream is never destroyed.
        unsafe {
            (api.create)(&raw mut handle).result().map_err(said)?;
            (api.set_stream)(handle, cuda.stream.cast())
                .result()
                .map_err(said)?;
        }
        let (handle, plans) = (CudnnHandle(handle), HashMap::new());
        Ok(Self {
            api,
            version,
            place: format!("cuDNN {whole} of CUDA {of}, {:?}", cuda.properties),
            used: Mutex::new(Used { handle, plans }),
            calls: AtomicU64::new(0),
        })
    }

    /// Returns the number of convolutions that it has computed.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Starts a convolution.
    ///
    /// # Safety
    /// The tensors are at their addresses, laid out as the question says.
    unsafe fn run(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        asked: ConvQuery,
        at: &ConvAddresses,
    ) -> Result<Outcome> {
        let _bound = cuda.bind(op)?;
        let mut used = lock(&self.used);
        let Used { handle, plans } = &mut *used;
        if plans.len() >= KEPT {
            plans.clear();
        }
        let plan = match plans.entry(asked) {
            Entry::Occupied(kept) => kept.into_mut(),
            Entry::Vacant(free) => {
                cuda.outside(op, "needs a plan of cuDNN that is not there yet")?;
                let plan = ConvPlan::new(self.api, *handle, &self.place, &asked);
                free.insert(plan.or_else(|status| self.refused(op, status))?)
            }
        };
        let Some(found) = plan else {
            return Ok(Outcome::Refused);
        };
        // Freed in the order of the stream: the next convolution may use it again.
        let workspace = match found.workspace {
            0 => None,
            bytes => match cuda.scratch(op, [bytes]) {
                Err(error) if error.kind() == ErrorKind::Memory => return Ok(Outcome::Refused),
                other => Some(other?),
            },
        };
        let room = workspace.as_ref().map_or(null_mut(), DeviceBuffer::as_ptr);
        let outcome = if asked.bias && !found.adds_bias {
            Outcome::WithoutBias
        } else {
            Outcome::Computed
        };
        // SAFETY: the caller's promise; the workspace has the length of the plan.
        if let Err(status) = unsafe { found.run(*handle, at, room) } {
            *plan = self.refused(op, status)?;
            return Ok(Outcome::Refused);
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(outcome)
    }

    /// Returns `None`, for no plan, if a status is a refusal, and an error otherwise.
    fn refused(&self, op: &'static str, status: Status) -> Result<Option<ConvPlan>> {
        if status.is_refusal() {
            return Ok(None);
        }
        let what = format!("cuDNN says {}", self.api.words(status));
        Err(Error::new(ErrorKind::Device, op, what)
            .hint("set NOMINA_CUDA_CONV=own to convolve without it, and report this"))
    }
}

/// The library's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Computed,
    /// The caller has to add the bias.
    WithoutBias,
    /// Our own kernels have to compute it.
    Refused,
}

/// Returns the library if it is to compute a convolution.
fn usable_library(cuda: &'static Cuda, question: &ConvQuery) -> Option<&'static Cudnn> {
    let work = [question.input(), question.kernel()].map(crate::shape::product);
    let wanted = match provider() {
        Provider::Own => false,
        Provider::Library => true,
        Provider::Auto => {
            crate::shape::product([work[1], crate::shape::product(question.slid())]) > SMALL
        }
    };
    let some = work.into_iter().all(|count| count != 0);
    (wanted && some && question.is_askable())
        .then(|| library(cuda).ok())
        .flatten()
}

/// Returns whether the library has computed a contiguous result from two operands. It has not if it is missing or does
/// not support the convolution.
///
/// # Safety
/// All elements are at the addresses and strides of the operands, on this device; a bias is contiguous.
unsafe fn convolve(
    cuda: &'static Cuda,
    op: &'static str,
    question: ConvQuery,
    operands: [LibraryOperand; 2],
    bias: Option<*const u8>,
    result: *mut u8,
) -> Result<bool> {
    let Some(library) = usable_library(cuda, &question) else {
        return Ok(false);
    };
    let mut kept = [None, None];
    let mut at = [std::ptr::null(); 2];
    for ((at, operand), kept) in at.iter_mut().zip(operands).zip(&mut kept) {
        // SAFETY: the caller's promise.
        *at = unsafe { operand.packed(cuda, op, question.dtype, question.last, kept)? };
    }
    // A graph may add the bias of a forward convolution, the common case.
    let aligned = bias.filter(|bias| bias.addr().is_multiple_of(ALIGNMENT));
    let within = aligned.filter(|_| question.way == Direction::Forward);
    let question = ConvQuery {
        bias: within.is_some(),
        ..question
    };
    let (first, second, result) = (at[0], at[1], result.cast_const());
    let [input, weight, slid] = match question.way {
        Direction::Forward => [first, second, result],
        Direction::Data => [result, first, second],
        Direction::Weight => [first, result, second],
    };
    let at = ConvAddresses {
        input,
        weight,
        slid,
        bias: within,
    };
    // SAFETY: as above; copies are in workspaces, which only later work uses again.
    let outcome = unsafe { library.run(cuda, op, question, &at)? };
    if outcome == Outcome::Refused {
        return Ok(false);
    }
    if let Some(bias) = bias.filter(|_| within.is_none() || outcome == Outcome::WithoutBias) {
        let sizes = match question.way {
            Direction::Data => question.input(),
            Direction::Forward | Direction::Weight => question.slid(),
        };
        // SAFETY: as above.
        unsafe { add(cuda, op, &question, sizes, bias, result.cast_mut())? };
    }
    Ok(true)
}

/// The question of a job of one of the three kinds, with channels outermost.
macro_rules! question {
    ($way:ident, $job:ident) => {
        ConvQuery {
            way: Direction::$way,
            dtype: $job.dtype,
            tf32: tf32_is_allowed() && $job.dtype == DType::F32,
            batch: $job.batch,
            groups: $job.groups,
            channels: $job.channels,
            outs: $job.outs,
            windows: $job.windows,
            last: false,
            bias: false,
        }
    };
}

/// Computes a convolution. Returns false if our own kernels are to compute it.
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn conv(cuda: &'static Cuda, job: &ConvJob<'_>) -> Result<bool> {
    let question = ConvQuery {
        last: job.channels_last,
        ..question!(Forward, job)
    };
    let x = LibraryOperand {
        at: job.x,
        sizes: question.input(),
        strides: job.x_strides,
    };
    let out = strides(question.slid(), job.channels_last);
    if [out[0], out[1], out[4]] != job.out_strides {
        return Ok(false);
    }
    let weight = LibraryOperand::contiguous(job.weight, question.kernel(), job.channels_last);
    // SAFETY: the caller's promise.
    unsafe { convolve(cuda, job.op, question, [x, weight], job.bias, job.out) }
}

/// Computes a transposed convolution. Returns false like [`conv`].
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn transpose(cuda: &'static Cuda, job: &TransposedJob) -> Result<bool> {
    let question = ConvQuery {
        // The windows slide over the result.
        channels: job.outs,
        outs: job.channels,
        ..question!(Data, job)
    };
    let x = LibraryOperand {
        at: job.x,
        sizes: question.slid(),
        strides: job.x_strides,
    };
    let weight = LibraryOperand::contiguous(job.weight, question.kernel(), false);
    // SAFETY: the caller's promise.
    unsafe { convolve(cuda, job.op, question, [weight, x], job.bias, job.out) }
}

/// Computes the gradient of a convolution's weight. Returns false like [`conv`].
///
/// # Safety
/// See [`Backend`].
pub(super) unsafe fn weight(cuda: &'static Cuda, job: &WeightGradientJob) -> Result<bool> {
    let question = question!(Weight, job);
    let x = LibraryOperand {
        at: job.x,
        sizes: question.input(),
        strides: job.x_strides,
    };
    let [batch, channels, step] = job.grad_strides;
    let [_, _, _, h, w] = question.slid();
    let (row, plane) = (step * w as isize, step * (w * h) as isize);
    let grad = LibraryOperand {
        at: job.grad,
        sizes: question.slid(),
        strides: [batch, channels, plane, row, step],
    };
    // SAFETY: the caller's promise.
    unsafe { convolve(cuda, job.op, question, [x, grad], None, job.out) }
}

/// Adds a bias to a result.
///
/// # Safety
/// See [`convolve`].
unsafe fn add(
    cuda: &'static Cuda,
    op: &'static str,
    question: &ConvQuery,
    sizes: ConvSizes,
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
    // SAFETY: the caller's promise; each element is read at the address it is written to.
    unsafe { Backend::pointwise(cuda, &job) }.map_err(|error| error.in_op(op))
}
