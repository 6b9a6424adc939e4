//! Fourier transforms along dims.

use nomina_core::op::Op;
use nomina_core::rule::Positions;
use nomina_core::{DType, Element, Error, ErrorKind, Names, Result};
use num_complex::Complex;

use super::device::by_host;
use super::{Arg, cat, check, contiguous, copy_into, pointwise, to_dtype};
use crate::Device;
use crate::cpu::fft::{Sample, complex, half, whole};
use crate::job::FftNorm;
use crate::memory::NoMemory;
use crate::raw::Raw;
use crate::shape::Shape;
use crate::tape::{record_half_spectrum, record_real_signal, record_transform};

fn refuse(kind: ErrorKind, op: Op, x: &Raw, what: impl Into<String>) -> Error {
    Error::new(kind, op.name(), what).operand(&Names::default(), x.shape())
}

/// Checks the operator, the dtype and that the dims have elements.
fn accept(entry: &str, of: &[Op], op: Op, x: &Raw, dims: &[usize]) -> Result<()> {
    if !of.contains(&op) {
        return Err(check::wrong_entry(op, entry));
    }
    let row = op.row();
    let refused = |error: Error| error.operand(&Names::default(), x.shape());
    row.check_dtype(x.dtype()).map_err(refused)?;
    check::dims(row.name, x.shape(), dims)?;
    for &dim in dims {
        if x.shape()[dim] == 0 {
            let what = "an empty dim has no transform";
            return Err(refuse(ErrorKind::Shape, op, x, what)
                .at(0, dim)
                .hint("give at least one element along it"));
        }
    }
    Ok(())
}

fn to_complex(dtype: DType) -> DType {
    match dtype.to_real() {
        DType::F32 => DType::C64,
        _ => DType::C128,
    }
}

/// Moves a dim to the end, and returns the permutation that restores it.
fn behind(x: &Raw, dim: usize) -> Result<(Raw, Positions)> {
    let last = x.rank() - 1;
    let order: Positions = (0..=last).filter(|&d| d != dim).chain([dim]).collect();
    let back = (0..=last).map(|d| match d {
        d if d == dim => last,
        d => d - usize::from(d > dim),
    });
    Ok((x.permute(&order)?, back.collect()))
}

/// Returns the elements of a fresh result.
fn elements<T: Element>(x: &mut Raw) -> Result<&mut [T]> {
    let slice = x.as_mut()?.into_slice();
    Ok(slice.unwrap_or_else(|| unreachable!("a fresh result is row-major")))
}

/// Returns the elements of a copy.
fn copied<T: Element>(x: &Raw) -> &[T] {
    x.as_slice()
        .unwrap_or_else(|| unreachable!("a copy is row-major"))
}

fn missing(op: Op) -> impl Fn(NoMemory) -> Error {
    move |error| error.in_op(op.name())
}

/// Computes the discrete Fourier transform along dims, one after the other. The result is complex.
///
/// # Errors
/// If the dtype is not taken, a dim is out of range or has no elements, or memory is missing.
pub fn transform(op: Op, x: &Raw, dims: &[usize], inverse: bool, norm: FftNorm) -> Result<Raw> {
    let of = [Op::Fft, Op::Ifft, Op::Fftn, Op::Ifftn, Op::FftConvolve];
    accept("transform", &of, op, x, dims)?;
    if !x.device().is_cpu() {
        return by_host("fft", &[x], |host| {
            transform(op, &host[0], dims, inverse, norm)
        });
    }
    let dtype = to_complex(x.dtype());
    let mut made = x.clone().detach();
    for &dim in dims {
        let (n, (lines, back)) = (made.shape()[dim], behind(&made, dim)?);
        let mut out = Raw::empty(op.name(), lines.shape(), dtype, Device::Cpu)?;
        copy_into(out.as_mut()?, &lines)?;
        let scale = norm.scale(n, inverse);
        match dtype {
            DType::C64 => complex::<f32>(elements(&mut out)?, n, inverse, scale),
            _ => complex::<f64>(elements(&mut out)?, n, inverse, scale),
        }
        .map_err(missing(op))?;
        made = out.permute(&back)?;
    }
    // Along no dims, the transform is the identity.
    let made = to_dtype(&made, dtype)?;
    record_transform(op, made, x, dims, inverse, norm)
}

