//! Methods of features that are off. Without these, rustc would say that a tensor has no such method.

use nomina_core::Element;
use nomina_core::dims::Dims;
#[cfg(not(feature = "fft"))]
use nomina_runtime::tensor::feature_off::WithFft;
#[cfg(not(feature = "linalg"))]
use nomina_runtime::tensor::feature_off::WithLinalg;

use super::Tensor;

// Written out: rustc shows the line of a bound, and for a macro's line also where the macro is called.

#[cfg(not(feature = "fft"))]
#[doc(hidden)]
impl<D: Dims, T: Element> Tensor<D, T> {
    pub fn fft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_fft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_ifft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn rfft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_rfft<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_fftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_ifftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn rfftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_rfftn<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_fftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn ifftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_ifftshift<A: WithFft, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn fft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_fft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn ifft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_ifft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn rfft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_rfft_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn fftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_fftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn ifftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_ifftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn rfftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_rfftn_with<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfft<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_irfft<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfftn<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_irfftn<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn fft_convolve<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_fft_convolve<A: WithFft, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn irfft_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn try_irfft_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn irfftn_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn try_irfftn_with<A: WithFft, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
}

#[cfg(not(feature = "linalg"))]
#[doc(hidden)]
impl<D: Dims, T: Element> Tensor<D, T> {
    pub fn cholesky<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_cholesky<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn inv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_inv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn pinv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_pinv<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn det<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_det<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn slogdet<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_slogdet<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn matrix_rank<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn try_matrix_rank<A: WithLinalg, R>(&self, first: A) -> R {
        first.none()
    }
    pub fn pinv_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_pinv_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn matrix_rank_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_matrix_rank_with<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn matrix_norm<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_matrix_norm<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn solve<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_solve<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn lstsq<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_lstsq<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn qr<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_qr<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn svd<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_svd<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn svdvals<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_svdvals<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eigh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_eigh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eigvalsh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_eigvalsh<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn eig<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn try_eig<A: WithLinalg, R, B>(&self, first: A, _: B) -> R {
        first.none()
    }
    pub fn lstsq_with<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn try_lstsq_with<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn solve_triangular<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
        first.none()
    }
    pub fn try_solve_triangular<A: WithLinalg, R, B, C>(&self, first: A, _: B, _: C) -> R {
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
    pub fn try_solve_triangular_with<A: WithLinalg, R, B, C, E>(
        &self,
        first: A,
        _: B,
        _: C,
        _: E,
    ) -> R {
        first.none()
    }
}
