//! Settings of the calling thread.

use std::cell::Cell;

use nomina_core::DType;

thread_local! {
    static DEFAULT: Cell<DType> = const { Cell::new(DType::F32) };
}

/// The float dtype that numbers bring with them, and that float functions give for integers:
/// `f32`, except within [`with_default_dtype`].
#[must_use]
#[inline]
pub fn default_dtype() -> DType {
    DEFAULT.get()
}

/// Calls `f` with another default float dtype, on this thread only; the old one returns
/// afterwards, also when `f` panics.
///
/// # Panics
/// When `dtype` is not a float dtype.
#[track_caller]
pub fn with_default_dtype<R>(dtype: DType, f: impl FnOnce() -> R) -> R {
    struct Restore(DType);
    impl Drop for Restore {
        fn drop(&mut self) {
            DEFAULT.set(self.0);
        }
    }
    assert!(
        dtype.is_float(),
        "with_default_dtype: {dtype} is not a float dtype; pass F32 or F64"
    );
    let _restore = Restore(DEFAULT.replace(dtype));
    f()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_returns() {
        assert_eq!(default_dtype(), DType::F32);
        assert_eq!(with_default_dtype(DType::F64, default_dtype), DType::F64);
        let panicked = std::panic::catch_unwind(|| with_default_dtype(DType::F64, || panic!("x")));
        assert!(panicked.is_err());
        assert_eq!(default_dtype(), DType::F32);
        assert!(std::panic::catch_unwind(|| with_default_dtype(DType::I64, || ())).is_err());
    }
}
