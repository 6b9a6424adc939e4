//! Kinds of products by tiles: what is read, and how it is packed.

use nomina_core::{DType, Element};

use super::tile::{Kernels, avx2, avx512};
use super::{pack, pairs};
use crate::memory::NoMemory;

/// A way to multiply: what tiles read and write.
pub(super) trait Kind {
    /// What a tile reads in a step.
    type Unit: Copy + 'static;
    /// What it sums in and writes.
    type Elem: Element;
    /// The most rows of a tile.
    const ROWS: usize;
    /// Steps along the inner dim between two visits of the result: a tile's rows of the left operand
    /// are so long, and stay in the first-level cache while panels pass by.
    const DEPTH: usize;
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
    /// As of [`pack::pack`]; where units are `ROWS` apart, there is room for one more vector behind them.
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

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $level:ident $room:ident $t:ty;)*) => {$(
        $(#[$doc])*
        pub(super) struct $kind;

        impl Kind for $kind {
            type Unit = $t;
            type Elem = $t;
            const ROWS: usize = $level::ROWS;
            const DEPTH: usize = $level::DEPTH;
            const LANES: usize = $level::$room::MOVES.lanes;
            const STEPS: usize = 1;
            const AS_IS: Option<DType> = Some($level::$room::MOVES.dtype);
            const KERNELS: &'static Kernels<$t, $t> = &$level::$room::KERNELS;

            unsafe fn pack(part: Part, to: *mut $t, apart: usize) -> Result<(), NoMemory> {
                // SAFETY: the caller's promise; the engine runs where the instructions are.
                unsafe { pack::pack(part, to, apart, $level::$room::MOVES) }
            }
        }
    )*};
}
kinds! {
    /// Elements of `f32`, or 16-bit floats that become such, by AVX-512.
    Single512 avx512 single f32;
    /// As [`Single512`], by AVX2.
    Single256 avx2 single f32;
    /// Elements of `f64`, by AVX-512.
    Double512 avx512 double f64;
    /// As [`Double512`], by AVX2.
    Double256 avx2 double f64;
}

/// Pairs of `bf16` along the inner dim, for processors that multiply and add those at once.
pub(super) struct Pairs;

impl Kind for Pairs {
    type Unit = u32;
    type Elem = f32;
    const ROWS: usize = avx512::ROWS;
    const DEPTH: usize = avx512::DEPTH;
    const LANES: usize = pairs::MOVES.lanes;
    const STEPS: usize = 2;
    const AS_IS: Option<DType> = None;
    const KERNELS: &'static Kernels<u32, f32> = &pairs::KERNELS;

    unsafe fn pack(part: Part, to: *mut u32, apart: usize) -> Result<(), NoMemory> {
        // SAFETY: the caller's promise; the engine runs where the instructions are.
        unsafe { pack::pairs(part, to, apart, pairs::MOVES) }
    }
}
