//! Products of bytes with zero points, by tiles of several steps.
//!
//! `Σ (a - s) (b - t)`, with zero points `s` of the rows and `t` of the columns, is `Σ a b - s (Σ b - k t) - t Σ a`. The tiles
//! compute the first sum; the others are sums of one operand. Tiles of AVX-512 VNNI take one unsigned and one signed operand,
//! those of AVX2 two unsigned ones. For an operand of the other kind, the highest bit of its elements is flipped, which is a
//! difference of 128, as is then that of its zero points.

use std::mem::MaybeUninit;

use nomina_core::{DType, Scalar};

use super::kind::{Kind, SignedQuads, UnsignedQuads, Words};
use crate::cpu::parallel::{costly_rows, rows, threads};
use crate::cpu::reduce::simd::{Kernel, dispatch};
use crate::cpu::reduce::split::try_for_each;
use crate::cpu::simd::{Level, level};
use crate::job::{ByteProduct, Bytes, Matrix, Product};
use crate::memory::{NoMemory, Scratch};
use crate::shape::product;

/// The number of multiplications that take as long as one of `f32`.
const CHEAPER: usize = 4;

/// Multiplies matrices of bytes; returns false if the processor has no instructions for it.
///
/// # Safety
/// The operands are readable; nobody else uses the results meanwhile.
pub(crate) unsafe fn multiply(products: &[ByteProduct]) -> Result<bool, NoMemory> {
    // In unoptimised builds the loop in assembly for `f64` is faster.
    if cfg!(unoptimized) || level() == Level::Baseline {
        return Ok(false);
    }
    let count = products.len();
    let work = products.first().map_or(0, |p| product([p.m, p.k, p.n]));
    let parallel = work / CHEAPER >= super::PARALLEL;
    if count > 1 && (count >= threads() || !parallel) {
        try_for_each(count, work / CHEAPER / super::CHEAP, &|index| {
            // SAFETY: each product has its own result.
            unsafe { compute(&products[index], false) }
        })?;
    } else {
        for p in products {
            // SAFETY: guaranteed by the caller.
            unsafe { compute(p, parallel)? };
        }
    }
    Ok(true)
}

/// One operand with the sign that tiles take.
struct Operand<'a> {
    bytes: &'a [u8],
    flipped: Option<Scratch<MaybeUninit<u8>>>,
    signed: bool,
    zeros: Scratch<i32>,
}

impl<'a> Operand<'a> {
    /// # Safety
    /// There are this many bytes and zero points.
    unsafe fn new(x: &Bytes, len: usize, others: usize) -> Result<Self, NoMemory> {
        let mut zeros = Scratch::new([others], 0)?;
        for (at, zero) in zeros.iter_mut().enumerate() {
            // SAFETY: guaranteed by the caller.
            *zero = unsafe { x.zeros.wrapping_offset(at as isize * x.zero_step).read() };
        }
        Ok(Self {
            // SAFETY: guaranteed by the caller.
            bytes: unsafe { std::slice::from_raw_parts(x.ptr, len) },
            flipped: None,
            signed: x.signed,
            zeros,
        })
    }

    /// Changes the sign of the elements' type.
    fn flip(&mut self) -> Result<(), NoMemory> {
        let mut flipped = Scratch::<MaybeUninit<u8>>::uninit([self.bytes.len()])?;
        rows(&mut flipped, 1, &|first, to| {
            let from = &self.bytes[first..first + to.len()];
            dispatch(Flip { from, to });
        });
        self.flipped = Some(flipped);
        let by = if self.signed { 128 } else { -128 };
        self.zeros
            .iter_mut()
            .for_each(|zero| *zero = zero.wrapping_add(by));
        self.signed = !self.signed;
        Ok(())
    }

    fn bytes(&self) -> &[u8] {
        match &self.flipped {
            // SAFETY: all elements were written when it was created.
            Some(flipped) => unsafe {
                std::slice::from_raw_parts(flipped.as_ptr().cast(), flipped.len())
            },
            None => self.bytes,
        }
    }

    /// Returns whether there are no zero points besides zero.
    fn is_centred(&self) -> bool {
        self.zeros.iter().all(|&zero| zero == 0)
    }

