//! Who computes what a library of NVIDIA's does too.

/// As a variable of the environment says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Whoever is faster.
    Auto,
    /// The library whatever it can.
    Library,
    /// Our own kernels.
    Own,
}

impl Who {
    /// What a variable says, where it knows the library by this name.
    pub(super) fn of(variable: &str, library: &str) -> Self {
        match std::env::var(variable).as_deref() {
            Ok("own") => Self::Own,
            Ok(named) if named == library => Self::Library,
            _ => Self::Auto,
        }
    }
}
