//! Plans: how a convolution is described to cuDNN, and the algorithm that it proposed.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use nomina_core::DType;

use super::api::{
    BFLOAT16, CROSS_CORRELATION, Compute, DEFAULT_MATH, DOUBLE, FLOAT, FMA_MATH, Functions, HALF,
    NCHW, NHWC, Object, Proposal, Propose, Status, TENSOR_MATH,
};
use crate::job::Windows;

/// How much device memory an algorithm may ask for.
const WORKSPACE: usize = 256 << 20;

/// How many algorithms are looked at; there are no more.
const PROPOSED: usize = 8;

/// What is computed of the input, the weight and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    /// The result of the input and the weight.
    Forward,
    /// The input's gradient of the weight and the result's.
    Data,
    /// The weight's gradient of the input and the result's.
    Weight,
}

/// A convolution, as far as the choice of an algorithm depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Question {
    pub(super) way: Way,
    pub(super) dtype: DType,
    pub(super) tf32: bool,
    pub(super) batch: usize,
    pub(super) groups: usize,
    /// Channels of a group on the side that is slid over, and on the other.
    pub(super) channels: usize,
    pub(super) outs: usize,
    pub(super) windows: Windows,
    /// Whether channels lie innermost.
    pub(super) last: bool,
}

/// Sizes of batch, channels and three dims.
pub(super) type Sizes = [usize; 5];

impl Question {
    /// The sizes of what is slid over.
    pub(super) fn over(&self) -> Sizes {
        let [d, h, w] = self.windows.map(|window| window.size);
        [self.batch, self.groups * self.channels, d, h, w]
    }

    /// The sizes of the result of a convolution.
    pub(super) fn slid(&self) -> Sizes {
        let [d, h, w] = self.windows.map(|window| window.out);
        [self.batch, self.groups * self.outs, d, h, w]
    }

    pub(super) fn kernel(&self) -> Sizes {
        let [d, h, w] = self.windows.map(|window| window.kernel);
        [self.groups * self.outs, self.channels, d, h, w]
    }

    /// The dims of five that the library is told of: it has four at least, and the outermost spatial one only where
    /// windows slide along it.
    fn told<T: Copy>(&self, all: [T; 5]) -> Vec<T> {
        let [batch, channels, rest @ ..] = all;
        let flat = self.windows[0] == crate::job::Sliding::NONE;
        let mut told = vec![batch, channels];
        told.extend_from_slice(&rest[usize::from(flat)..]);
        told
    }

    /// Whether the library can be asked: it has these elements, counts in 32 bits, and pads both ends alike.
    pub(super) fn is_askable(&self) -> bool {
        let small = |sizes: Sizes| crate::shape::product(sizes) < 1 << 31;
        let alike = self.windows.iter().all(|window| {
            let reach = (window.kernel - 1) * window.dilation + 1;
            let padded = window.size.checked_add(2 * window.before);
            let free = padded.and_then(|padded| padded.checked_sub(reach));
            window.before < 1 << 30
                && reach.max(window.stride).max(window.dilation) < 1 << 31
                && free.is_some_and(|free| free / window.stride + 1 == window.out)
        });
        types(self.dtype).is_some()
            && small(self.over())
            && small(self.slid())
            && small(self.kernel())
            && alike
    }
}

/// From one element to the next along each dim of a tensor that lies without gaps.
pub(super) fn strides(sizes: Sizes, last: bool) -> [isize; 5] {
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

/// The library's name for elements, and for what it sums in.
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
        // SAFETY: a place for a descriptor.
        unsafe { create(&raw mut object) }.result()?;
        Ok(Self { object, destroy })
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: made by the library, and dropped once. There is nobody to tell of a failure.
        let _ = unsafe { (self.destroy)(self.object) };
    }
}

/// The algorithm for a convolution, and what the library needs to be told again.
#[derive(Debug)]
pub(super) struct ConvPlan {
    /// Of both operands and the result.
    sides: [Descriptor; 3],
    slides: Descriptor,
    algorithm: c_int,
    compute: Compute,
    double: bool,
    pub(super) workspace: usize,
}

// SAFETY: descriptors are plain memory of the library's, used under the lock of the plans.
unsafe impl Send for ConvPlan {}

