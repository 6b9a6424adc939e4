//! Settings from the environment that only this engine reads.

use nomina::{Error, ErrorKind, Result};

/// The maximum bytes of a message: MPI's counts have 32 bits.
const MAX_MESSAGE: usize = 1 << 30;

/// Returns the maximum bytes of a message from `NOMINA_MESH_MESSAGE`, rounded up to whole elements of every dtype.
pub(crate) fn max_message_bytes(variable: Option<String>) -> Result<usize> {
    let Some(text) = variable else {
        return Ok(MAX_MESSAGE);
    };
    let found = text.trim().parse().ok();
    let found = found.filter(|found| (1..=MAX_MESSAGE).contains(found));
    found
        .map(|found: usize| found.next_multiple_of(16))
        .ok_or_else(|| {
            let what = format!("NOMINA_MESH_MESSAGE={text} is not in 0 to {MAX_MESSAGE} bytes");
            Error::new(ErrorKind::Argument, "mesh", what)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_and_others_refused() {
        assert_eq!(max_message_bytes(None).unwrap(), MAX_MESSAGE);
        assert_eq!(max_message_bytes(Some(" 1000".to_owned())).unwrap(), 1008);
        for text in ["", "x", "-1", "0", "1.5", "1073741825"] {
            assert!(max_message_bytes(Some(text.to_owned())).is_err(), "{text}");
        }
    }
}
