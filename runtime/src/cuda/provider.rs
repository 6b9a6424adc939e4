//! The choice between a library of NVIDIA's and our own kernels.

/// The implementation that computes an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Provider {
    /// The faster of the two, by size.
    Auto,
    /// The library, for everything it supports.
    Library,
    /// Our own kernels.
    Own,
}

impl Provider {
    /// Reads an environment variable, in which `own` selects our kernels and `library` the library.
    pub(super) fn from_env(variable: &str, library: &str) -> Self {
        match std::env::var(variable).as_deref() {
            Ok("own") => Self::Own,
            Ok(named) if named == library => Self::Library,
            _ => Self::Auto,
        }
    }
}
