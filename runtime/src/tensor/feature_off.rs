//! Methods of features that are off. Without these, rustc would say that a tensor has no such method.
//!
//! The traits are always there: `nomina` needs them if its own feature is off and another crate of the same program
//! turns the runtime's on.

use std::convert::Infallible;

#[cfg(not(all(feature = "fft", feature = "linalg")))]
use super::DynTensor;

/// Refuses Fourier transforms without the feature `fft`.
#[diagnostic::on_unimplemented(
    message = "this method needs nomina's feature `fft`",
    label = "Fourier transforms are off",
    note = "in Cargo.toml: `nomina = {{ path = \"../nomina\", features = [\"fft\"] }}`"
)]
pub trait WithFft {
    /// Never called: no argument has this trait.
    fn none<R>(&self) -> R;
}
#[diagnostic::do_not_recommend]
impl WithFft for Infallible {
    fn none<R>(&self) -> R {
        match *self {}
    }
}

/// Refuses decompositions and solvers without the feature `linalg`.
#[diagnostic::on_unimplemented(
    message = "this method needs nomina's feature `linalg`",
    label = "linear algebra is off",
    note = "in Cargo.toml: `nomina = {{ path = \"../nomina\", features = [\"linalg\"] }}`"
)]
pub trait WithLinalg {
    /// Never called: no argument has this trait.
    fn none<R>(&self) -> R;
}
#[diagnostic::do_not_recommend]
impl WithLinalg for Infallible {
    fn none<R>(&self) -> R {
        match *self {}
    }
}

// Written out: rustc shows the line of a bound, and for a macro's line also where the macro is called.

#[cfg(not(feature = "fft"))]
#[doc(hidden)]
impl DynTensor {
    pub fn fft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn rfft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn rfftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn ifft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn rfft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn fftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn ifftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn rfftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfft<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfftn<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn fft_convolve<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfft_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn irfftn_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
}

#[cfg(not(feature = "linalg"))]
#[doc(hidden)]
impl DynTensor {
    pub fn cholesky<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn inv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn pinv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn det<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn slogdet<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn matrix_rank<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn pinv_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn matrix_rank_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn matrix_norm<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn solve<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn lstsq<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn qr<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn svd<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn svdvals<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eigh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eigvalsh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eig<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn lstsq_with<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn solve_triangular<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn solve_triangular_with<A: WithLinalg, R, B, C, E>(
        &self,
        first: A,
        _: B,
        _: C,
        _: E,
    ) -> R {
        first.none()
    }
}
