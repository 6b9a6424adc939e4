//! A number as the bytes of a dtype.

use nomina_core::{DType, Element, Scalar};

use crate::dispatch::with_dtype;

/// One element of any dtype, aligned for all.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub(crate) struct Constant([u8; 16]);

impl Constant {
    /// The bytes of `value` as a `dtype`.
    pub(crate) fn new(value: Scalar, dtype: DType) -> Self {
        let mut bytes = [0; 16];
        with_dtype!(dtype, T => {
            let value = <T as Element>::from_scalar(value);
            // SAFETY: no element is longer than 16 bytes.
            unsafe { bytes.as_mut_ptr().cast::<T>().write_unaligned(value) }
        });
        Self(bytes)
    }

    /// The address of the first byte.
    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.0.as_ptr()
    }

    /// The bytes as a kernel's argument takes them.
    #[cfg(feature = "cuda")]
    pub(crate) fn words(self) -> [u64; 2] {
        let (low, high) = self.0.split_at(8);
        [low, high].map(|half| {
            half.iter()
                .rfold(0, |word, &byte| word << 8 | u64::from(byte))
        })
    }
}
