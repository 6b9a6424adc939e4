//! Kinds of tiled products: the unit tiles read, and how operands are packed.

use nomina_core::{DType, Element};
use num_complex::Complex;

use super::pack::{self, Moves, Part};
use super::tile::{Kernels, portable};
#[cfg(target_arch = "x86_64")]
use super::tile::{avx2, avx512};
#[cfg(not(target_arch = "x86_64"))]
use super::tile::{portable as avx2, portable as avx512};
#[cfg(target_arch = "x86_64")]
use super::{pairs, quads, words};
use crate::memory::NoMemory;

/// A kind of tiled product: the types that tiles read and write.
pub(super) trait Kind {
    /// The type that a tile reads in one step.
    type Unit: Copy + 'static;
    /// The type that a tile accumulates in and writes.
    type Elem: Element;
    /// Vectors in a row of a tile.
    const VECTORS: usize;
    /// Rows of a tile, and of a packed left operand that are together. Narrow tiles that read it in place may have more.
    const ROWS: usize;
    /// Steps along the inner dim between two updates of the result. This is the length of a tile's packed rows of the
    /// left operand, which stay in the first-level cache while panels pass by.
    const DEPTH: usize;
    /// The number of panels of the right operand that stay in the second-level cache while rows are processed.
    const PANELS: usize;
    /// Whether the panels that follow are prefetched into that cache meanwhile. There must be room for both.
    const FETCH_PANELS: bool;
    /// Units in a vector.
    const LANES: usize;
    /// Steps in one unit.
    const STEPS: usize;
    /// The dtype whose elements are units without conversion, if there is one.
    const AS_IS: Option<DType>;
    /// The dtype of the result, if it is not that of the operands.
    const RESULT: Option<DType>;
    /// The tile kernels.
    const KERNELS: &'static Kernels<Self::Unit, Self::Elem>;

    /// Packs part of an operand, unit by unit; steps are `apart` units apart.
    ///
    /// # Errors
    /// If memory for an intermediate copy cannot be allocated.
    ///
    /// # Safety
    /// The requirements of [`pack::pack`]; if steps are `ROWS` units apart, there is room for one more vector after the
    /// last.
    unsafe fn pack(part: Part, to: *mut Self::Unit, apart: usize) -> Result<(), NoMemory>;
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $level:ident $($room:ident)::+, $t:ty, $rows:expr, $moves:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $kind;

        impl Kind for $kind {
            type Unit = $t;
            type Elem = $t;
            const VECTORS: usize = $level::VECTORS;
            const ROWS: usize = $rows;
            const DEPTH: usize = $level::DEPTH;
            const PANELS: usize = $level::PANELS;
            const FETCH_PANELS: bool = $level::FETCH_PANELS;
            const LANES: usize = $moves.lanes;
            const STEPS: usize = 1;
            const AS_IS: Option<DType> = Some(<$t>::DTYPE);
            const RESULT: Option<DType> = None;
            const KERNELS: &'static Kernels<$t, $t> = &$level::$($room)::+::KERNELS;

            unsafe fn pack(part: Part, to: *mut $t, apart: usize) -> Result<(), NoMemory> {
                // SAFETY: guaranteed by the caller; the engine runs only on processors with the instructions.
                unsafe { pack::pack(part, to.cast(), apart, $moves) }
            }
        }
    )*};
}

/// Defines the kinds of an instruction set. Complex kinds have half the rows, because each complex row is two real rows
/// of the tile.
macro_rules! of_level {
    ($level:ident: $single:ident $double:ident $complex_single:ident $complex_double:ident, $lanes:expr) => {
        kinds! {
            /// `f32`, and 16-bit floats that are converted to it.
            $single $level single, f32, $level::ROWS, $level::single::MOVES;
            /// `f64`.
            $double $level double, f64, $level::ROWS, $level::double::MOVES;
            /// Pairs of `f32`, moved like `f64`.
            $complex_single $level single::complex, Complex<f32>, $level::ROWS / 2,
                Moves { dtype: DType::C64, ..$level::double::MOVES };
            /// Pairs of `f64`.
            $complex_double $level double::complex, Complex<f64>, $level::ROWS / 2,
                pack::plain::<Complex<f64>, { $lanes / 2 }>(DType::C128);
        }
    };
}
of_level!(avx512: Single512 Double512 ComplexSingle512 ComplexDouble512, avx512::double::MOVES.lanes);
of_level!(avx2: Single256 Double256 ComplexSingle256 ComplexDouble256, avx2::double::MOVES.lanes);
of_level!(portable: Single Double ComplexSingle ComplexDouble, portable::double::MOVES.lanes);

/// The kinds of tiles that multiply an element type.
pub(super) trait Tiled {
    /// The kind for any processor.
    type Portable: Kind;
    /// The kind for processors with AVX2.
    type Avx2: Kind;
    /// The kind for processors with AVX-512.
    type Avx512: Kind;
}

macro_rules! tiled {
    ($($t:ty: $portable:ident $avx2:ident $avx512:ident;)*) => {$(
        impl Tiled for $t {
            type Portable = $portable;
            type Avx2 = $avx2;
            type Avx512 = $avx512;
        }
    )*};
}
tiled! {
    f32: Single Single256 Single512;
    f64: Double Double256 Double512;
    Complex<f32>: ComplexSingle ComplexSingle256 ComplexSingle512;
    Complex<f64>: ComplexDouble ComplexDouble256 ComplexDouble512;
}

/// Defines kinds whose units are several steps along the inner dim. `$bits` is the width of a step.
#[cfg(target_arch = "x86_64")]
macro_rules! of_steps {
    ($($(#[$doc:meta])* $kind:ident $level:ident $room:ident $kernels:path, $elem:ty, $part:ty, $bits:literal, $result:expr;)*) => {$(
        $(#[$doc])*
        pub(super) struct $kind;

        impl Kind for $kind {
            type Unit = u32;
            type Elem = $elem;
            const VECTORS: usize = $level::VECTORS;
            const ROWS: usize = $level::ROWS;
            const DEPTH: usize = $level::DEPTH;
            const PANELS: usize = $level::PANELS;
            const FETCH_PANELS: bool = $level::FETCH_PANELS;
            const LANES: usize = $room::MOVES.lanes;
            const STEPS: usize = 32 / $bits;
            const AS_IS: Option<DType> = None;
            const RESULT: Option<DType> = $result;
            const KERNELS: &'static Kernels<u32, $elem> = &$kernels;

            unsafe fn pack(part: Part, to: *mut u32, apart: usize) -> Result<(), NoMemory> {
                // SAFETY: guaranteed by the caller; the engine runs only on processors with the instructions.
                unsafe { pack::steps::<$part, $bits>(part, to, apart, $room::MOVES) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
of_steps! {
    /// Pairs of `bf16`, for processors with a dot-product instruction for them.
    Pairs avx512 pairs pairs::KERNELS, f32, u16, 16, None;
    /// Four bytes, unsigned on the left and signed on the right, for processors with AVX-512 VNNI.
    UnsignedQuads avx512 quads quads::unsigned::KERNELS, i32, u8, 8, Some(DType::I32);
    /// Four bytes, signed on the left and unsigned on the right.
    SignedQuads avx512 quads quads::signed::KERNELS, i32, u8, 8, Some(DType::I32);
    /// Pairs of unsigned bytes, widened to 16 bits, for processors with AVX2.
    Words avx2 words words::KERNELS, i32, u8, 16, Some(DType::I32);
}
