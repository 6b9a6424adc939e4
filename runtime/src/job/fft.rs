//! Fourier transforms.

/// Which direction of a transform is divided by the number of elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum FftNorm {
    /// The inverse.
    #[default]
    Backward,
    /// Both, by its square root, so that they keep the norm.
    Ortho,
    /// The forward transform.
    Forward,
}

impl FftNorm {
    /// The factor of a transform of `n` elements.
    pub(crate) fn scale(self, n: usize, inverse: bool) -> f64 {
        match (self, inverse) {
            (Self::Backward, true) | (Self::Forward, false) => 1.0 / n as f64,
            (Self::Backward, false) | (Self::Forward, true) => 1.0,
            (Self::Ortho, _) => 1.0 / (n as f64).sqrt(),
        }
    }

    /// The norm by which the adjoint transform, of the other direction, is divided.
    pub(crate) fn adjoint(self) -> Self {
        match self {
            Self::Backward => Self::Forward,
            Self::Ortho => Self::Ortho,
            Self::Forward => Self::Backward,
        }
    }
}
