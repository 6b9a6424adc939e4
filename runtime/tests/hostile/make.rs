//! Sizes, numbers and tensors of any layout.

use half::{bf16, f16};
use nomina_core::{DType, Element};
use nomina_runtime::raw::{Raw, RawMut};
use num_complex::Complex;

use super::super::bytes::Bytes;

/// Sizes too large for any memory, in any dtype: smaller ones would be allocated and filled.
const HUGE: [usize; 10] = [
    1 << 48,
    1 << 54,
    (1 << 55) - 1,
    1 << 55,
    1 << 61,
    1 << 62,
    isize::MAX as usize,
    1 << 63,
    usize::MAX - 1,
    usize::MAX,
];

/// Returns a size of a dim, or a count.
pub fn size(bytes: &mut Bytes<'_>) -> usize {
    match bytes.below(32) {
        0 => bytes.pick(&HUGE),
        1 => 17,
        n => n % 6,
    }
}

/// Returns any integer.
pub fn whole(bytes: &mut Bytes<'_>) -> i64 {
    match bytes.below(32) {
        0 => bytes.pick(&[
            i64::MIN,
            i64::MIN + 1,
            i64::MAX,
            -(1 << 48),
            1 << 48,
            1 << 62,
        ]),
        1 => -17,
        n => n as i64 % 9 - 3,
    }
}

/// Returns any number.
pub fn float(bytes: &mut Bytes<'_>) -> f64 {
    match bytes.below(16) {
        0 => bytes.pick(&[
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            1e300,
            -1e300,
            1e-300,
            f64::MIN_POSITIVE / 2.0,
            -0.0,
        ]),
        n => (n as f64 - 4.0) / 2.0,
    }
}

/// Returns sizes of a small tensor.
pub fn shape(bytes: &mut Bytes<'_>) -> Vec<usize> {
    // More dims than lists hold without an allocation.
    if bytes.once_in(24) {
        return (0..7 + bytes.below(5))
            .map(|_| bytes.pick(&[1, 1, 1, 2]))
            .collect();
    }
    let rank = bytes.below(6);
    // A long tensor now and then: kernels have separate loops for them.
    if rank == 1 && bytes.once_in(8) {
        return vec![bytes.below(3000)];
    }
    (0..rank)
        .map(|_| bytes.pick(&[0, 1, 1, 2, 2, 3, 3, 4, 5]))
        .collect()
}

/// Returns these sizes, sizes that broadcast with them, or other ones.
pub fn near(bytes: &mut Bytes<'_>, base: &[usize]) -> Vec<usize> {
    let mut sizes = base.to_vec();
    match bytes.below(12) {
        0 => return shape(bytes),
        1 => drop(sizes.drain(..bytes.below(base.len() + 1))),
        2 if !base.is_empty() => sizes[bytes.below(base.len())] = 1,
        3 if !base.is_empty() => sizes.swap(0, bytes.below(base.len())),
        4 if !base.is_empty() => drop(sizes.remove(bytes.below(base.len()))),
        5 if base.len() < 5 => sizes.insert(bytes.below(base.len() + 1), bytes.below(4)),
        _ => {}
    }
    sizes
}

/// Returns these sizes, and occasionally other ones.
pub fn mostly(bytes: &mut Bytes<'_>, sizes: &[usize]) -> Vec<usize> {
    if bytes.once_in(10) {
        return near(bytes, sizes);
    }
    sizes.to_vec()
}

pub fn dtype_near(bytes: &mut Bytes<'_>, dtype: DType) -> DType {
    if bytes.once_in(8) {
        return bytes.pick(&DType::ALL);
    }
    dtype
}

