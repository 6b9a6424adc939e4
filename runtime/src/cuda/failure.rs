//! What the driver answers, as errors.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;
use nomina_core::{Error, ErrorKind};

/// An error of the driver, in the middle of doing something.
#[cold]
pub(super) fn failed(op: &'static str, doing: &str, error: DriverError) -> Error {
    if error.0 == CUresult::CUDA_ERROR_OUT_OF_MEMORY {
        let what = format!("the device has no memory left: {doing}");
        return Error::new(ErrorKind::Memory, op, what)
            .hint("use smaller sizes, or free other tensors first");
    }
    let said = error.error_string().ok().map(|text| text.to_string_lossy());
    let said = said.unwrap_or_else(|| format!("error {}", error.0 as u32).into());
    let what = format!("{doing}: the driver says: {said}");
    let error_ = Error::new(ErrorKind::Device, op, what);
    match error.0 {
        // After these the process cannot use the device any more.
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS => {
            error_.hint("this is a fault of a kernel: report it; start the program again")
        }
        _ => error_.hint("see whether `nvidia-smi` shows the device"),
    }
}
