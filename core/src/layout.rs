//! Storage layouts and memory formats.

use alloc::format;
use core::fmt;
use core::str::FromStr;

use crate::error::{Error, ErrorKind, Result};

/// The storage layout of a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// One buffer, one stride per dim.
    #[default]
    Strided,
    /// The coordinates and values of the nonzero elements.
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

/// The order of a strided tensor's dims in memory. Like in PyTorch, channels-last formats refer to
/// positions: the second dim is the channels, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryFormat {
    /// Row-major: the last dim has stride 1.
    #[default]
    Contiguous,
    /// For rank 4 (N, C, H, W): C has stride 1.
    ChannelsLast,
    /// For rank 5 (N, C, D, H, W): C has stride 1.
    ChannelsLast3d,
    /// The order of the input, if it is dense.
    Preserve,
}

impl MemoryFormat {
    /// Returns the dims of a channels-last format, outermost first; `None` for the other formats.
    #[must_use]
    pub fn order(self) -> Option<&'static [usize]> {
        match self {
            Self::ChannelsLast => Some(&[0, 2, 3, 1]),
            Self::ChannelsLast3d => Some(&[0, 2, 3, 4, 1]),
            Self::Contiguous | Self::Preserve => None,
        }
    }

    const ALL: [Self; 4] = [
        Self::Contiguous,
        Self::ChannelsLast,
        Self::ChannelsLast3d,
        Self::Preserve,
    ];
}

impl fmt::Display for MemoryFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Contiguous => "contiguous_format",
            Self::ChannelsLast => "channels_last",
            Self::ChannelsLast3d => "channels_last_3d",
            Self::Preserve => "preserve_format",
        })
    }
}

/// Parses PyTorch's spelling, e.g. `channels_last`.
impl FromStr for MemoryFormat {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::ALL
            .into_iter()
            .find(|format| format!("{format}") == text)
            .ok_or_else(|| {
                let what = format!("unknown memory format {text:?}");
                Error::new(ErrorKind::Parse, "memory_format", what).hint(
                    "use contiguous_format, channels_last, channels_last_3d or preserve_format",
                )
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_read_as_they_are_shown() {
        for format in MemoryFormat::ALL {
            assert_eq!(format!("{format}").parse(), Ok(format));
        }
        let error = "rows".parse::<MemoryFormat>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parse);
    }
}
