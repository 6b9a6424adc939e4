//! Methods whose feature is off. Without these, rustc would say that a tensor has no such method.

use std::convert::Infallible;

use nomina_core::Element;
use nomina_core::dims::Dims;

use super::Tensor;

/// Refuses Fourier transforms without the feature `fft`.
#[cfg(not(feature = "fft"))]
#[diagnostic::on_unimplemented(
    message = "this method needs nomina's feature `fft`",
    label = "Fourier transforms are off",
    note = "in Cargo.toml: `nomina = {{ version = \"0.1\", features = [\"fft\"] }}`"
)]
pub trait WithFft {
    /// Never called: no argument has this trait.
    fn none<R>(&self) -> R;
}
#[cfg(not(feature = "fft"))]
#[diagnostic::do_not_recommend]
impl WithFft for Infallible {
    fn none<R>(&self) -> R {
        match *self {}
    }
}

/// Refuses decompositions and solvers without the feature `linalg`.
#[cfg(not(feature = "linalg"))]
#[diagnostic::on_unimplemented(
    message = "this method needs nomina's feature `linalg`",
    label = "linear algebra is off",
    note = "in Cargo.toml: `nomina = {{ version = \"0.1\", features = [\"linalg\"] }}`"
)]
pub trait WithLinalg {
    /// Never called: no argument has this trait.
    fn none<R>(&self) -> R;
}
#[cfg(not(feature = "linalg"))]
#[diagnostic::do_not_recommend]
impl WithLinalg for Infallible {
    fn none<R>(&self) -> R {
        match *self {}
    }
}

macro_rules! off {
    ($feature:literal $bound:ident: $($($method:ident)* ($($other:ident)*);)*) => {
        #[cfg(not(feature = $feature))]
        impl<D: Dims, T: Element> Tensor<D, T> {
            $(off!(@methods $bound [$($method)*] ($($other)*));)*
        }
    };
    (@methods $bound:ident [$($method:ident)*] $others:tt) => {
        $(off!(@method $bound $method $others);)*
    };
    (@method $bound:ident $method:ident ($($other:ident)*)) => {
        #[doc(hidden)]
        #[must_use]
        pub fn $method<A: $bound, R, $($other),*>(&self, dims: A, $(_: $other),*) -> R {
            dims.none()
        }
    };
}

off! {
    "fft" WithFft:
    fft try_fft ifft try_ifft rfft try_rfft fftn try_fftn ifftn try_ifftn rfftn try_rfftn ();
    fftshift try_fftshift ifftshift try_ifftshift ();
    irfft try_irfft irfftn try_irfftn fft_convolve try_fft_convolve (B);
}

off! {
    "linalg" WithLinalg:
    cholesky try_cholesky inv try_inv pinv try_pinv det try_det slogdet try_slogdet matrix_rank try_matrix_rank ();
    qr try_qr svd try_svd svdvals try_svdvals eigh try_eigh eigvalsh try_eigvalsh eig try_eig (B);
    solve try_solve lstsq try_lstsq matrix_norm try_matrix_norm (B);
    solve_triangular try_solve_triangular (B C);
}
