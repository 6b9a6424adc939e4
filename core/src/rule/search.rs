//! Sorted sequences in which rows of values are looked up.

use alloc::format;

use super::unify::unify;
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Returns the names of the positions found by `searchsorted`. One sequence keeps the values'
/// names; if there is one per row of values, the dims before the last unify.
///
/// # Errors
/// The errors of [`unify`]; [`ErrorKind::Rank`] for other numbers of dims,
/// [`ErrorKind::DuplicateNames`] if a row's name is that of the values' last dim.
pub fn searchsorted(op: &'static str, sequence: &Names, values: &Names) -> Result<Names> {
    if sequence.len() == 1 {
        return Ok(values.clone());
    }
    let fail = |kind, what| {
        Error::new(kind, op, what)
            .operand(sequence, &[])
            .operand(values, &[])
    };
    if sequence.is_empty() || sequence.len() != values.len() {
        let what = format!(
            "sequences of {} dims for values of {}",
            sequence.len(),
            values.len()
        );
        return Err(
            fail(ErrorKind::Rank, what).hint("give one sequence, or one for each row of values")
        );
    }
    let rows = |names: &Names| names[..names.len() - 1].iter().cloned().collect::<Names>();
    let mut names = unify(op, &rows(sequence), &rows(values))?;
    let last = values.last().cloned().flatten();
    if let Some(name) = last.as_ref().filter(|name| names.position(name).is_some()) {
        let what = format!("dim `{name}` would be repeated");
        return Err(
            fail(ErrorKind::DuplicateNames, what).hint("rename the dim in one of the operands")
        );
    }
    names.push(last);
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[Option<&'static str>]) -> Names {
        Names::from_static(list)
    }

    #[test]
    fn rows_unify_and_the_last_dim_is_the_values() {
        let one = names(&[Some("B")]);
        let values = names(&[Some("N"), Some("V")]);
        assert_eq!(searchsorted("s", &one, &values).unwrap(), values);
        let rows = names(&[Some("N"), Some("B")]);
        assert_eq!(searchsorted("s", &rows, &values).unwrap(), values);
        let open = names(&[None, Some("V")]);
        assert_eq!(searchsorted("s", &rows, &open).unwrap(), values);
    }

    #[test]
    fn what_does_not_go() {
        let rows = names(&[Some("N"), Some("B")]);
        let kind = |values: &[Option<&'static str>]| {
            searchsorted("s", &rows, &names(values)).unwrap_err().kind()
        };
        assert_eq!(kind(&[Some("M"), Some("V")]), ErrorKind::NameMismatch);
        assert_eq!(kind(&[None, Some("N")]), ErrorKind::DuplicateNames);
        assert_eq!(kind(&[Some("V")]), ErrorKind::Rank);
    }
}
