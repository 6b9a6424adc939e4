//! Tensors from sizes and numbers, and conversions.

use nomina_core::rule;
use nomina_core::{DType, Device, Element, Error, ErrorKind, MemoryFormat, Names, Result, Scalar};
use nomina_runtime::Raw;
use nomina_runtime::call;
use nomina_runtime::random::{self, Generator};

use super::view::check_sizes;
use super::{Bare, Dest, Look, Static, names, wilds};

/// What a new tensor is filled with.
#[derive(Debug)]
pub(crate) enum Fill<'g> {
    Zeros,
    Number(Scalar),
    Uniform(Option<&'g mut Generator>),
    Normal(Option<&'g mut Generator>),
    Diagonal,
}

/// Where and as what a new tensor is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) dtype: DType,
    pub(crate) device: Device,
    pub(crate) format: MemoryFormat,
}

impl Place {
    /// Row-major on the CPU.
    pub(crate) fn of<T: Element>() -> Self {
        Self {
            dtype: T::DTYPE,
            device: Device::Cpu,
            format: MemoryFormat::Contiguous,
        }
    }

    /// As another tensor.
    pub(crate) fn like(look: Look<'_>) -> Self {
        Self {
            dtype: look.raw.dtype(),
            device: look.raw.device(),
            format: MemoryFormat::Contiguous,
        }
    }
}

/// A new tensor.
pub(crate) fn new(
    op: &'static str,
    shape: &[usize],
    of: &'static Static,
    fill: Fill<'_>,
    place: Place,
) -> Result<Bare> {
    check_sizes(op, shape, of)?;
    let channels_last = match place.format {
        MemoryFormat::ChannelsLast if shape.len() != 4 => {
            let what = format!(
                "channels-last is an order of 4 dims, not of {}",
                shape.len()
            );
            return Err(Error::new(ErrorKind::Layout, op, what)
                .operand(&Names::from_static(of.names), shape)
                .hint("use the contiguous memory format"));
        }
        MemoryFormat::ChannelsLast => true,
        _ => false,
    };
    let order = [shape.first(), shape.get(2), shape.get(3), shape.get(1)];
    let order: Vec<usize> = order.into_iter().flatten().copied().collect();
    let raw = fresh(op, if channels_last { &order } else { shape }, fill, place);
    let raw = raw.map_err(|error| error.with_names([&Names::from_static(of.names)]))?;
    Ok(Bare::new(if channels_last {
        raw.permute(&[0, 3, 1, 2])?
    } else {
        raw
    }))
}

fn fresh(op: &'static str, shape: &[usize], fill: Fill<'_>, place: Place) -> Result<Raw> {
    let Place { dtype, device, .. } = place;
    match fill {
        Fill::Zeros => Raw::zeros(op, shape, dtype, device),
        Fill::Number(value) => call::full(shape, value, dtype, device),
        Fill::Diagonal => call::eye(shape[0], shape[1], dtype, device),
        Fill::Uniform(Some(generator)) => call::rand(shape, dtype, device, generator),
        Fill::Normal(Some(generator)) => call::randn(shape, dtype, device, generator),
        Fill::Uniform(None) => {
            random::with_default_generator(|g| call::rand(shape, dtype, device, g))
        }
        Fill::Normal(None) => {
            random::with_default_generator(|g| call::randn(shape, dtype, device, g))
        }
    }
    .map_err(|error| error.in_op(op))
}

/// A tensor of the given elements, which are adopted.
pub(crate) fn from_raw(raw: Raw, of: &'static Static, op: &'static str) -> Result<Bare> {
    check_sizes(op, raw.shape(), of)?;
    Ok(Bare::new(raw))
}

/// In another dtype.
pub(crate) fn to_dtype(x: Look<'_>, dtype: DType) -> Result<Bare> {
    Ok(Bare {
        raw: call::to_dtype(x.raw, dtype).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// On another device.
pub(crate) fn to_device(x: Look<'_>, device: Device) -> Result<Bare> {
    Ok(Bare {
        raw: call::to_device(x.raw, device).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// Row-major.
pub(crate) fn contiguous(x: Look<'_>) -> Result<Bare> {
    Ok(Bare {
        raw: call::contiguous(x.raw).map_err(|e| x.blame(e))?,
        wild: x.wild(),
    })
}

/// One number everywhere.
pub(crate) fn fill(dest: Result<Dest<'_>>, value: Scalar) -> Result<()> {
    call::fill(dest?.raw, value)
}

/// The elements of `src`, broadcast.
pub(crate) fn copy(dest: Result<Dest<'_>>, src: Look<'_>) -> Result<()> {
    let dest = dest?;
    let mut now = None;
    if dest.of.wild || src.of.wild {
        let names = rule::unify_in_place("copy", &dest.names(), &src.names());
        now = wilds(names.map_err(|error| dest.blame(error, &[src]))?, dest.of);
    }
    let Dest { raw, wild, of } = dest;
    call::copy_into(raw, src.raw)
        .map_err(|error| error.with_names([&names(wild.as_deref(), of), &src.names()]))?;
    if of.wild {
        *wild = now;
    }
    Ok(())
}
