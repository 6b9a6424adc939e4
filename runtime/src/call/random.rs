//! Random numbers.

use crate::Device;
use crate::job::{Drawn, Multinomial, Place};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::assign::prepare_overwrite;
use super::{Arg, ReduceOptions, contiguous, copy_into, pointwise_in_place, reduce};
use crate::call::backend::backend;
use crate::plan::result_strides;
use crate::random::{Distribution, Generator, whole_numbers};
use crate::raw::{Raw, RawMut};
use crate::shape::{broadcast, product};

/// Fills a region with random numbers. The number of an element depends on its row-major index, not on strides.
///
/// # Errors
/// If the parameters are invalid for the distribution, or the dtype cannot hold its numbers.
pub fn random(
    op: &'static str,
    mut dest: RawMut<'_>,
    what: Distribution,
    generator: &mut Generator,
) -> Result<()> {
    let (dtype, device, n) = (dest.dtype(), dest.device(), dest.numel());
    what.check(op, dtype)?;
    prepare_overwrite(op, &mut dest)?;
    if !dest.layout().is_contiguous() {
        let mut dense = Raw::empty(op, dest.shape(), dtype, device)?;
        random(op, dense.as_mut()?, what, generator)?;
        return copy_into(dest, &dense);
    }
    let draw = what.draw(dtype, generator.stream(n));
    let place = Place {
        ptr: dest.as_mut_ptr(),
        dtype,
    };
    // SAFETY: `n` contiguous elements, held exclusively.
    unsafe { backend(op, device)?.random(n, place, &draw) }
}

/// Returns a new tensor of random numbers.
///
/// # Errors
/// Like [`random`]; also if memory or the device is missing.
pub fn sampled(
    op: &'static str,
    shape: &[usize],
    dtype: DType,
    device: Device,
    what: Distribution,
    generator: &mut Generator,
) -> Result<Raw> {
    what.check(op, dtype)?;
    let mut out = Raw::empty(op, shape, dtype, device)?;
    random(op, out.as_mut()?, what, generator)?;
    Ok(out)
}

/// Returns random numbers uniform in [0, 1).
///
/// # Errors
/// If the dtype is not a real float, or memory or the device is missing.
pub fn rand(
    shape: &[usize],
    dtype: DType,
    device: Device,
    generator: &mut Generator,
) -> Result<Raw> {
    let what = Distribution::Uniform { from: 0.0, to: 1.0 };
    sampled("rand", shape, dtype, device, what, generator)
}

/// Returns random numbers of the standard normal distribution. Both parts of a complex number have variance 1/2.
///
/// # Errors
/// If the dtype is integer or bool, or memory or the device is missing.
pub fn randn(
    shape: &[usize],
    dtype: DType,
    device: Device,
    generator: &mut Generator,
) -> Result<Raw> {
    let what = Distribution::Normal {
        mean: 0.0,
        std: 1.0,
    };
    sampled("randn", shape, dtype, device, what, generator)
}

/// Returns random integers from `low` to `high`, both included.
///
/// # Errors
/// If the dtype cannot hold them, or memory or the device is missing.
pub fn randint(
    shape: &[usize],
    (low, high): (i64, i64),
    dtype: DType,
    device: Device,
    generator: &mut Generator,
) -> Result<Raw> {
    let what = Distribution::Integers { low, high };
    sampled("randint", shape, dtype, device, what, generator)
}

/// Returns the integers below `n` in random order.
///
/// # Errors
/// If the dtype cannot hold them, or memory or the device is missing.
pub fn randperm(n: usize, dtype: DType, device: Device, generator: &mut Generator) -> Result<Raw> {
    let refuse = |kind, what: String| {
        Err(Error::new(kind, "randperm", what).hint("use i64, which holds all"))
    };
    if dtype.is_complex() || dtype == DType::Bool {
        return refuse(ErrorKind::DType, format!("no whole numbers of {dtype}"));
    }
    let (_, most) = whole_numbers(dtype);
    if i64::try_from(n).is_ok_and(|n| n.saturating_sub(1) > most) {
        return refuse(
            ErrorKind::Argument,
            format!("{n} numbers are too many for {dtype}"),
        );
    }
    let mut out = Raw::empty("randperm", &[n], dtype, device)?;
    // Sorting needs more memory than the result.
    drop(Raw::empty("randperm", &[n, 4], DType::I64, device)?);
    let mut access = out.as_mut()?;
    let place = Place {
        ptr: access.as_mut_ptr(),
        dtype,
    };
    // SAFETY: a new contiguous tensor of `n` elements.
    unsafe { backend("randperm", device)?.permutation(n, place, &generator.stream(n))? };
    Ok(out)
}