    /// Returns the zero point if there is only one.
    fn zero(&self) -> Option<i32> {
        let first = *self.zeros.first()?;
        self.zeros
            .iter()
            .all(|&zero| zero == first)
            .then_some(first)
    }

    /// Returns whether flipping would make all zero points zero.
    fn flips_to_centred(&self) -> bool {
        self.zero() == Some(if self.signed { -128 } else { 128 })
    }
}

/// The elements that a result has before the tiles add their sums.
enum Start {
    /// Zeros.
    Zero,
    /// A vector that is repeated, and the strides of rows and columns.
    Repeated(Scratch<i32>, [isize; 2]),
    /// The result holds them already.
    Written,
}

impl Start {
    /// Computes what the zero points subtract.
    ///
    /// # Safety
    /// The requirements of [`multiply`].
    unsafe fn new(p: &ByteProduct, a: &Operand<'_>, b: &Operand<'_>) -> Result<Self, NoMemory> {
        let ByteProduct { m, k, n, .. } = *p;
        let repeated = |mut sums: Scratch<i32>, zero: i32, strides| {
            for sum in sums.iter_mut() {
                *sum = sum.wrapping_mul(zero).wrapping_neg();
            }
            Ok(Self::Repeated(sums, strides))
        };
        match (a.is_centred(), b.is_centred(), a.zero(), b.zero()) {
            (true, true, ..) => return Ok(Self::Zero),
            (_, true, Some(zero), _) => return repeated(column_sums(b, k, n)?, zero, [0, 1]),
            (true, _, _, Some(zero)) => return repeated(row_sums(a, m, k)?, zero, [1, 0]),
            _ => {}
        }
        let (columns, of_rows) = (column_sums(b, k, n)?, row_sums(a, m, k)?);
        // SAFETY: the result has this number of elements, and nobody else uses it.
        let c = unsafe { std::slice::from_raw_parts_mut(p.c.cast(), product([m, n])) };
        rows(c, n, &|first, part: &mut [MaybeUninit<i32>]| {
            for (row, to) in part.chunks_exact_mut(n).enumerate() {
                dispatch(StartRow {
                    zero: a.zeros[first + row],
                    sum: of_rows[first + row],
                    columns: &columns,
                    zeros: &b.zeros,
                    to,
                });
            }
        });
        Ok(Self::Written)
    }
}

/// # Safety
/// The requirements of [`multiply`]; the processor has the instructions.
unsafe fn compute(p: &ByteProduct, parallel: bool) -> Result<(), NoMemory> {
    let ByteProduct { m, k, n, .. } = *p;
    if m == 0 || n == 0 {
        return Ok(());
    }
    // SAFETY: guaranteed by the caller.
    let (mut a, mut b) = unsafe {
        (
            Operand::new(&p.a, product([m, k]), m)?,
            Operand::new(&p.b, product([k, n]), n)?,
        )
    };
    let quads = super::quads::exist();
    if !quads {
        for operand in [&mut a, &mut b].into_iter().filter(|x| x.signed) {
            operand.flip()?;
        }
    } else if a.signed == b.signed {
        // The sums of one operand are needed unless the other is centred; flipping reads an operand, too.
        if a.flips_to_centred() || (m <= n && !b.flips_to_centred()) {
            a.flip()?;
        } else {
            b.flip()?;
        }
    }
    let matrix = |first: *const u8, rows: usize, cols: isize| Matrix {
        ptr: first.cast_mut(),
        rows: rows as isize,
        cols,
    };
    // SAFETY: guaranteed by the caller.
    let start = unsafe { Start::new(p, &a, &b)? };
    let whole = Product {
        dtype: DType::U8,
        m,
        k,
        n,
        a: matrix(a.bytes().as_ptr(), k, 1),
        // The stride of a single column is free; a multiple of the steps in a unit is read faster.
        b: matrix(b.bytes().as_ptr(), n, if n == 1 { 4 } else { 1 }),
        c: matrix(p.c.cast(), n, 1),
        alpha: Scalar::Int(1),
        beta: (!matches!(start, Start::Zero)).then_some(Scalar::Int(1)),
        addend: match &start {
            Start::Repeated(sums, [rows, cols]) => Some(Matrix {
                ptr: sums.as_ptr().cast_mut().cast(),
                rows: *rows,
                cols: *cols,
            }),
            _ => None,
        },
        after: None,
    };
    // SAFETY: guaranteed by the caller; the operands are alive.
    unsafe {
        match (quads, a.signed) {
            (true, true) => run::<SignedQuads>(&whole, parallel),
            (true, false) => run::<UnsignedQuads>(&whole, parallel),
            (false, _) => run::<Words>(&whole, parallel),
        }
    }
}

