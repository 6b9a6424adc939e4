//! Products through the crate `gemm`.

use crate::job::Product;
use gemm::Parallelism;

use super::arith::Arith;

/// Through the crate, what comes after it left out.
///
/// # Safety
/// As for [`super::run`].
pub(super) unsafe fn by_gemm<T: Arith>(p: &Product, parallel: bool) {
    // SAFETY: the caller's promise.
    let p = &unsafe { p.preset() };
    #[cfg(feature = "rayon")]
    let parallelism = if parallel && crate::cpu::parallel::threads() > 1 {
        Parallelism::Rayon(0)
    } else {
        Parallelism::None
    };
    #[cfg(not(feature = "rayon"))]
    let parallelism = Parallelism::None;
    let _ = parallel;
    let beta = p.beta.map_or(T::ZERO, T::from_scalar);
    // SAFETY: the caller's promise; `T` is one of the five types the crate has.
    unsafe {
        gemm::gemm::<T>(
            p.m,
            p.n,
            p.k,
            p.c.ptr.cast(),
            p.c.cols,
            p.c.rows,
            p.beta.is_some(),
            p.a.ptr.cast(),
            p.a.cols,
            p.a.rows,
            p.b.ptr.cast(),
            p.b.cols,
            p.b.rows,
            beta,
            T::from_scalar(p.alpha),
            false,
            false,
            false,
            parallelism,
        );
    }
}