/// Returns numbers of distributions whose parameters are the row-major elements of a tensor.
fn drawn(
    op: &'static str,
    of: &Raw,
    dtype: DType,
    what: Drawn,
    generator: &mut Generator,
) -> Result<Raw> {
    if !of.dtype().is_float() {
        let what = format!("parameters of {}", of.dtype());
        return Err(Error::new(ErrorKind::DType, op, what)
            .hint("convert them to a float dtype with `to` first"));
    }
    let of = contiguous(of)?;
    let mut out = Raw::empty(op, of.shape(), dtype, of.device())?;
    let n = out.numel();
    let mut access = out.as_mut()?;
    let place = Place {
        ptr: access.as_mut_ptr(),
        dtype,
    };
    let parameters = Place {
        ptr: of.as_ptr().cast_mut(),
        dtype: of.dtype(),
    };
    let words = generator.stream(n);
    // SAFETY: contiguous tensors of `n` elements, the first of them new.
    unsafe { backend(op, of.device())?.random_of(n, place, parameters, what, &words)? };
    Ok(out)
}

/// Restores the dims of the elements to the order that `x` has in memory.
fn ordered_as(x: &Raw, made: Raw) -> Result<Raw> {
    if x.is_contiguous() {
        return Ok(made);
    }
    let strides = result_strides(x.shape(), &[x.strides()]);
    let mut out = Raw::empty_strided("random", x.shape(), strides, made.dtype(), x.device())?;
    copy_into(out.as_mut()?, &made)?;
    Ok(out)
}

/// Returns ones with the given probabilities, else zeros, in the probabilities' dtype.
///
/// # Errors
/// If `p` is not a float, or not a probability.
pub fn bernoulli(p: &Raw, generator: &mut Generator) -> Result<Raw> {
    ordered_as(
        p,
        drawn("bernoulli", p, p.dtype(), Drawn::Bernoulli, generator)?,
    )
}

/// Writes ones with the given probabilities, which broadcast, else zeros.
///
/// # Errors
/// Like [`bernoulli`]; also if the sizes do not broadcast to those of `dest`, or it is complex.
pub fn bernoulli_into(dest: RawMut<'_>, p: &Raw, generator: &mut Generator) -> Result<()> {
    Distribution::Bernoulli { p: 0.0 }.check("bernoulli", dest.dtype())?;
    let p = p
        .expand(dest.shape())
        .map_err(|error| error.in_op("bernoulli"))?;
    let made = drawn("bernoulli", &p, dest.dtype(), Drawn::Bernoulli, generator)?;
    copy_into(dest, &made)
}

/// Returns Poisson-distributed counts with the given rates.
///
/// # Errors
/// If `rates` are not floats, or are negative.
pub fn poisson(rates: &Raw, generator: &mut Generator) -> Result<Raw> {
    let made = drawn("poisson", rates, rates.dtype(), Drawn::Poisson, generator)?;
    ordered_as(rates, made)
}