/// Creates a tensor of these sizes with any layout. If a size is zero, another one may be too large for any memory.
pub fn tensor(bytes: &mut Bytes<'_>, sizes: &[usize], dtype: DType) -> Raw {
    let rank = sizes.len();
    if sizes.contains(&0) && bytes.once_in(4) {
        let mut one: Vec<usize> = sizes.iter().map(|&size| size.min(1)).collect();
        let raw = filled(bytes, &one, dtype);
        let at = bytes.below(rank);
        if one[at] == 1 {
            one[at] = 1 << bytes.pick(&[48, 50, 54]);
            return raw.expand(&one).unwrap_or(raw);
        }
    }
    if bytes.below(2) == 0 {
        return filled(bytes, sizes, dtype);
    }
    // The layout of each dim in a larger buffer, whose dims have another order.
    let ways: Vec<usize> = sizes.iter().map(|_| bytes.below(8)).collect();
    let lies = |at: usize| match ways[at] {
        0 if sizes[at] > 0 => 1,
        1 => 2 * sizes[at],
        2 => sizes[at] + 2,
        _ => sizes[at],
    };
    let mut order: Vec<usize> = (0..rank).collect();
    for at in 0..rank {
        order.swap(at, bytes.below(rank));
    }
    let buffer: Vec<usize> = order.iter().map(|&at| lies(at)).collect();
    let mut back = vec![0; rank];
    for (at, &dim) in order.iter().enumerate() {
        back[dim] = at;
    }
    let mut raw = filled(bytes, &buffer, dtype)
        .permute(&back)
        .expect("each dim once");
    for (at, &size) in sizes.iter().enumerate() {
        raw = match ways[at] {
            1 => raw.slice(at, 0, size, 2),
            2 => raw.narrow(at, 1, size),
            3 => raw.flip(at),
            _ => Ok(raw),
        }
        .expect("a part of a dim");
    }
    raw.expand(sizes).expect("dims of one element")
}

/// Creates a row-major tensor.
fn filled(bytes: &mut Bytes<'_>, sizes: &[usize], dtype: DType) -> Raw {
    fn of<T: Element>(
        bytes: &mut Bytes<'_>,
        sizes: &[usize],
        one: impl Fn(&mut Bytes<'_>) -> T,
    ) -> Raw {
        let count = sizes.iter().product();
        let all: Vec<T> = (0..count).map(|_| one(bytes)).collect();
        Raw::from_vec(all, sizes).expect("as many as there are")
    }
    // Small indices, which are often in range, or any numbers.
    let style = bytes.below(4);
    let n = move |bytes: &mut Bytes<'_>| match style {
        0 | 1 => bytes.below(3) as i64,
        2 => bytes.below(7) as i64 - 3,
        _ => whole(bytes),
    };
    let x = move |bytes: &mut Bytes<'_>| match style {
        0..=2 => bytes.below(9) as f64 / 2.0 - 1.0,
        _ => float(bytes),
    };
    match dtype {
        DType::Bool => of(bytes, sizes, |b| b.below(2) == 0),
        DType::U8 => of(bytes, sizes, move |b| n(b) as u8),
        DType::I8 => of(bytes, sizes, move |b| n(b) as i8),
        DType::I16 => of(bytes, sizes, move |b| n(b) as i16),
        DType::I32 => of(bytes, sizes, move |b| n(b) as i32),
        DType::I64 => of(bytes, sizes, n),
        DType::F16 => of(bytes, sizes, move |b| f16::from_f64(x(b))),
        DType::BF16 => of(bytes, sizes, move |b| bf16::from_f64(x(b))),
        DType::F32 => of(bytes, sizes, move |b| x(b) as f32),
        DType::F64 => of(bytes, sizes, x),
        DType::C64 => of(bytes, sizes, move |b| {
            Complex::new(x(b) as f32, x(b) as f32)
        }),
        DType::C128 => of(bytes, sizes, move |b| Complex::new(x(b), x(b))),
    }
}

/// Returns the region, or a view of it.
pub fn part<'a>(bytes: &mut Bytes<'_>, whole: RawMut<'a>) -> RawMut<'a> {
    let rank = whole.rank();
    if rank == 0 {
        return whole;
    }
    let dim = bytes.below(rank);
    let size = whole.shape()[dim];
    match bytes.below(12) {
        0 => whole.transpose(dim, bytes.below(rank)),
        1 => whole.flip(dim),
        2 if size > 0 => whole.select(dim, bytes.below(size)),
        3 => whole.narrow(dim, size / 2, size - size / 2),
        4 => whole.slice(dim, 0, size.div_ceil(2), 2),
        5 => whole.unsqueeze(dim),
        6 if rank > 1 => whole.diagonal(dim, (dim + 1) % rank, 0),
        _ => Ok(whole),
    }
    .expect("a view that is there")
}
