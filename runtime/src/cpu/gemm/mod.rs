//! Matrix products.
//!
//! Operands have any strides, so a transposed operand is not copied. Products of floats and complex numbers use tiles
//! of AVX-512, AVX2 or plain arrays; 16-bit floats are computed in `f32`. Products with few rows and products with a
//! vector read the matrix once. Integers and bool are multiplied by blocks; bytes with sums in `i32` have tiles of their own.

mod arith;
mod blocks;
#[cfg(target_arch = "x86_64")]
mod bytes;
#[cfg(target_arch = "x86_64")]
mod dots;
mod engine;
pub(crate) mod epilogue;
#[cfg(target_arch = "x86_64")]
mod few_rows;
pub(crate) mod indirect;
mod kind;
pub(crate) mod lowered;
mod operands;
mod pack;
#[cfg(target_arch = "x86_64")]
mod pairs;
mod plan;
mod prefetch;
#[cfg(target_arch = "x86_64")]
mod quads;
mod share;
pub(crate) mod sliding;
#[cfg(test)]
mod tests;
mod tile;
mod vector;
#[cfg(target_arch = "x86_64")]
mod words;

use nomina_core::DType;
use num_complex::Complex;

use crate::cpu::parallel::threads;
use crate::cpu::reduce::load::{Copy2, copy2};
use crate::cpu::reduce::split::try_for_each;
use crate::cpu::simd::{Level, level};
#[cfg(not(target_arch = "x86_64"))]
use crate::job::ByteProduct;
use crate::job::{BatchRepeats, Matrix, Product, Repeat};
use crate::memory::NoMemory;
use crate::shape::scaled_stride;
use arith::Arith;
use kind::Tiled;

/// The number of multiplications from which a second thread pays: 128 cubed. Integers take longer.
const PARALLEL: usize = 1 << 21;
const PARALLEL_INTEGER: usize = 1 << 20;
/// Products whose result and inner dim are smaller than this are not considered for a second thread.
const SMALL: usize = 1 << 9;
/// The number of multiplications from which prefetching the next product of a batch pays.
const AHEAD: usize = 1 << 14;
/// The number of multiplications that take as long as one element of other work: a second thread pays later.
const CHEAP: usize = 8;
/// The most multiplications for which nothing is packed.
const TINY: usize = 1 << 9;

impl Product {
    /// Returns the transposed product: `cᵀ = bᵀ aᵀ`.
    pub(crate) fn flipped(&self) -> Self {
        Self {
            m: self.n,
            n: self.m,
            a: self.b.t(),
            b: self.a.t(),
            c: self.c.t(),
            addend: self.addend.map(Matrix::t),
            ..*self
        }
    }

    /// Returns the number of multiplications.
    pub(crate) fn work(&self) -> usize {
        self.m.saturating_mul(self.n).saturating_mul(self.k)
    }

    /// Copies the addend into the result and returns the product that accumulates there.
    ///
    /// # Safety
    /// The requirements of [`multiply`].
    unsafe fn preset(&self) -> Self {
        if let Some(d) = self.addend.filter(|_| self.beta.is_some()) {
            // SAFETY: guaranteed by the caller: the addend has the result's sizes.
            unsafe {
                copy2(Copy2 {
                    src: d.ptr,
                    from: self.dtype,
                    strides: [d.rows, d.cols],
                    dst: self.c.ptr,
                    to: self.dtype,
                    into: [self.c.rows, self.c.cols],
                    rows: self.m,
                    cols: self.n,
                });
            }
        }
        Self {
            addend: None,
            ..*self
        }
    }
}

