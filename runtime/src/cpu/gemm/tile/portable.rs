//! Tiles of plain arrays, for any processor; the compiler vectorises them.

use nomina_core::DType;

use super::complex::complex;
use super::{
    AS_IT_LIES, INDIRECT, Kernels, PACKED, SLIDING, Shapes, Tile, no_assembly as in_assembly,
    prefetch, prefetch_panel, prefetch_result, tile,
};
use crate::cpu::gemm::pack::{Moves, plain};

/// Vectors in a row of a tile, and its rows.
pub(crate) const VECTORS: usize = 2;
pub(crate) const ROWS: usize = 4;
/// Steps of a pass: both operands fit in a first-level cache of 32 KiB.
pub(crate) const DEPTH: usize = 256;
/// These panels have few bytes, because vectors are short.
pub(crate) const PANELS: usize = 12;
pub(crate) const FETCH_PANELS: bool = false;
/// Bytes of a vector: two 128-bit registers on targets that have 32 of them.
const VECTOR: usize = if cfg!(target_arch = "x86_64") { 16 } else { 32 };
/// Whether the target has a fused multiply-add instruction; otherwise `mul_add` would be a library
/// call.
const FUSED: bool = cfg!(any(target_feature = "fma", target_arch = "aarch64"));

macro_rules! portable {
    ($room:ident $t:ident $dtype:ident) => {
        /// Tiles of one element type.
        pub(crate) mod $room {
            use super::*;
            type Unit = $t;
            type Elem = $t;
            const LANES: usize = VECTOR / size_of::<$t>();
            type Vector = [$t; LANES];
            type Sums = Vector;
            /// The number of active lanes.
            type Mask = usize;

            #[inline(always)]
            fn zero() -> Vector {
                [0.0; LANES]
            }

            #[inline(always)]
            fn nothing() -> Vector {
                zero()
            }

            #[inline(always)]
            fn mask(cols: usize, v: usize) -> Mask {
                cols.saturating_sub(v * LANES).min(LANES)
            }

            #[inline(always)]
            fn all(x: $t) -> Vector {
                [x; LANES]
            }

            #[inline(always)]
            fn madd(a: Vector, b: Vector, mut sum: Vector) -> Vector {
                for ((sum, a), b) in sum.iter_mut().zip(a).zip(b) {
                    *sum = if FUSED {
                        a.mul_add(b, *sum)
                    } else {
                        a * b + *sum
                    };
                }
                sum
            }

            #[inline(always)]
            fn fused(a: Vector, b: Vector, sum: Vector) -> Vector {
                madd(a, b, sum)
            }

            #[inline(always)]
            fn times(mut a: Vector, b: Vector) -> Vector {
                for (a, b) in a.iter_mut().zip(b) {
                    *a *= b;
                }
                a
            }

            #[inline(always)]
            fn add(mut a: Vector, b: Vector) -> Vector {
                for (a, b) in a.iter_mut().zip(b) {
                    *a += b;
                }
                a
            }

            /// Replaces negative numbers by zero.
            #[inline(always)]
            fn relu(mut x: Vector) -> Vector {
                for x in &mut x {
                    *x = if *x < 0.0 { 0.0 } else { *x };
                }
                x
            }

            /// Subtracts in even lanes and adds in odd ones.
            #[inline(always)]
            fn add_sub(mut a: Vector, b: Vector) -> Vector {
                for (at, (a, b)) in a.iter_mut().zip(b).enumerate() {
                    *a += if at % 2 == 0 { -b } else { b };
                }
                a
            }

            /// Swaps each lane with its neighbour.
            #[inline(always)]
            fn swapped(x: Vector) -> Vector {
                std::array::from_fn(|at| x[at ^ 1])
            }

            /// # Safety
            /// The element is readable.
            #[inline(always)]
            unsafe fn splat(x: *const $t) -> Vector {
                // SAFETY: guaranteed by the caller.
                [unsafe { x.read() }; LANES]
            }

            /// # Safety
            /// A vector of elements is readable.
            #[inline(always)]
            unsafe fn whole(x: *const $t) -> Vector {
                // SAFETY: guaranteed by the caller.
                unsafe { x.cast::<Vector>().read_unaligned() }
            }

            /// # Safety
            /// The lanes of the mask are readable.
            #[inline(always)]
            unsafe fn load(mask: Mask, x: *const $t) -> Vector {
                let mut vector = zero();
                for (at, lane) in vector.iter_mut().enumerate().take(mask) {
                    // SAFETY: guaranteed by the caller.
                    *lane = unsafe { x.add(at).read() };
                }
                vector
            }

            /// # Safety
            /// The requirements of [`load`].
            #[inline(always)]
            unsafe fn read(mask: Mask, x: *const $t) -> Vector {
                // SAFETY: guaranteed by the caller.
                unsafe { load(mask, x) }
            }

            /// # Safety
            /// There is room for the lanes of the mask.
            #[inline(always)]
            unsafe fn write(mask: Mask, to: *mut $t, x: Vector) {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if mask == LANES {
                        to.cast::<Vector>().write_unaligned(x);
                    } else {
                        for (at, &lane) in x.iter().enumerate().take(mask) {
                            to.add(at).write(lane);
                        }
                    }
                }
            }

            tile! { :
                1 [1 2 3 4] packed [2 4];
                2 [1 2 3 4] packed [2 4];
            }
            pub(crate) const MOVES: Moves<$t> = plain::<$t, LANES>(DType::$dtype);

            /// Tiles of complex numbers of this type.
            pub(crate) mod complex {
                use super::*;
                complex! { :
                    1 [1 2 2 4];
                    2 [1 2 2 4];
                }
            }
        }
    };
}
portable!(single f32 F32);
portable!(double f64 F64);
