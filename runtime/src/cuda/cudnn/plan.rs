//! Plans: the description of a convolution to cuDNN, and the algorithm that it proposed.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use nomina_core::DType;

use super::api::{
    BFLOAT16, CROSS_CORRELATION, Compute, CudnnFunctions, DEFAULT_MATH, DOUBLE, FLOAT, FMA_MATH,
    HALF, NCHW, NHWC, Object, Proposal, Propose, Status, TENSOR_MATH,
};
use crate::job::WindowDims;

/// The most bytes of an algorithm's workspace.
const WORKSPACE: usize = 256 << 20;

/// The most proposals that are read; the library has no more algorithms.
const PROPOSED: usize = 8;

/// The direction of a convolution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    /// The result, from the input and the weight.
    Forward,
    /// The gradient of the input, from the weight and the gradient of the result.
    Data,
    /// The gradient of the weight, from the input and the gradient of the result.
    Weight,
}

/// The properties of a convolution on which the choice of an algorithm depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ConvQuery {
    pub(super) way: Direction,
    pub(super) dtype: DType,
    pub(super) tf32: bool,
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// The channels of a group in the input, over which windows slide, and in the result.
    pub(super) channels: usize,
    pub(super) outs: usize,
    pub(super) windows: WindowDims,
    /// Whether channels are innermost.
    pub(super) last: bool,
}

/// The sizes of batch, channels and three spatial dims.
pub(super) type ConvSizes = [usize; 5];

impl ConvQuery {
    /// Returns the sizes of the input.
    pub(super) fn input(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.size);
        [self.batch, self.groups * self.channels, d, h, w]
    }

    /// Returns the sizes of the result.
    pub(super) fn slid(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.out);
        [self.batch, self.groups * self.outs, d, h, w]
    }

    /// Returns the sizes of the weight.
    pub(super) fn kernel(&self) -> ConvSizes {
        let [d, h, w] = self.windows.map(|window| window.kernel);
        [self.groups * self.outs, self.channels, d, h, w]
    }

    /// Returns the dims for the library, which expects at least four: without the outermost spatial dim, unless windows
    /// slide along it.
    fn library_dims<T: Copy>(&self, all: [T; 5]) -> Vec<T> {
        let [batch, channels, rest @ ..] = all;
        let flat = self.windows[0] == crate::job::Sliding::NONE;
        let mut told = vec![batch, channels];
        told.extend_from_slice(&rest[usize::from(flat)..]);
        told
    }

    /// Returns whether the library may support it: the dtype, positions of 32 bits, and the same padding at both ends.
    pub(super) fn is_askable(&self) -> bool {
        let small = |sizes: ConvSizes| crate::shape::product(sizes) < 1 << 31;
        let alike = self.windows.iter().all(|window| {
            let reach = (window.kernel - 1) * window.dilation + 1;
            let padded = window.size.checked_add(2 * window.before);
            let free = padded.and_then(|padded| padded.checked_sub(reach));
            window.before < 1 << 30
                && reach.max(window.stride).max(window.dilation) < 1 << 31
                && free.is_some_and(|free| free / window.stride + 1 == window.out)
        });
        types(self.dtype).is_some()
            && small(self.input())
            && small(self.slid())
            && small(self.kernel())
            && alike
    }
}

/// Returns the strides of a contiguous tensor.
pub(super) fn strides(sizes: ConvSizes, last: bool) -> [isize; 5] {
    let order = if last {
        [1, 4, 3, 2, 0]
    } else {
        [4, 3, 2, 1, 0]
    };
    let (mut strides, mut step) = ([0; 5], 1_isize);
    for dim in order {
        strides[dim] = step;
        step *= sizes[dim] as isize;
    }
    strides
}

/// Returns the library's types of elements and of sums; `None` if it does not support the dtype.
fn types(dtype: DType) -> Option<(c_int, c_int)> {
    match dtype {
        DType::F16 => Some((HALF, FLOAT)),
        DType::BF16 => Some((BFLOAT16, FLOAT)),
        DType::F32 => Some((FLOAT, FLOAT)),
        DType::F64 => Some((DOUBLE, DOUBLE)),
        _ => None,
    }
}

/// A descriptor, destroyed when dropped.
#[derive(Debug)]
struct Descriptor {
    object: Object,
    destroy: unsafe extern "C" fn(Object) -> Status,
}

impl Descriptor {
    fn new(
        create: unsafe extern "C" fn(*mut Object) -> Status,
        destroy: unsafe extern "C" fn(Object) -> Status,
    ) -> Result<Self, Status> {
        let mut object = null_mut();
        // SAFETY: the pointer is to a descriptor.
        unsafe { create(&raw mut object) }.result()?;
        Ok(Self { object, destroy })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: created by the library, and dropped once. A drop has no caller for errors.
        let _ = unsafe { (self.destroy)(self.object) };
    }
}

/// The algorithm for a convolution, and its descriptors.
#[derive(Debug)]
pub(super) struct ConvPlan {
    /// The descriptors of both operands and the result.
    sides: [Descriptor; 3],
    slides: Descriptor,
    algorithm: c_int,
    compute: Compute,
    double: bool,
    pub(super) workspace: usize,
}

// SAFETY: descriptors are plain memory of the library, used under the lock of the plans.
unsafe impl Send for ConvPlan {}

