//! Arguments and errors of MPI calls.

use std::ffi::c_int;

use mpi::ffi;

use crate::turn::fail;

/// Returns the datatype of bytes. MPI converts no elements.
pub(crate) fn byte_type() -> ffi::MPI_Datatype {
    // SAFETY: a constant of MPI.
    unsafe { ffi::RSMPI_UINT8_T }
}

/// Converts a count or a rank for MPI.
pub(crate) fn to_c_int(count: usize) -> c_int {
    c_int::try_from(count).unwrap_or_else(|_| fail(&format!("{count} is too many for one message")))
}

/// Ends the program unless an MPI call succeeded.
pub(crate) fn require_success(call: &str, code: c_int) {
    if code != ffi::MPI_SUCCESS as c_int {
        fail(&format!("{call}: {}", describe(code)));
    }
}

fn describe(code: c_int) -> String {
    let mut text = [0_u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut len = 0;
    // SAFETY: the buffer has room for the longest text.
    let done = unsafe { ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &raw mut len) };
    if done != ffi::MPI_SUCCESS as c_int {
        return format!("error {code}");
    }
    let len = usize::try_from(len).unwrap_or(0).min(text.len());
    String::from_utf8_lossy(&text[..len]).into_owned()
}
