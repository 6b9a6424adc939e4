//! Settings from the environment that only this engine reads.

use nomina::{Error, ErrorKind, Result};

/// The maximum bytes of a message: MPI's counts have 32 bits.
const MOST: usize = 1 << 30;

/// Returns the maximum bytes of a message from `NOMINA_MESH_MESSAGE`, rounded up to whole elements of every dtype.
pub(crate) fn message(variable: Option<String>) -> Result<usize> {
    let Some(text) = variable else {
        return Ok(MOST);
    };
    let found = text.trim().parse().ok();
    let found = found.filter(|found| (1..=MOST).contains(found));
    found
        .map(|found: usize| found.next_multiple_of(16))
        .ok_or_else(|| {
            let what = format!("NOMINA_MESH_MESSAGE={text} is no number of bytes up to {MOST}");
            Error::new(ErrorKind::Argument, "mesh", what)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_taken_and_others_refused() {
        assert_eq!(message(None).unwrap(), MOST);
        assert_eq!(message(Some(" 1000".to_owned())).unwrap(), 1008);
        for text in ["", "x", "-1", "0", "1.5", "1073741825"] {
            assert!(message(Some(text.to_owned())).is_err(), "{text}");
        }
    }
}
