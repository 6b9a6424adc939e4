//! Moves between devices, and computations on the host for a device.

use nomina_core::Result;

use super::check::same_device;
use super::convert::duplicate;
use crate::call::backend::backend;
use crate::profile::Span;
use crate::raw::graph::no_grad;
use crate::raw::{Raw, RawCoo};
use crate::tape::record_conversion;
use crate::{Device, SmallVec};

/// Moves the elements to another device; returns the tensor itself if it is there. Strides are kept if there are no
/// gaps. Gradients are moved back.
///
/// # Errors
/// If the device or memory is missing.
pub fn to_device(x: &Raw, device: Device) -> Result<Raw> {
    let device = device.resolved();
    if x.device() == device {
        return Ok(x.clone());
    }
    record_conversion("to", moved(x, device)?, x)
}

/// Like [`to_device`], but to another device and without recording.
fn moved(x: &Raw, device: Device) -> Result<Raw> {
    let to = backend("to", device)?;
    // One run of bytes is copied.
    let dense = if x.layout().is_dense() {
        x.clone()
    } else {
        no_grad(|| duplicate(x))?
    };
    let mut out = Raw::empty_strided("to", x.shape(), dense.strides().into(), x.dtype(), device)?;
    let bytes = x.nbytes();
    if bytes == 0 {
        return Ok(out);
    }
    let (dest, source) = (out.fresh_ptr(), dense.as_ptr());
    let from = backend("to", x.device())?;
    // SAFETY: all elements of a tensor without gaps, and a new buffer of equal length.
    unsafe {
        match (x.device(), device) {
            (Device::Cpu, _) => to.upload("to", dest, source, bytes)?,
            (_, Device::Cpu) => from.download("to", dest, source, bytes)?,
            (Device::Cuda(here), Device::Cuda(there)) => {
                let both = [there, here].map(|at| at.unwrap_or_else(crate::cuda::current));
                crate::cuda::across("to", both, [dest, source.cast_mut()], bytes)?;
            }
        }
    }
    Ok(out)
}

/// The result of a computation on the host, which is moved to a device.
pub(super) trait HostResult: Sized {
    /// Moves it to the device.
    fn moved(self, device: Device) -> Result<Self>;
}

impl HostResult for Raw {
    fn moved(self, device: Device) -> Result<Self> {
        to_device(&self, device)
    }
}

impl HostResult for () {
    fn moved(self, _: Device) -> Result<Self> {
        Ok(())
    }
}

impl HostResult for Vec<Raw> {
    fn moved(mut self, device: Device) -> Result<Self> {
        for x in &mut self {
            *x = to_device(x, device)?;
        }
        Ok(self)
    }
}

impl HostResult for RawCoo {
    fn moved(self, device: Device) -> Result<Self> {
        self.to_device(device)
    }
}

/// Computes on the host for a device that has no kernel: copies operands there, and results back to the operands'
/// device. The use is counted.
///
/// # Errors
/// If the operands are on different devices; also those of the computation.
pub(super) fn by_host<R: HostResult>(
    class: &'static str,
    operands: &[&Raw],
    compute: impl FnOnce(&[Raw]) -> Result<R>,
) -> Result<R> {
    same_device(class, operands)?;
    crate::cuda::host_fallback::count(class);
    let device = operands.first().map_or(Device::Cpu, |x| x.device());
    let mut host: SmallVec<[Raw; 3]> = SmallVec::new();
    for x in operands {
        host.push(to_device(x, Device::Cpu)?);
    }
    let made = {
        let _span = Span::new(class);
        compute(&host)?
    };
    made.moved(device)
}

/// Like [`by_host`], with at least one sparse operand.
///
/// # Errors
/// Like [`by_host`].
pub(super) fn sparse_by_host<R: HostResult>(
    class: &'static str,
    sparse: &[&RawCoo],
    dense: &[&Raw],
    compute: impl FnOnce(&[RawCoo], &[Raw]) -> Result<R>,
) -> Result<R> {
    let values = sparse.iter().map(|x| x.values());
    let all: SmallVec<[&Raw; 3]> = values.chain(dense.iter().copied()).collect();
    by_host(class, &all, |host| {
        let mut moved: SmallVec<[RawCoo; 2]> = SmallVec::new();
        for x in sparse {
            moved.push(x.to_device(Device::Cpu)?);
        }
        compute(&moved, &host[sparse.len()..])
    })
}