/// Computes the first half of the transform of a real signal: `n / 2 + 1` elements.
///
/// # Errors
/// Like [`transform`].
pub fn rfft(op: Op, x: &Raw, dim: usize, norm: FftNorm) -> Result<Raw> {
    fn transform<T: Sample + Element>(
        x: &Raw,
        out: &mut Raw,
        n: usize,
        scale: f64,
    ) -> Result<Result<(), NoMemory>>
    where
        Complex<T>: Element,
    {
        Ok(half::<T>(copied(x), elements(out)?, n, scale))
    }
    accept(
        "rfft",
        &[Op::Rfft, Op::Rfftn, Op::FftConvolve],
        op,
        x,
        &[dim],
    )?;
    if x.dtype().is_complex() {
        let what = format!("dtype {} is not real", x.dtype());
        return Err(refuse(ErrorKind::DType, op, x, what).hint("`fft` takes complex signals"));
    }
    if !x.device().is_cpu() {
        return by_host("fft", &[x], |host| rfft(op, &host[0], dim, norm));
    }
    let (n, (lines, back)) = (x.shape()[dim], behind(x, dim)?);
    let lines = contiguous(&lines)?;
    let mut shape = Shape::from_slice(lines.shape());
    shape[x.rank() - 1] = n / 2 + 1;
    let mut out = Raw::empty(op.name(), &shape, to_complex(x.dtype()), Device::Cpu)?;
    let scale = norm.scale(n, false);
    match x.dtype() {
        DType::F32 => transform::<f32>(&lines, &mut out, n, scale)?,
        _ => transform::<f64>(&lines, &mut out, n, scale)?,
    }
    .map_err(missing(op))?;
    record_half_spectrum(op, out.permute(&back)?, x, dim, norm)
}

/// Computes the real signal of `n` elements whose transform has this first half; missing frequencies are zero.
///
/// # Errors
/// Like [`transform`]; also if `n` is 0.
pub fn irfft(op: Op, x: &Raw, dim: usize, n: usize, norm: FftNorm) -> Result<Raw> {
    fn transform<T: Sample + Element>(
        x: &Raw,
        m: usize,
        out: &mut Raw,
        n: usize,
        scale: f64,
    ) -> Result<Result<(), NoMemory>>
    where
        Complex<T>: Element,
    {
        Ok(whole::<T>(copied(x), m, elements(out)?, n, scale))
    }
    accept(
        "irfft",
        &[Op::Irfft, Op::Irfftn, Op::FftConvolve],
        op,
        x,
        &[dim],
    )?;
    if n == 0 {
        let what = "an empty signal has no transform";
        return Err(refuse(ErrorKind::Argument, op, x, what).hint("give at least 1 for `n`"));
    }
    if !x.device().is_cpu() {
        return by_host("fft", &[x], |host| irfft(op, &host[0], dim, n, norm));
    }
    let (m, (lines, back)) = (x.shape()[dim], behind(x, dim)?);
    let lines = contiguous(&to_dtype(&lines, to_complex(x.dtype()))?)?;
    let mut shape = Shape::from_slice(lines.shape());
    shape[x.rank() - 1] = n;
    let mut out = Raw::empty(op.name(), &shape, x.dtype().to_real(), Device::Cpu)?;
    let scale = norm.scale(n, true);
    match out.dtype() {
        DType::F32 => transform::<f32>(&lines, m, &mut out, n, scale)?,
        _ => transform::<f64>(&lines, m, &mut out, n, scale)?,
    }
    .map_err(missing(op))?;
    record_real_signal(op, out.permute(&back)?, x, (dim, n), norm)
}

/// Separates the last of several dims from the others.
fn halved<'a>(op: Op, x: &Raw, dims: &'a [usize]) -> Result<(usize, &'a [usize])> {
    let Some((&last, rest)) = dims.split_last() else {
        let what = "there is no dim to transform along";
        return Err(refuse(ErrorKind::Argument, op, x, what).hint("give at least one dim"));
    };
    Ok((last, rest))
}