/// Computes a product for every combination of the repeats' indices.
///
/// # Safety
/// All matrices are in bounds of their buffers. No element of `c` overlaps another element of `c`, `a` or `b`, and
/// nobody else uses `c` meanwhile.
pub(crate) unsafe fn multiply(mut product: Product, repeats: &[Repeat]) -> Result<(), NoMemory> {
    if repeats.is_empty()
        && crate::shape::product([product.m, product.n]) < SMALL
        && product.k < SMALL
    {
        // SAFETY: guaranteed by the caller.
        return unsafe { serial(&product) };
    }
    let mut outer = BatchRepeats::from_slice(repeats);
    outer.retain(|repeat| repeat.size != 1);
    // A repeat whose rows continue those before, with the same right operand, is merged into one taller matrix.
    while let Some(&last) = outer.last() {
        let rows = product.m;
        let goes_on = |step: isize, matrix: Matrix| step == scaled_stride(matrix.rows, rows);
        if last.b != 0
            || !goes_on(last.a, product.a)
            || !goes_on(last.c, product.c)
            || product.addend.is_some_and(|d| !goes_on(last.d, d))
        {
            break;
        }
        product.m = crate::shape::product([product.m, last.size]);
        outer.pop();
    }
    let count = crate::shape::product(outer.iter().map(|repeat| repeat.size));
    let Product { m, k, n, dtype, .. } = product;
    if count == 0 || m == 0 || n == 0 {
        return Ok(());
    }
    let work = m.saturating_mul(n).saturating_mul(k.max(1));
    let worth = if dtype.is_integral() {
        PARALLEL_INTEGER
    } else {
        PARALLEL
    };
    let nth = |mut index: usize| {
        let mut nth = product;
        for repeat in outer.iter().rev() {
            let at = index % repeat.size;
            index /= repeat.size;
            nth.a = nth.a.shift(scaled_stride(repeat.a, at), dtype);
            nth.b = nth.b.shift(scaled_stride(repeat.b, at), dtype);
            nth.c = nth.c.shift(scaled_stride(repeat.c, at), dtype);
            nth.addend = nth
                .addend
                .map(|d| d.shift(scaled_stride(repeat.d, at), dtype));
        }
        nth
    };
    if count > 1 && (count >= threads() || work < worth) {
        if work < AHEAD {
            return try_for_each(count, work / 8, &|index| {
                // SAFETY: each index owns its part of `c`.
                unsafe { compute_product(&nth(index), false, None) }
            });
        }
        let last = count - 1;
        return try_for_each(count, work / 8, &|index| {
            let next = (index < last).then(|| nth(index + 1));
            // SAFETY: as above.
            unsafe { compute_product(&nth(index), false, next.as_ref()) }
        });
    }
    for index in 0..count {
        // SAFETY: guaranteed by the caller.
        unsafe { compute_product(&nth(index), work >= worth, None)? };
    }
    Ok(())
}

/// Computes one product on this thread, for callers that have divided the work themselves.
///
/// # Safety
/// The requirements of [`multiply`].
pub(crate) unsafe fn serial(product: &Product) -> Result<(), NoMemory> {
    if product.m == 0 || product.n == 0 {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    unsafe { compute_product(product, false, None) }
}

/// Computes one product, on several threads if `parallel`, and prefetches the `next` one.
unsafe fn compute_product(
    p: &Product,
    parallel: bool,
    next: Option<&Product>,
) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe {
        if !sums(p, parallel, next)? {
            epilogue::apply_whole(p, parallel);
        }
    }
    Ok(())
}

/// Computes the sums of one product. Returns whether the epilogue has been applied, too.
unsafe fn sums(p: &Product, parallel: bool, next: Option<&Product>) -> Result<bool, NoMemory> {
    macro_rules! with {
        ($t:ty) => {
            // SAFETY: guaranteed by the caller; the elements have the type of the dtype.
            unsafe {
                if p.n == 1 {
                    vector::mv::<$t>(p)?;
                } else if p.m == 1 {
                    vector::mv::<$t>(&p.flipped())?;
                } else if <$t>::few_rows(p) {
                    return Ok(false);
                } else {
                    return <$t>::product(p, parallel, next);
                }
                Ok(false)
            }
        };
    }
    match p.dtype {
        DType::Bool => with!(bool),
        DType::U8 => with!(u8),
        DType::I8 => with!(i8),
        DType::I16 => with!(i16),
        DType::I32 => with!(i32),
        DType::I64 => with!(i64),
        DType::F32 => with!(f32),
        DType::F64 => with!(f64),
        DType::C64 => with!(Complex<f32>),
        DType::C128 => with!(Complex<f64>),
        // SAFETY: guaranteed by the caller.
        DType::F16 | DType::BF16 => unsafe {
            if !by_pairs(p, parallel, next)? {
                by_tiles::<f32>(p, parallel, next)?;
            }
            Ok(true)
        },
    }
}

/// The kernels of a type for large matrices.
trait Large: Arith {
    /// Returns the inner products of rows, if the type and the processor have them.
    #[cfg(target_arch = "x86_64")]
    fn dots() -> Option<dots::Dots<Self>> {
        None
    }

