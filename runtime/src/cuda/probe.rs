//! Checks for the driver and its devices. `cudarc` panics if a library or a symbol is missing, so nothing of it is
//! called before these checks.

use std::sync::OnceLock;

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUresult};
use nomina_core::{Error, ErrorKind, Result};

use super::failure::failed;

/// The driver functions we call; the newest came with CUDA 11.2.
const NEEDED: &[&str] = &[
    "cuInit",
    "cuDriverGetVersion",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceGetAttribute",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetDefaultMemPool",
    "cuDevicePrimaryCtxRetain",
    "cuCtxGetCurrent",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
    "cuMemAllocAsync",
    "cuMemFreeAsync",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemHostAlloc",
    "cuMemFreeHost",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyPeerAsync",
    "cuMemsetD8Async",
    "cuMemPoolSetAttribute",
    "cuMemPoolGetAttribute",
    "cuMemPoolTrimTo",
    "cuModuleLoadData",
    "cuModuleGetFunction",
    "cuFuncSetAttribute",
    "cuLaunchKernel",
    "cuGetErrorString",
];

/// The reason why CUDA is not available, and a hint.
#[derive(Clone, Debug)]
struct Unavailable {
    what: String,
    hint: &'static str,
}

const INSTALL: &str = "install NVIDIA's driver (CUDA 12 or later), or use `cpu`";

/// Returns the number of devices that the driver shows. It does not change while a process runs.
pub(super) fn devices(op: &'static str) -> Result<usize> {
    static DEVICES: OnceLock<Result<usize, Unavailable>> = OnceLock::new();
    match DEVICES.get_or_init(count_devices) {
        Ok(count) => Ok(*count),
        Err(missing) => {
            let error = Error::new(ErrorKind::Device, op, missing.what.clone());
            Err(error.hint(missing.hint))
        }
    }
}

/// Checks that a device is there.
pub(super) fn check(op: &'static str, ordinal: usize) -> Result<()> {
    let count = devices(op)?;
    if ordinal < count {
        return Ok(());
    }
    let what = format!("`cuda:{ordinal}` not found: the driver shows {count} device(s)");
    Err(Error::new(ErrorKind::Device, op, what).hint("use `cpu`, or one of `Device::available()`"))
}

/// Loads the driver and counts its devices.
fn count_devices() -> Result<usize, Unavailable> {
    // SAFETY: loads a library by name; NVIDIA's driver library may be loaded at any time.
    if !unsafe { sys::is_culib_present() } {
        let what = "CUDA is missing: no driver (libcuda.so.1) was found".to_owned();
        return Err(Unavailable {
            what,
            hint: INSTALL,
        });
    }
    for name in NEEDED {
        // SAFETY: the library is there, and the symbol is only looked up.
        if unsafe { sys::culib().get::<*const ()>(name.as_bytes()) }.is_err() {
            let what = format!("the CUDA driver is too old: it has no `{name}`");
            return Err(Unavailable {
                what,
                hint: INSTALL,
            });
        }
    }
    let said = |error: result::DriverError| Unavailable {
        what: match error.0 {
            CUresult::CUDA_ERROR_NO_DEVICE => "the CUDA driver shows no device".to_owned(),
            CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH => {
                "the CUDA driver's library and its kernel module are of different versions"
                    .to_owned()
            }
            other => format!("the CUDA driver does not start: error {}", other as u32),
        },
        hint: "check that `nvidia-smi` shows the device, or use `cpu`",
    };
    result::init().map_err(said)?;
    let count = result::device::get_count().map_err(said)?;
    Ok(usize::try_from(count).unwrap_or(0))
}

/// Returns the newest CUDA version that the driver supports, major and minor.
pub(super) fn driver(op: &'static str) -> Result<(u32, u32)> {
    devices(op)?;
    let mut version = 0;
    // SAFETY: the library is there, and the pointer is to a number.
    let code = unsafe { sys::cuDriverGetVersion(&raw mut version) };
    code.result()
        .map_err(|error| failed(op, "asking the driver's version", error))?;
    Ok(numbers(version.unsigned_abs()))
}

/// Splits a version of CUDA's libraries into major and minor: 12.4 is 12040.
pub(super) fn numbers(version: u32) -> (u32, u32) {
    (version / 1000, version % 1000 / 10)
}

/// Checks that a library of CUDA works with the driver, which supports those of its own major version and older ones.
/// The error's hint says what to install; `package` is the name of the Python package.
pub(super) fn fits(
    op: &'static str,
    library: &str,
    package: &str,
    (major, minor): (u32, u32),
) -> Result<()> {
    let (known, rest) = driver(op)?;
    if major <= known {
        return Ok(());
    }
    // From CUDA 13 on, the names of wheels do not contain the version.
    let wheel = match known {
        _ if package.ends_with("-cu") => format!("{package}{known}"),
        ..=12 => format!("{package}-cu{known}"),
        _ => format!("{package}=={known}.*"),
    };
    let what = format!("{library} is for CUDA {major}.{minor}, the driver for {known}.{rest}");
    Err(Error::new(ErrorKind::Device, op, what).hint(format!(
        "install NVIDIA's driver for CUDA {major}, or the Python package `{wheel}`, and put only its folder in \
         LD_LIBRARY_PATH"
    )))
}

/// Checks that kernels can be compiled.
pub(super) fn compiler(op: &'static str) -> Result<()> {
    static THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads a library by name, which is allowed at any time.
    let there = *THERE.get_or_init(|| unsafe { cudarc::nvrtc::sys::is_culib_present() });
    if there {
        return Ok(());
    }
    let what = "CUDA's run-time compiler (libnvrtc) was not found";
    Err(Error::new(ErrorKind::Device, op, what).hint(
        "install it with the CUDA toolkit or the Python package `nvidia-cuda-nvrtc`, and add its folder to \
         LD_LIBRARY_PATH",
    ))
}
