//! Elements as bytes, for files and for data from other processes.

use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::Raw;
use crate::Device;
use crate::shape;
use crate::storage::Storage;

impl Raw {
    /// Creates a row-major tensor from a copy of elements in memory representation, in the machine's byte order.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the number of bytes does not match the sizes, [`ErrorKind::Parse`] if a bool is neither
    /// 0 nor 1, [`ErrorKind::Memory`].
    pub fn from_bytes(
        op: &'static str,
        dtype: DType,
        shape: &[usize],
        bytes: &[u8],
    ) -> Result<Self> {
        let asked = shape::bytes(op, shape, dtype)?;
        if asked != bytes.len() {
            let what = format!("{} bytes, but the sizes need {asked}", bytes.len());
            return Err(Error::new(ErrorKind::Shape, op, what).operand(&Names::default(), shape));
        }
        check_elements(op, dtype, bytes)?;
        let mut storage = Storage::cpu(op, asked)?;
        if let Some(first) = storage.unique_ptr() {
            // SAFETY: a new buffer of that many bytes, which is not shared.
            unsafe { first.copy_from_nonoverlapping(bytes.as_ptr(), asked) };
        }
        Ok(Self::row_major(storage, shape, dtype))
    }

    /// Returns the bytes of the elements, if they are on the host and contiguous.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        if !self.device().is_cpu() || !self.is_contiguous() {
            return None;
        }
        // SAFETY: as in `as_slice`; elements have no padding, so every byte is initialised.
        Some(unsafe { std::slice::from_raw_parts(self.as_ptr(), self.nbytes()) })
    }
}

/// A row-major tensor on the host whose bytes are not written yet.
#[derive(Debug)]
pub struct Unwritten(Raw);

impl Unwritten {
    /// Allocates a tensor of these sizes.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`] if there is no memory, [`ErrorKind::Shape`] if no tensor may have these sizes.
    pub fn new(op: &'static str, dtype: DType, shape: &[usize]) -> Result<Self> {
        Raw::empty(op, shape, dtype, Device::Cpu).map(Self)
    }

    /// Returns the address of its first byte.
    #[must_use]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        // A new buffer is not shared.
        self.0.unique_ptr().unwrap_or(std::ptr::null_mut())
    }

    /// Returns its number of bytes.
    #[must_use]
    pub fn nbytes(&self) -> usize {
        self.0.nbytes()
    }

    /// Returns the finished tensor. For bools only the lowest bit of each byte counts, because the sender of the bytes
    /// may be faulty.
    ///
    /// # Safety
    /// All bytes have been written.
    #[must_use]
    pub unsafe fn written(mut self) -> Raw {
        if self.0.dtype() == DType::Bool {
            let (first, count) = (self.as_mut_ptr(), self.nbytes());
            // SAFETY: an unshared buffer of that many bytes, which have been written.
            let bytes = unsafe { std::slice::from_raw_parts_mut(first, count) };
            bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
        self.0
    }
}

/// Checks that bytes are valid elements. For every dtype except bool, any bytes are valid.
pub(crate) fn check_elements(op: &'static str, dtype: DType, bytes: &[u8]) -> Result<()> {
    if dtype != DType::Bool || bytes.iter().fold(0, |all, byte| all | byte) <= 1 {
        return Ok(());
    }
    let what = "a bool that is neither 0 nor 1";
    Err(Error::new(ErrorKind::Parse, op, what).hint("open it as `u8`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_elements_and_come_back() {
        for dtype in DType::ALL {
            let bytes: Vec<u8> = (0..6 * dtype.size()).map(|i| (i % 2) as u8).collect();
            let raw = Raw::from_bytes("open", dtype, &[2, 3], &bytes).unwrap();
            assert_eq!((raw.dtype(), raw.shape()), (dtype, &[2, 3][..]));
            assert_eq!(raw.as_bytes(), Some(&bytes[..]));
            let error = Raw::from_bytes("open", dtype, &[2, 4], &bytes).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Shape);
        }
        let raw = Raw::from_bytes("open", DType::I16, &[2], &[1, 0, 0, 1]).unwrap();
        assert_eq!(raw.as_slice::<i16>(), Some(&[1, 256][..]));
    }

    #[test]
    fn what_was_written_is_the_tensor() {
        for dtype in DType::ALL {
            let mut new = Unwritten::new("receive", dtype, &[2, 3]).unwrap();
            assert_eq!(new.nbytes(), 6 * dtype.size());
            for i in 0..new.nbytes() {
                // SAFETY: within its bytes.
                unsafe { new.as_mut_ptr().add(i).write(i as u8 + 2) };
            }
            // SAFETY: all of them have been written.
            let raw = unsafe { new.written() };
            let mask = if dtype == DType::Bool { 1 } else { u8::MAX };
            let wanted: Vec<u8> = (0..raw.nbytes()).map(|i| (i as u8 + 2) & mask).collect();
            assert_eq!(raw.as_bytes(), Some(&wanted[..]), "{dtype}");
        }
        let error = Unwritten::new("receive", DType::F64, &[1 << 50]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Memory);
    }

    #[test]
    fn only_two_bytes_are_truth_values() {
        let error = Raw::from_bytes("open", DType::Bool, &[3], &[0, 1, 2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parse);
    }

    #[test]
    fn what_is_no_row_has_no_bytes() {
        let raw = Raw::from_bytes("open", DType::U8, &[2, 2], &[1, 2, 3, 4]).unwrap();
        assert_eq!(raw.permute(&[1, 0]).unwrap().as_bytes(), None);
    }

    #[test]
    fn sizes_that_no_tensor_has_are_refused_before_memory_is_asked_for() {
        for shape in [&[usize::MAX, 2][..], &[1 << 62], &[0, usize::MAX], &[1; 65]] {
            assert!(Raw::from_bytes("open", DType::F64, shape, &[]).is_err());
        }
    }
}
