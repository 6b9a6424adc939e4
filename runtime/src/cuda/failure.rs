//! Errors of the driver.

use cudarc::driver::result::DriverError;
use cudarc::driver::sys::CUresult;
use nomina_core::{Error, ErrorKind};

/// Converts an error of the driver; `doing` says during which step it came.
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
    Error::new(ErrorKind::Device, op, what).hint(way_out(error.0))
}

/// The error of an allocation of device memory.
#[cold]
pub(super) fn out_of_memory(op: &'static str, bytes: usize) -> Error {
    let what = format!("cannot allocate {bytes} bytes of device memory");
    Error::new(ErrorKind::Memory, op, what).hint("use smaller sizes, or free other tensors first")
}

/// Returns a hint for an error.
fn way_out(code: CUresult) -> &'static str {
    // After any of these, except the last arm, the process cannot use the device any more.
    match code {
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE
        | CUresult::CUDA_ERROR_INVALID_PC
        | CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_ASSERT => "a kernel has a bug: report it; restart the program",
        CUresult::CUDA_ERROR_LAUNCH_TIMEOUT => {
            "the driver stops long kernels on devices with a screen: use smaller operands; restart the program"
        }
        CUresult::CUDA_ERROR_ECC_UNCORRECTABLE => {
            "the device's memory is faulty: check `nvidia-smi -q -d ECC`; restart the program"
        }
        _ => "check that `nvidia-smi` shows the device",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_that_end_the_context_say_so() {
        for code in [
            CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
            CUresult::CUDA_ERROR_INVALID_PC,
            CUresult::CUDA_ERROR_ASSERT,
            CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
            CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
        ] {
            assert!(way_out(code).ends_with("restart the program"), "{code:?}");
        }
        assert!(!way_out(CUresult::CUDA_ERROR_INVALID_VALUE).contains("again"));
    }
}
