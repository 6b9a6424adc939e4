//! New tensors from sizes and numbers, and conversions.

use nomina_core::rule;
use nomina_core::{DType, Element, MemoryFormat, Names, Result, Scalar};
use nomina_runtime::Device;
use nomina_runtime::Raw;
use nomina_runtime::call;
use nomina_runtime::random::{Distribution, Generator, with_generator};

use super::view::check_sizes;
use super::{Dest, Erased, ErasedRef, Static, wilds};

/// The contents of a new tensor.
#[derive(Debug)]
pub(crate) enum Fill<'g> {
    Zeros,
    Number(Scalar),
    Uniform(Option<&'g mut Generator>),
    Normal(Option<&'g mut Generator>),
    /// Random numbers of any distribution.
    Drawn(Distribution, Option<&'g mut Generator>),
    Permutation(Option<&'g mut Generator>),
    Diagonal,
}

/// The dtype, device and memory order of a new tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TensorOptions {
    pub(crate) dtype: DType,
    pub(crate) device: Device,
    /// The memory order; by default that of the other tensor for `like`.
    pub(crate) format: Option<MemoryFormat>,
}

impl TensorOptions {
    /// Returns options of a row-major tensor on the CPU.
    pub(crate) fn on_cpu<T: Element>() -> Self {
        Self {
            dtype: T::DTYPE,
            device: Device::Cpu,
            format: None,
        }
    }
}

/// Creates a tensor.
pub(crate) fn new(
    op: &'static str,
    shape: &[usize],
    of: &'static Static,
    fill: Fill<'_>,
    options: TensorOptions,
) -> Result<Erased> {
    check_sizes(op, shape, of)?;
    let raw = fresh(op, shape, fill, options).and_then(|raw| match options.format {
        None | Some(MemoryFormat::Contiguous) => Ok(raw),
        Some(format) => raw.in_format(op, format),
    });
    let raw = raw.map_err(|error| error.with_names([&Names::from_static(of.names)]))?;
    Ok(Erased::new(raw))
}

/// Creates a tensor like another, with the same memory order unless another is requested.
pub(crate) fn like(
    op: &'static str,
    x: ErasedRef<'_>,
    fill: Fill<'_>,
    device: Option<Device>,
    format: MemoryFormat,
) -> Result<Erased> {
    like_as(op, x, fill, x.raw.dtype(), device, format)
}

/// Like [`like`], but in another dtype.
pub(crate) fn like_as(
    op: &'static str,
    x: ErasedRef<'_>,
    fill: Fill<'_>,
    dtype: DType,
    device: Option<Device>,
    format: MemoryFormat,
) -> Result<Erased> {
    let options = TensorOptions {
        dtype,
        device: device.unwrap_or(x.raw.device()),
        format: None,
    };
    let raw = fresh(op, x.raw.shape(), fill, options)
        .and_then(|raw| raw.in_format_like(op, x.raw, format));
    Ok(Erased {
        raw: raw.map_err(|error| error.with_names([&x.names()]))?,
        wild: x.wild(),
    })
}

fn fresh(op: &'static str, shape: &[usize], fill: Fill<'_>, options: TensorOptions) -> Result<Raw> {
    let TensorOptions { dtype, device, .. } = options;
    match fill {
        Fill::Zeros => Raw::zeros(op, shape, dtype, device),
        Fill::Number(value) => call::full(shape, value, dtype, device),
        Fill::Diagonal => call::eye(shape[0], shape[1], dtype, device),
        Fill::Uniform(generator) => {
            with_generator(generator, |g| call::rand(shape, dtype, device, g))
        }
        Fill::Normal(generator) => {
            with_generator(generator, |g| call::randn(shape, dtype, device, g))
        }
        Fill::Drawn(what, generator) => with_generator(generator, |g| {
            call::sampled(op, shape, dtype, device, what, g)
        }),
        Fill::Permutation(generator) => with_generator(generator, |g| {
            call::randperm(shape.first().copied().unwrap_or(0), dtype, device, g)
        }),
    }
    .map_err(|error| error.in_op(op))
}

/// Creates a tensor from given elements, without a copy.
pub(crate) fn from_raw(raw: Raw, of: &'static Static, op: &'static str) -> Result<Erased> {
    check_sizes(op, raw.shape(), of)?;
    Ok(Erased::new(raw))
}

/// Converts to another dtype.
pub(crate) fn to_dtype(x: ErasedRef<'_>, dtype: DType) -> Result<Erased> {
    Ok(Erased {
        raw: call::to_dtype(x.raw, dtype).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// Converts to another dtype and memory format.
pub(crate) fn to_in(x: ErasedRef<'_>, dtype: DType, format: MemoryFormat) -> Result<Erased> {
    reordered(x, |raw| call::to_in(raw, dtype, format))
}

/// Copies to a dense tensor in a memory format.
pub(crate) fn clone_in(x: ErasedRef<'_>, format: MemoryFormat) -> Result<Erased> {
    reordered(x, |raw| call::clone_in(raw, format))
}

/// Returns a tensor without gaps in a memory format.
pub(crate) fn contiguous_in(x: ErasedRef<'_>, format: MemoryFormat) -> Result<Erased> {
    reordered(x, |raw| call::contiguous_in(raw, format))
}

fn reordered(x: ErasedRef<'_>, order: impl FnOnce(&Raw) -> Result<Raw>) -> Result<Erased> {
    Ok(Erased {
        raw: order(x.raw).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// Copies to another device.
pub(crate) fn to_device(x: ErasedRef<'_>, device: Device) -> Result<Erased> {
    Ok(Erased {
        raw: call::to_device(x.raw, device).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// Returns a row-major tensor.
pub(crate) fn contiguous(x: ErasedRef<'_>) -> Result<Erased> {
    Ok(Erased {
        raw: call::contiguous(x.raw).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// Fills with one number.
pub(crate) fn fill(dest: Result<Dest<'_>>, value: Scalar) -> Result<()> {
    call::fill(dest?.raw, value)
}

/// Copies the elements of `src`, broadcast.
pub(crate) fn copy(dest: Result<Dest<'_>>, src: ErasedRef<'_>) -> Result<()> {
    let dest = dest?;
    let mut now = None;
    if dest.of.wild || src.of.wild {
        let names = rule::unify_in_place("copy", &dest.names(), &src.names());
        now = wilds(names.map_err(|error| dest.blame(error, &[src]))?, dest.of);
    }
    dest.write([src], now, |raw| call::copy_across(raw, src.raw))
}
