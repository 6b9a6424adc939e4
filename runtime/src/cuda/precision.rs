//! The process-wide switch for TF32.

use std::sync::atomic::{AtomicBool, Ordering};

/// Whether matrix products of `f32` and `c64`, and convolutions of `f32`, may round their operands to TF32, which has
/// ten bits of precision.
static TF32: AtomicBool = AtomicBool::new(false);

/// Allows matrix products of `f32` and `c64`, and convolutions of `f32`, to round their operands to TF32: several times
/// as fast, with three significant digits instead of seven.
///
/// Off by default, like PyTorch's `torch.backends.cuda.matmul.allow_tf32`. It applies to all threads and devices. It
/// has no effect on products if cuBLASLt is not installed, nor on convolutions if cuDNN is not.
pub fn allow_tf32(allow: bool) {
    TF32.store(allow, Ordering::Relaxed);
}

/// Returns whether [`allow_tf32`] has allowed TF32.
#[must_use]
pub fn tf32_is_allowed() -> bool {
    TF32.load(Ordering::Relaxed)
}