    /// Computes a product of few rows if the type and the processor have tiles for it; otherwise returns false.
    ///
    /// # Safety
    /// The requirements of [`multiply`].
    unsafe fn few_rows(_p: &Product) -> bool {
        false
    }

    /// Computes one product. Returns whether the epilogue has been applied, too.
    ///
    /// # Safety
    /// The requirements of [`multiply`].
    unsafe fn product(
        p: &Product,
        parallel: bool,
        next: Option<&Product>,
    ) -> Result<bool, NoMemory>;
}

macro_rules! by_tiles {
    ($($t:ty $(, $dots:ident $few:ident)?;)*) => {$(
        impl Large for $t {
            $(#[cfg(target_arch = "x86_64")]
            fn dots() -> Option<dots::Dots<$t>> {
                (level() == Level::Avx512).then_some(dots::$dots)
            }

            #[cfg(target_arch = "x86_64")]
            unsafe fn few_rows(p: &Product) -> bool {
                // SAFETY: guaranteed by the caller.
                few_rows::$few().is_some_and(|tiles| unsafe { few_rows::product(p, tiles) })
            })?

            unsafe fn product(
                p: &Product,
                parallel: bool,
                next: Option<&Product>,
            ) -> Result<bool, NoMemory> {
                // SAFETY: guaranteed by the caller.
                unsafe { by_tiles::<$t>(p, parallel, next)? };
                Ok(true)
            }
        }
    )*};
}
by_tiles!(f32, SINGLE single; f64, DOUBLE double; Complex<f32>; Complex<f64>;);

macro_rules! by_blocks {
    ($($t:ty)*) => {$(
        impl Large for $t {
            unsafe fn product(
                p: &Product,
                parallel: bool,
                _next: Option<&Product>,
            ) -> Result<bool, NoMemory> {
                // SAFETY: guaranteed by the caller.
                unsafe {
                    if p.work() <= TINY {
                        blocks::tiny::<$t>(p);
                    } else {
                        blocks::product::<$t>(p, parallel)?;
                    }
                }
                Ok(false)
            }
        }
    )*};
}
by_blocks!(bool u8 i8 i16 i32 i64);

/// Returns the instruction set for tiles. In unoptimised builds this is at most AVX2, whose loop is in assembly and
/// therefore faster.
fn widest() -> Level {
    level().min(if cfg!(unoptimized) {
        Level::Avx2
    } else {
        Level::Avx512
    })
}

/// Evaluates an expression with the kind of tiles that multiply a type with the best instructions.
macro_rules! at_level {
    ($kind:ident => $body:expr) => {
        match $crate::cpu::gemm::widest() {
            Level::Baseline => {
                type $kind<T> = <T as Tiled>::Portable;
                $body
            }
            Level::Avx2 => {
                type $kind<T> = <T as Tiled>::Avx2;
                $body
            }
            Level::Avx512 => {
                type $kind<T> = <T as Tiled>::Avx512;
                $body
            }
        }
    };
}
use at_level;

/// Computes a product and its epilogue by tiles, with the best instructions of the processor.
///
/// # Safety
/// The requirements of [`multiply`].
unsafe fn by_tiles<T: Tiled>(
    p: &Product,
    parallel: bool,
    next: Option<&Product>,
) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller; the processor has the instructions of the level.
    unsafe { at_level!(K => engine::product::<K<T>>(p, parallel, next)) }
}

/// Computes a product by tiles of pairs if the processor has the instructions and they are fast.
///
/// # Safety
/// The requirements of [`multiply`].
#[cfg(target_arch = "x86_64")]
unsafe fn by_pairs(p: &Product, parallel: bool, next: Option<&Product>) -> Result<bool, NoMemory> {
    let pay = p.dtype == DType::BF16 && level() == Level::Avx512 && pairs::pay();
    if pay {
        // SAFETY: guaranteed by the caller; `pay` checks for the instructions.
        unsafe { engine::product::<kind::Pairs>(p, parallel, next)? };
    }
    Ok(pay)
}

#[cfg(target_arch = "x86_64")]
pub(crate) use bytes::multiply as multiply_bytes;

/// Returns false: this architecture has no tiles of bytes.
///
/// # Safety
/// None.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn multiply_bytes(_products: &[ByteProduct]) -> Result<bool, NoMemory> {
    Ok(false)
}

/// Returns false: this architecture has no tiles of pairs.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn by_pairs(
    _p: &Product,
    _parallel: bool,
    _next: Option<&Product>,
) -> Result<bool, NoMemory> {
    Ok(false)
}
