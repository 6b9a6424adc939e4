//! Kinds of products by tiles: what is read, and how it is packed.

use nomina_core::{DType, Element};

use super::tile::{Kernels, double, single};
use super::{pack, pairs};
use crate::memory::NoMemory;

/// A way to multiply: what tiles read and write.
pub(super) trait Kind {
    /// What a tile reads in a step.
    type Unit: Copy + 'static;
    /// What it sums in and writes.
    type Elem: Element;
    /// Units in a vector.
    const LANES: usize;
    /// Steps of a unit.
    const STEPS: usize;
    /// The dtype whose elements are units as they are, if there is one.
    const AS_IS: Option<DType>;
    /// What computes tiles.
    const KERNELS: &'static Kernels<Self::Unit, Self::Elem>;

    /// Packs part of an operand, unit by unit, `apart` from each other; fails where it needs
    /// memory on the way.
    ///
    /// # Safety
    /// As of [`pack::pack`].
    unsafe fn pack(part: Part, to: *mut Self::Unit, apart: usize) -> Result<(), NoMemory>;
}

/// Part of an operand: from its first element on, `steps` along the inner dim and `others` along
/// the other one.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub ptr: *const u8,
    pub dtype: DType,
    pub steps: usize,
    pub step: isize,
    pub others: usize,
    pub other: isize,
}

/// Elements of `f32`, or 16-bit floats that become such.
pub(super) struct Single;
/// Elements of `f64`.
pub(super) struct Double;

macro_rules! kinds {
    ($($kind:ident $room:ident $t:ty;)*) => {$(
        impl Kind for $kind {
            type Unit = $t;
            type Elem = $t;
            const LANES: usize = $room::MOVES.lanes;
            const STEPS: usize = 1;
            const AS_IS: Option<DType> = Some($room::MOVES.dtype);
            const KERNELS: &'static Kernels<$t, $t> = &$room::KERNELS;

            unsafe fn pack(part: Part, to: *mut $t, apart: usize) -> Result<(), NoMemory> {
                // SAFETY: the caller's promise; the engine runs where the instructions are.
                unsafe { pack::pack(part, to, apart, $room::MOVES) }
            }
        }
    )*};
}
kinds! {
    Single single f32;
    Double double f64;
}

/// Pairs of `bf16` along the inner dim, for processors that multiply and add those at once.
pub(super) struct Pairs;

impl Kind for Pairs {
    type Unit = u32;
    type Elem = f32;
    const LANES: usize = pairs::MOVES.lanes;
    const STEPS: usize = 2;
    const AS_IS: Option<DType> = None;
    const KERNELS: &'static Kernels<u32, f32> = &pairs::KERNELS;

    unsafe fn pack(part: Part, to: *mut u32, apart: usize) -> Result<(), NoMemory> {
        // SAFETY: the caller's promise; the engine runs where the instructions are.
        unsafe { pack::pairs(part, to, apart, pairs::MOVES) }
    }
}
