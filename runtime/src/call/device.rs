//! Between devices: moves, and what the host computes for a device.

use nomina_core::{Error, ErrorKind, Names, Result};

use super::duplicate;
use super::grad::{Converted, recorded};
use super::sort::Unique;
use super::sparse::SparseSum;
use crate::call::backend::backend;
use crate::profile::Span;
use crate::raw::graph::no_grad;
use crate::raw::{Raw, RawCoo};
use crate::{Device, SmallVec};

/// The elements on another device; itself when they are there. Strides stay where elements lie
/// without gaps. Gradients come back to where they were.
///
/// # Errors
/// When the device or memory is missing.
pub fn to_device(x: &Raw, device: Device) -> Result<Raw> {
    let device = device.resolved();
    if x.device() == device {
        return Ok(x.clone());
    }
    recorded(moved(x, device)?, [x], |_| Ok(Converted::new("to", x)))
}

/// As [`to_device`] to another device, whatever is recorded.
fn moved(x: &Raw, device: Device) -> Result<Raw> {
    let to = backend("to", device)?;
    // What travels is one run of bytes.
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
    let (dest, source) = (super::reduce::address(&mut out), dense.as_ptr());
    let from = backend("to", x.device())?;
    // SAFETY: all elements of a tensor without gaps, and a new buffer that is as long.
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

/// Refuses operands on different devices.
///
/// # Errors
/// [`ErrorKind::Device`], with the first two devices that differ.
pub fn same_device(op: &'static str, operands: &[&Raw]) -> Result<()> {
    let Some((first, rest)) = operands.split_first() else {
        return Ok(());
    };
    match rest.iter().find(|x| x.device() != first.device()) {
        None => Ok(()),
        Some(x) => {
            let error = mixed(op, first.device(), x.device());
            let with = |error: Error, x: &&Raw| error.operand(&Names::default(), x.shape());
            Err(operands.iter().fold(error, with))
        }
    }
}

/// Refuses a result on another device than that of what it is written to.
///
/// # Errors
/// [`ErrorKind::Device`], with both.
pub fn fits_device(op: &'static str, dest: Device, result: Device) -> Result<()> {
    if dest == result {
        return Ok(());
    }
    let what = format!("a result on `{result}` into a tensor on `{dest}`");
    Err(Error::new(ErrorKind::Device, op, what).hint("move one of them with `to_device`"))
}

/// Operands on two devices.
#[cold]
pub(crate) fn mixed(op: &'static str, a: Device, b: Device) -> Error {
    let what = format!("operands are on `{a}` and `{b}`");
    Error::new(ErrorKind::Device, op, what).hint("move them to one device with `to_device`")
}

/// What a computation on the host made, which goes to a device.
pub(super) trait HostResult: Sized {
    /// On that device.
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

impl HostResult for Unique {
    fn moved(self, device: Device) -> Result<Self> {
        Ok(Self {
            values: self.values.moved(device)?,
            inverse: self.inverse.moved(device)?,
            counts: self.counts.moved(device)?,
        })
    }
}

impl HostResult for RawCoo {
    fn moved(self, device: Device) -> Result<Self> {
        self.to_device(device)
    }
}

impl HostResult for SparseSum {
    fn moved(self, device: Device) -> Result<Self> {
        Ok(match self {
            Self::Sparse(x) => Self::Sparse(x.moved(device)?),
            Self::Dense(x) => Self::Dense(x.moved(device)?),
        })
    }
}

/// Computes on the host what no device computes: operands are copied there, results back to the
/// operands' device. Uses are counted with those of kernels that are computed so.
///
/// # Errors
/// When the operands lie on different devices; as the computation.
pub(super) fn by_host<R: HostResult>(
    class: &'static str,
    operands: &[&Raw],
    compute: impl FnOnce(&[Raw]) -> Result<R>,
) -> Result<R> {
    same_device(class, operands)?;
    crate::cuda::uses::count(class);
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

/// As [`by_host`], with sparse operands, of which there is at least one.
///
/// # Errors
/// As [`by_host`].
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
