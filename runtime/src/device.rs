//! The device of a tensor's data.

use std::fmt;
use std::str::FromStr;

use nomina_core::{Error, ErrorKind, Result};

/// A device: parsed from and printed as `cpu`, `cuda` or `cuda:1`.
///
/// `cuda` without an ordinal is the current CUDA device at the time of use.
///
/// ```
/// use nomina_runtime::Device;
/// assert_eq!("cuda:1".parse::<Device>()?, Device::Cuda(Some(1)));
/// assert_eq!(Device::from(1).to_string(), "cuda:1");
/// assert_eq!("cpu:0".parse::<Device>()?, Device::Cpu);
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Device {
    /// The host.
    #[default]
    Cpu,
    /// A CUDA device by ordinal, or the current one.
    Cuda(Option<usize>),
}

impl Device {
    /// Returns whether this is a CUDA device.
    #[must_use]
    pub fn is_cuda(self) -> bool {
        matches!(self, Self::Cuda(_))
    }

    /// Returns whether this is the host.
    #[must_use]
    pub fn is_cpu(self) -> bool {
        self == Self::Cpu
    }
}

/// `Device::from(1)` is `cuda:1`, as in PyTorch.
impl From<usize> for Device {
    fn from(ordinal: usize) -> Self {
        Self::Cuda(Some(ordinal))
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Cuda(None) => f.write_str("cuda"),
            Self::Cuda(Some(ordinal)) => write!(f, "cuda:{ordinal}"),
        }
    }
}

impl FromStr for Device {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let number = |digits: &str| {
            let plain = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
            plain.then(|| digits.parse::<usize>().ok()).flatten()
        };
        match text.split_once(':') {
            None if text == "cpu" => return Ok(Self::Cpu),
            None if text == "cuda" => return Ok(Self::Cuda(None)),
            Some(("cpu", digits)) if number(digits) == Some(0) => return Ok(Self::Cpu),
            Some(("cuda", digits)) => {
                if let Some(ordinal) = number(digits) {
                    return Ok(Self::Cuda(Some(ordinal)));
                }
            }
            _ => {}
        }
        Err(Error::new(
            ErrorKind::Parse,
            "device",
            format!("{text:?} is not a device"),
        )
        .hint("write `cpu`, `cuda` or `cuda:1`"))
    }
}

/// Serializes as printed.
#[cfg(feature = "serde")]
impl serde::Serialize for Device {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Device {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
