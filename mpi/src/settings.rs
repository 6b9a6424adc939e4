//! What the environment says.

use std::str::FromStr;
use std::time::Duration;

use nomina::{Error, ErrorKind, Result};

/// The most bytes of a message: counts of MPI have 32 bits.
const MESSAGE: usize = 1 << 30;

/// What the environment says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// `NOMINA_MESH_TIMEOUT`: how many seconds a job may take.
    pub(crate) timeout: Duration,
    /// `NOMINA_MESH_MESSAGE`: how many bytes a message has at most.
    pub(crate) message: usize,
}

impl Settings {
    pub(crate) fn new(variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let number = |name: &str, usual: f64, most: f64| {
            let Some(text) = variable(name) else {
                return Ok(usual);
            };
            let found = f64::from_str(text.trim()).ok();
            found
                .filter(|&found| found >= 1e-3 && found <= most)
                .ok_or_else(|| {
                    let what = format!("{name}={text} is no positive number, or too great");
                    Error::new(ErrorKind::Argument, "mesh", what)
                })
        };
        let seconds = number("NOMINA_MESH_TIMEOUT", 600.0, 1e9)?;
        let message = number("NOMINA_MESH_MESSAGE", MESSAGE as f64, MESSAGE as f64)?;
        Ok(Self {
            timeout: Duration::from_secs_f64(seconds),
            // Whole elements of every dtype.
            message: (message as usize).next_multiple_of(16),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_and_others_refused() {
        let settings = Settings::new(|_| None).unwrap();
        assert_eq!(
            (settings.timeout.as_secs(), settings.message),
            (600, 1 << 30)
        );
        let settings = Settings::new(|_| Some(" 2.5".to_owned())).unwrap();
        assert_eq!((settings.timeout.as_millis(), settings.message), (2500, 16));
        for text in ["", "x", "-1", "0", "nan", "1e30"] {
            assert!(Settings::new(|_| Some(text.to_owned())).is_err(), "{text}");
        }
    }
}
