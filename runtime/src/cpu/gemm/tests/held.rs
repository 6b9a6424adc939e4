//! Test matrices.

use nomina_core::DType;
use num_complex::Complex;

use crate::job::Matrix;

/// Returns a number between -2 and 2; products and short sums of such numbers are exact in `f32`.
fn number(seed: usize) -> f64 {
    (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 % 65.0 / 16.0 - 2.0
}

/// A matrix at an offset in a buffer that is longer than it needs.
pub struct Held {
    pub bytes: Vec<u64>,
    pub dtype: DType,
    pub offset: isize,
    pub strides: [isize; 2],
    pub sizes: [usize; 2],
}

/// The number of memory layouts.
pub const LAYOUTS: usize = 5;

impl Held {
    /// Creates a matrix of `rows × cols` numbers in one of the [`LAYOUTS`]: by row, by column, with
    /// gaps, backwards, or with one row or column repeated.
    pub fn new(dtype: DType, sizes: [usize; 2], layout: usize, seed: usize) -> Self {
        let [rows, cols] = sizes.map(|size| size.max(1) as isize);
        let strides = match layout {
            0 => [cols, 1],
            1 => [1, rows],
            2 => [2 * cols + 3, 2],
            3 => [-cols, 1],
            _ => [0, 1],
        };
        let offset = if layout == 3 { (rows - 1) * cols } else { 0 };
        let count = 2 * rows * cols + 3 * rows;
        let words = if dtype == DType::C128 { 2 } else { 1 };
        let mut held = Self {
            bytes: vec![0; words * count as usize],
            dtype,
            offset,
            strides,
            sizes,
        };
        for at in 0..count as usize {
            let im = if dtype.is_complex() {
                number(at + seed + 1000)
            } else {
                0.0
            };
            held.set_complex(at as isize, Complex::new(number(at + seed), im));
        }
        held
    }

    fn place(&self, at: isize) -> *mut u8 {
        let start = self.bytes.as_ptr().cast::<u8>().cast_mut();
        start.wrapping_offset(at * self.dtype.size() as isize)
    }

    pub fn set(&mut self, at: isize, value: f64) {
        self.set_complex(at, value.into());
    }

    /// Writes a complex number; the imaginary part is dropped if the dtype has none.
    pub fn set_complex(&mut self, at: isize, number: Complex<f64>) {
        let value = number.re;
        // SAFETY: within the buffer, whose elements have the size of the dtype.
        unsafe {
            match self.dtype {
                DType::F32 => self.place(at).cast::<f32>().write(value as f32),
                DType::F64 => self.place(at).cast::<f64>().write(value),
                DType::BF16 => self
                    .place(at)
                    .cast::<half::bf16>()
                    .write(half::bf16::from_f64(value)),
                DType::F16 => self
                    .place(at)
                    .cast::<half::f16>()
                    .write(half::f16::from_f64(value)),
                DType::C64 => self
                    .place(at)
                    .cast::<Complex<f32>>()
                    .write(Complex::new(value as f32, number.im as f32)),
                DType::C128 => self.place(at).cast::<Complex<f64>>().write(number),
                other => unreachable!("{other}"),
            }
        }
    }

    pub fn get(&self, row: usize, col: usize) -> f64 {
        self.get_complex(row, col).re
    }

    pub fn get_complex(&self, row: usize, col: usize) -> Complex<f64> {
        let [rows, cols] = self.strides;
        let at = self.place(self.offset + row as isize * rows + col as isize * cols);
        // SAFETY: as above.
        unsafe {
            match self.dtype {
                DType::F32 => f64::from(at.cast::<f32>().read()).into(),
                DType::F64 => at.cast::<f64>().read().into(),
                DType::BF16 => at.cast::<half::bf16>().read().to_f64().into(),
                DType::F16 => at.cast::<half::f16>().read().to_f64().into(),
                DType::C64 => {
                    let number = at.cast::<Complex<f32>>().read();
                    Complex::new(number.re.into(), number.im.into())
                }
                DType::C128 => at.cast::<Complex<f64>>().read(),
                other => unreachable!("{other}"),
            }
        }
    }

    pub fn matrix(&self) -> Matrix {
        Matrix {
            ptr: self.place(self.offset),
            rows: self.strides[0],
            cols: self.strides[1],
        }
    }
}