impl ConvPlan {
    /// Asks once. An error that is a refusal means that the library has no algorithm for it.
    pub(super) fn new(
        api: &Functions,
        handle: Object,
        asked: &Question,
    ) -> Result<Option<Self>, Status> {
        let Some((element, sum)) = types(asked.dtype) else {
            return Ok(None);
        };
        let numbers = |all: &[usize]| all.iter().map(|&n| n as c_int).collect::<Vec<_>>();
        let tensor = |sizes: Sizes| {
            let made = Descriptor::new(api.create_tensor, api.destroy_tensor)?;
            let dims = numbers(&asked.told(sizes));
            let steps = asked.told(strides(sizes, asked.last).map(|step| step as usize));
            let steps = numbers(&steps);
            let rank = dims.len() as c_int;
            // SAFETY: as many numbers as are told.
            unsafe { (api.set_tensor)(made.object, element, rank, dims.as_ptr(), steps.as_ptr()) }
                .result()?;
            Ok(made)
        };
        let weight = || {
            let made = Descriptor::new(api.create_weight, api.destroy_weight)?;
            let dims = numbers(&asked.told(asked.kernel()));
            let order = if asked.last { NHWC } else { NCHW };
            let rank = dims.len() as c_int;
            // SAFETY: as above.
            unsafe { (api.set_weight)(made.object, element, order, rank, dims.as_ptr()) }
                .result()?;
            Ok(made)
        };
        let slides = Descriptor::new(api.create_slides, api.destroy_slides)?;
        let of = |number: fn(&crate::job::Sliding) -> usize| {
            let [d, h, w] = asked.windows.each_ref().map(number);
            numbers(&asked.told([0, 0, d, h, w])[2..])
        };
        let pads = of(|window| window.before);
        let (steps, apart) = (of(|window| window.stride), of(|window| window.dilation));
        let exact = asked.dtype == DType::F32 && !asked.tf32;
        let math = match asked.dtype {
            DType::F16 | DType::BF16 => TENSOR_MATH,
            _ if exact => FMA_MATH,
            _ => DEFAULT_MATH,
        };
        // SAFETY: as above.
        unsafe {
            let (mode, object) = (CROSS_CORRELATION, slides.object);
            let (rank, groups) = (pads.len() as c_int, asked.groups as c_int);
            let (pads, steps, apart) = (pads.as_ptr(), steps.as_ptr(), apart.as_ptr());
            (api.set_slides)(object, rank, pads, steps, apart, mode, sum).result()?;
            (api.set_groups)(object, groups).result()?;
            (api.set_math)(object, math).result()?;
        }
        let (over, slid, kernel) = (tensor(asked.over())?, tensor(asked.slid())?, weight()?);
        let (sides, propose, compute): (_, Propose, Compute) = match asked.way {
            Way::Forward => ([over, kernel, slid], api.propose_forward, api.forward),
            Way::Data => ([kernel, slid, over], api.propose_data, api.data),
            Way::Weight => ([over, slid, kernel], api.propose_weight, api.weight),
        };
        let mut all = [Proposal::NONE; PROPOSED];
        let mut count = 0;
        let [a, b, c] = sides.each_ref().map(|side| side.object);
        let (most, at) = (PROPOSED as c_int, all.as_mut_ptr());
        // SAFETY: descriptors made above, and room for as many proposals.
        unsafe { propose(handle, a, b, slides.object, c, most, &raw mut count, at) }.result()?;
        let all = &all[..PROPOSED.min(usize::try_from(count).unwrap_or(0))];
        // Those that give the same bits each time come first, then those that are fast.
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
            // SAFETY: made above.
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

    /// Starts it: both operands and the result.
    ///
    /// # Safety
    /// The operands lie where they say and as the question did, and there is as much workspace as the plan needs.
    pub(super) unsafe fn run(
        &self,
        handle: Object,
        operands: [*const u8; 2],
        result: *mut u8,
        workspace: *mut u8,
    ) -> Result<(), Status> {
        let (single, double) = ([1.0_f32, 0.0], [1.0_f64, 0.0]);
        let factors: [*const c_void; 2] = match self.double {
            true => [(&raw const double[0]).cast(), (&raw const double[1]).cast()],
            false => [(&raw const single[0]).cast(), (&raw const single[1]).cast()],
        };
        let [a, b, c] = self.sides.each_ref().map(|side| side.object);
        // SAFETY: the caller's promise; the descriptors are the plan's.
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
