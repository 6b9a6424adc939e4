//! Rows of columns, added to the elements under their windows.

use half::{bf16, f16};
use nomina_core::DType;
use num_complex::Complex;

use super::line::{TapLines, taps};
use super::number::{ConvNumber, Widen};
use super::pieces::add;
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::job::WindowDims;

/// Adds the values of each tap at positions `from..from + count` to planes, one for each channel. `rows` has one
/// element of `dtype` per position, for each channel and tap in turn; sums of 16-bit floats are `f32`.
///
/// # Safety
/// The planes are contiguous and have the windows' elements; `rows` has this number of elements.
pub(super) unsafe fn add_rows(
    dtype: DType,
    windows: &WindowDims,
    channels: usize,
    positions: [usize; 2],
    rows: *const u8,
    planes: *mut u8,
) {
    macro_rules! added {
        ($run:expr, $rows:ty, $sum:ty) => {
            $run(AddRows::<$rows, $sum> {
                windows: *windows,
                channels,
                positions,
                rows: rows.cast(),
                planes: planes.cast(),
            })
        };
    }
    match dtype {
        DType::F32 => added!(dispatch, f32, f32),
        DType::F64 => added!(dispatch, f64, f64),
        DType::F16 => added!(dispatch, f16, f32),
        DType::BF16 => added!(dispatch, bf16, f32),
        DType::C64 => added!(dispatch, Complex<f32>, Complex<f32>),
        DType::C128 => added!(dispatch, Complex<f64>, Complex<f64>),
        // Sums that wrap are the same with and without a sign.
        DType::U8 | DType::I8 | DType::Bool => added!(Kernel::run, u8, u8),
        DType::I16 => added!(Kernel::run, u16, u16),
        DType::I32 => added!(Kernel::run, u32, u32),
        DType::I64 => added!(Kernel::run, u64, u64),
    }
}

/// A kernel that adds rows to planes.
struct AddRows<S, A> {
    windows: WindowDims,
    channels: usize,
    positions: [usize; 2],
    rows: *const S,
    planes: *mut A,
}

impl<S: Widen<A>, A: ConvNumber> Kernel for AddRows<S, A> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let [_, h, w] = &self.windows;
        let (all, size) = (super::taps(&self.windows), super::elements(&self.windows));
        let [from, count] = self.positions;
        for (row, tap) in taps(&self.windows).enumerate() {
            for line in TapLines::new(&self.windows, tap, from, count) {
                let [z, y, x] = line.element;
                let to = self.planes.wrapping_add((z * h.size + y) * w.size + x);
                let from = self.rows.wrapping_add(row * count + line.at + line.start);
                for channel in 0..self.channels {
                    let from = from.wrapping_add(channel * all * count);
                    let to = to.wrapping_add(channel * size);
                    // SAFETY: positions of a row and elements of a plane.
                    unsafe { add(line.end - line.start, from, to, w.stride) };
                }
            }
        }
    }
}