/// # Safety
/// The requirements of [`super::engine::product`].
unsafe fn run<K: Kind>(p: &Product, parallel: bool) -> Result<(), NoMemory> {
    // SAFETY: guaranteed by the caller.
    unsafe { super::engine::product::<K>(p, parallel, None) }
}

/// Returns, for each column of the right operand, the sum of its elements minus the zero point.
fn column_sums(b: &Operand<'_>, k: usize, n: usize) -> Result<Scratch<i32>, NoMemory> {
    let mut sums = Scratch::new([n], 0)?;
    costly_rows(&mut sums, 1, k, &|first, sums| {
        for (sum, zero) in sums.iter_mut().zip(&b.zeros[first..]) {
            *sum = zero.wrapping_mul(k as i32).wrapping_neg();
        }
        for row in b.bytes().chunks_exact(n) {
            let row = &row[first..first + sums.len()];
            dispatch(AddRow {
                row,
                signed: b.signed,
                sums,
            });
        }
    });
    Ok(sums)
}

/// Returns the sum of each row of the left operand.
fn row_sums(a: &Operand<'_>, m: usize, k: usize) -> Result<Scratch<i32>, NoMemory> {
    let mut sums = Scratch::new([m], 0)?;
    costly_rows(&mut sums, 1, k, &|first, sums| {
        for (row, sum) in sums.iter_mut().enumerate() {
            let from = (first + row) * k;
            let row = &a.bytes()[from..from + k];
            *sum = dispatch(SumRow {
                row,
                signed: a.signed,
            });
        }
    });
    Ok(sums)
}

/// A kernel that flips the highest bits.
struct Flip<'a> {
    from: &'a [u8],
    to: &'a mut [MaybeUninit<u8>],
}

impl Kernel for Flip<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            to.write(from ^ 0x80);
        }
    }
}

/// A kernel that adds a row to sums.
struct AddRow<'a> {
    row: &'a [u8],
    signed: bool,
    sums: &'a mut [i32],
}

impl Kernel for AddRow<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let pairs = self.sums.iter_mut().zip(self.row);
        if self.signed {
            pairs.for_each(|(sum, &x)| *sum = sum.wrapping_add(i32::from(x.cast_signed())));
        } else {
            pairs.for_each(|(sum, &x)| *sum = sum.wrapping_add(i32::from(x)));
        }
    }
}

/// A kernel that sums a row.
struct SumRow<'a> {
    row: &'a [u8],
    signed: bool,
}

impl Kernel for SumRow<'_> {
    type Out = i32;

    #[inline(always)]
    fn run(self) -> i32 {
        let add = |sum: i32, x: i32| sum.wrapping_add(x);
        if self.signed {
            self.row
                .iter()
                .fold(0, |sum, x| add(sum, i32::from(x.cast_signed())))
        } else {
            self.row.iter().fold(0, |sum, &x| add(sum, i32::from(x)))
        }
    }
}

/// A kernel that writes the row that a row of the result begins with.
struct StartRow<'a> {
    /// The row's zero point, and the sum of its elements.
    zero: i32,
    sum: i32,
    /// The sums of the columns, and their zero points.
    columns: &'a [i32],
    zeros: &'a [i32],
    to: &'a mut [MaybeUninit<i32>],
}

impl Kernel for StartRow<'_> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        for ((to, column), zero) in self.to.iter_mut().zip(self.columns).zip(self.zeros) {
            let both = self
                .zero
                .wrapping_mul(*column)
                .wrapping_add(zero.wrapping_mul(self.sum));
            to.write(both.wrapping_neg());
        }
    }
}