/// Computes the transform of a real signal along dims, of the last of them only the first half.
///
/// # Errors
/// Like [`rfft`]; also if there are no dims.
pub fn rfftn(x: &Raw, dims: &[usize], norm: FftNorm) -> Result<Raw> {
    let (last, rest) = halved(Op::Rfftn, x, dims)?;
    accept("rfftn", &[Op::Rfftn], Op::Rfftn, x, dims)?;
    let half = rfft(Op::Rfftn, x, last, norm)?;
    transform(Op::Fftn, &half, rest, false, norm)
}

/// Computes the inverse of [`rfftn`], with `n` elements along the last dim.
///
/// # Errors
/// Like [`irfft`]; also if there are no dims.
pub fn irfftn(x: &Raw, dims: &[usize], n: usize, norm: FftNorm) -> Result<Raw> {
    let (last, rest) = halved(Op::Irfftn, x, dims)?;
    accept("irfftn", &[Op::Irfftn], Op::Irfftn, x, dims)?;
    let half = transform(Op::Ifftn, x, rest, true, norm)?;
    irfft(Op::Irfftn, &half, last, n, norm)
}

/// Returns the least length not below `n` without prime factors above 5.
fn fast_length(n: usize) -> usize {
    let most = n.checked_next_power_of_two().unwrap_or(n);
    let mut least = most;
    let powers = |of: usize| std::iter::successors(Some(1_usize), move |x| x.checked_mul(of));
    for five in powers(5).take_while(|&five| five <= most) {
        for three in powers(3)
            .map_while(|three| three.checked_mul(five))
            .take_while(|&x| x <= most)
        {
            let twos = n.div_ceil(three).checked_next_power_of_two();
            if let Some(length) = twos.and_then(|twos| twos.checked_mul(three)) {
                least = least.min(length);
            }
        }
    }
    least
}

/// Computes the full convolution of two signals along a dim: the sum of both lengths minus one. Other dims broadcast.
///
/// # Errors
/// Like [`transform`]; also if dtypes differ or sizes do not broadcast.
pub fn convolve(op: Op, x: &Raw, kernel: &Raw, dim: usize) -> Result<Raw> {
    check::check_same_kind(op, &[x, kernel])?;
    for x in [x, kernel] {
        accept("convolve", &[Op::FftConvolve], op, x, &[dim])?;
    }
    let length = x.shape()[dim] + kernel.shape()[dim] - 1;
    let fast = fast_length(length);
    let padded = |x: &Raw| {
        let mut shape = Shape::from_slice(x.shape());
        shape[dim] = fast - shape[dim];
        cat(
            &[x, &Raw::zeros(op.name(), &shape, x.dtype(), x.device())?],
            dim,
        )
    };
    let (real, norm) = (!x.dtype().is_complex(), FftNorm::Backward);
    let forward = |x: &Raw| {
        if real {
            rfft(op, &padded(x)?, dim, norm)
        } else {
            transform(op, &padded(x)?, &[dim], false, norm)
        }
    };
    let (a, b) = (forward(x)?, forward(kernel)?);
    let product = pointwise(Op::Mul, &[Arg::Tensor(&a), Arg::Tensor(&b)])
        .map_err(|error| error.in_op(op.name()))?;
    let made = if real {
        irfft(op, &product, dim, fast, norm)?
    } else {
        transform(op, &product, &[dim], true, norm)?
    };
    made.narrow(dim, 0, length)
}

#[cfg(test)]
mod tests {
    use super::fast_length;

    #[test]
    fn lengths_of_small_factors() {
        let smooth = |mut n: usize| {
            for factor in [2, 3, 5] {
                while n.is_multiple_of(factor) {
                    n /= factor;
                }
            }
            n == 1
        };
        for n in 1..2000 {
            assert_eq!(Some(fast_length(n)), (n..).find(|&n| smooth(n)), "{n}");
        }
        assert_eq!(fast_length(usize::MAX), usize::MAX);
    }
}
