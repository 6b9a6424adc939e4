//! What the environment says, but for what every engine is told.

use nomina::{Error, ErrorKind, Result};

/// The most bytes of a message: counts of MPI have 32 bits.
const MOST: usize = 1 << 30;

/// How many bytes a message has at most: what `NOMINA_MESH_MESSAGE` says, in whole elements of every dtype.
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
