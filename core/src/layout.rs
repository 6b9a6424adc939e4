//! How a tensor's elements are laid out.

use core::fmt;

/// How a tensor stores its elements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// One buffer, one stride per dim.
    #[default]
    Strided,
    /// Coordinates and values of what is not zero.
    SparseCoo,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Strided => "strided",
            Self::SparseCoo => "sparse_coo",
        })
    }
}

/// The order of a strided tensor's dims in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryFormat {
    /// Row-major: the last dim is adjacent.
    #[default]
    Contiguous,
    /// For rank 4 (N, C, H, W): C is adjacent.
    ChannelsLast,
    /// The input's order, where it is dense.
    Preserve,
}