/// Returns normally distributed numbers with means and standard deviations that broadcast, in the dtype of the first
/// tensor.
///
/// # Errors
/// If neither is a tensor, dtypes are not floats, or a standard deviation is negative.
pub fn normal(mean: Arg<'_>, std: Arg<'_>, generator: &mut Generator) -> Result<Raw> {
    let tensors: Vec<&Raw> = [mean, std]
        .into_iter()
        .filter_map(|arg| match arg {
            Arg::Tensor(x) => Some(x),
            Arg::Scalar(_) => None,
        })
        .collect();
    let refuse = |kind, what: &str, hint: &str| {
        let error = Error::new(kind, "normal", what).hint(hint);
        Err(tensors
            .iter()
            .fold(error, |e, x| e.operand(&Names::default(), x.shape())))
    };
    let Some(first) = tensors.first() else {
        return refuse(
            ErrorKind::Argument,
            "neither mean nor standard deviation is a tensor",
            "give sizes too",
        );
    };
    let least = match std {
        Arg::Scalar(Scalar::Complex(_)) => None,
        Arg::Scalar(value) => Some(value.to_f64()),
        Arg::Tensor(x) if x.dtype().is_complex() => None,
        Arg::Tensor(x) if x.numel() == 0 => Some(0.0),
        Arg::Tensor(x) => {
            let all: Vec<usize> = (0..x.rank()).collect();
            let least = reduce(Op::Amin, x, &all, false, ReduceOptions::default())?;
            Some(least.item()?.to_f64())
        }
    };
    match least {
        None => {
            return refuse(
                ErrorKind::DType,
                "the standard deviation is complex",
                "give a real one",
            );
        }
        Some(least) if least < 0.0 || least.is_nan() => {
            return refuse(
                ErrorKind::Argument,
                "a standard deviation is below zero",
                "give 0 or more",
            );
        }
        Some(_) => {}
    }
    let shapes: Vec<&[usize]> = tensors.iter().map(|x| x.shape()).collect();
    let shape = broadcast("normal", &shapes)?;
    let what = Distribution::Normal {
        mean: 0.0,
        std: 1.0,
    };
    let mut out = sampled(
        "normal",
        &shape,
        first.dtype(),
        first.device(),
        what,
        generator,
    )?;
    for (op, arg) in [(Op::Mul, std), (Op::Add, mean)] {
        pointwise_in_place(op, out.as_mut()?, &[arg]).map_err(|error| error.in_op("normal"))?;
    }
    Ok(out)
}

/// Draws positions along `dim` with the weights there.
///
/// # Errors
/// If weights are not floats, or are negative, not finite or all zero; without replacement also if there are fewer
/// positions than draws.
pub fn multinomial(
    weights: &Raw,
    dim: usize,
    samples: usize,
    replacement: bool,
    generator: &mut Generator,
) -> Result<Raw> {
    let op = "multinomial";
    let refuse = |kind, what: String, hint: &str| {
        Err(Error::new(kind, op, what)
            .operand(&Names::default(), weights.shape())
            .hint(hint.to_owned()))
    };
    if !weights.dtype().is_float() {
        let what = format!("weights of {}", weights.dtype());
        return refuse(ErrorKind::DType, what, "convert them with `to` first");
    }
    let Some(&categories) = weights.shape().get(dim) else {
        let what = format!("dim {dim} of {}", weights.rank());
        return refuse(ErrorKind::Index, what, "count dims from 0, outermost first");
    };
    if samples == 0 || (!replacement && samples > categories) || categories == 0 {
        let what = format!("{samples} samples of {categories} items");
        return refuse(
            ErrorKind::Argument,
            what,
            "draw at least one, with replacement if more than there are items",
        );
    }
    let last = weights.rank() - 1;
    let rows = contiguous(&weights.transpose(dim, last)?)?;
    let mut shape = crate::shape::Shape::from_slice(rows.shape());
    shape[last] = samples;
    let mut out = Raw::empty(op, &shape, DType::I64, weights.device())?;
    let count = rows.numel() / categories;
    let mut access = out.as_mut()?;
    let job = Multinomial {
        rows: count,
        categories,
        samples,
        replacement,
        weights: Place {
            ptr: rows.as_ptr().cast_mut(),
            dtype: rows.dtype(),
        },
        dest: Place {
            ptr: access.as_mut_ptr(),
            dtype: DType::I64,
        },
        words: generator.stream(product([count, samples.max(categories)])),
    };
    // SAFETY: a contiguous matrix of weights, and a new one with a row of samples for each of its rows.
    unsafe { backend(op, weights.device())?.multinomial(&job)? };
    out.transpose(dim, last)
}