impl ConvPlan {
    /// Asks the library for an algorithm. An error that is a refusal means that it has none.
    pub(super) fn new(
        api: &CudnnFunctions,
        handle: Object,
        asked: &ConvQuery,
    ) -> Result<Option<Self>, Status> {
        let Some((element, sum)) = types(asked.dtype) else {
            return Ok(None);
        };
        let numbers = |all: &[usize]| all.iter().map(|&n| n as c_int).collect::<Vec<_>>();
        let tensor = |sizes: ConvSizes| {
            let made = Descriptor::new(api.create_tensor, api.destroy_tensor)?;
            let dims = numbers(&asked.library_dims(sizes));
            let steps = asked.library_dims(strides(sizes, asked.last).map(|step| step as usize));
            let steps = numbers(&steps);
            let rank = dims.len() as c_int;
            // SAFETY: both lists have `rank` numbers.
            unsafe { (api.set_tensor)(made.object, element, rank, dims.as_ptr(), steps.as_ptr()) }
                .result()?;
            Ok(made)
        };
        let weight = || {
            let made = Descriptor::new(api.create_weight, api.destroy_weight)?;
            let dims = numbers(&asked.library_dims(asked.kernel()));
            let order = if asked.last { NHWC } else { NCHW };
            let rank = dims.len() as c_int;
            // SAFETY: the list has `rank` numbers.
            unsafe { (api.set_weight)(made.object, element, order, rank, dims.as_ptr()) }
                .result()?;
            Ok(made)
        };
        let slides = Descriptor::new(api.create_slides, api.destroy_slides)?;
        let of = |number: fn(&crate::job::Sliding) -> usize| {
            let [d, h, w] = asked.windows.each_ref().map(number);
            numbers(&asked.library_dims([0, 0, d, h, w])[2..])
        };
        let pads = of(|window| window.before);
        let (steps, apart) = (of(|window| window.stride), of(|window| window.dilation));
        let exact = asked.dtype == DType::F32 && !asked.tf32;
        let math = match asked.dtype {
            DType::F16 | DType::BF16 => TENSOR_MATH,
            _ if exact => FMA_MATH,
            _ => DEFAULT_MATH,
        };
        // SAFETY: the lists have `rank` numbers.
        unsafe {
            let (mode, object) = (CROSS_CORRELATION, slides.object);
            let (rank, groups) = (pads.len() as c_int, asked.groups as c_int);
            let (pads, steps, apart) = (pads.as_ptr(), steps.as_ptr(), apart.as_ptr());
            (api.set_slides)(object, rank, pads, steps, apart, mode, sum).result()?;
            (api.set_groups)(object, groups).result()?;
            (api.set_math)(object, math).result()?;
        }
        let (over, slid, kernel) = (tensor(asked.input())?, tensor(asked.slid())?, weight()?);
        let (sides, propose, compute): (_, Propose, Compute) = match asked.way {
            Direction::Forward => ([over, kernel, slid], api.propose_forward, api.forward),
            Direction::Data => ([kernel, slid, over], api.propose_data, api.data),
            Direction::Weight => ([over, slid, kernel], api.propose_weight, api.weight),
        };
        let mut all = [Proposal::NONE; PROPOSED];
        let mut count = 0;
        let [a, b, c] = sides.each_ref().map(|side| side.object);
        let (most, at) = (PROPOSED as c_int, all.as_mut_ptr());
        // SAFETY: the descriptors were created above, and there is room for `most` proposals.
        unsafe { propose(handle, a, b, slides.object, c, most, &raw mut count, at) }.result()?;
        let all = &all[..PROPOSED.min(usize::try_from(count).unwrap_or(0))];
        // Deterministic algorithms are preferred, then fast ones.
        let fits = |found: &&Proposal| {
            let exact = !exact || found.math == FMA_MATH || found.math == DEFAULT_MATH;
            found.status.result().is_ok() && found.workspace <= WORKSPACE && exact
        };
        let mut found = all.iter().filter(fits);
        let first = found.clone().find(|found| found.repeatable != 0);
        let Some(best) = first.or_else(|| found.next()) else {
            return Ok(None);
        };
        if !exact {
            // SAFETY: the descriptor was created above.
            unsafe { (api.set_math)(slides.object, best.math) }.result()?;
        }
        Ok(Some(Self {
            sides,
            slides,
            algorithm: best.algorithm,
            compute,
            double: asked.dtype == DType::F64,
            workspace: best.workspace,
        }))
    }

    /// Starts the convolution.
    ///
    /// # Safety
    /// The operands are at their addresses, laid out as in the question, and the workspace has the length of the plan.
    pub(super) unsafe fn run(
        &self,
        handle: Object,
        operands: [*const u8; 2],
        result: *mut u8,
        workspace: *mut u8,
    ) -> Result<(), Status> {
        let (single, double) = ([1.0_f32, 0.0], [1.0_f64, 0.0]);
        let factors: [*const c_void; 2] = if self.double {
            [(&raw const double[0]).cast(), (&raw const double[1]).cast()]
        } else {
            [(&raw const single[0]).cast(), (&raw const single[1]).cast()]
        };
        let [a, b, c] = self.sides.each_ref().map(|side| side.object);
        // SAFETY: the caller's promise; the descriptors belong to the plan.
        unsafe {
            (self.compute)(
                handle,
                factors[0],
                a,
                operands[0].cast(),
                b,
                operands[1].cast(),
                self.slides.object,
                self.algorithm,
                workspace.cast(),
                self.workspace,
                factors[1],
                c,
                result.cast(),
            )
        }
        .result()
    }
}
