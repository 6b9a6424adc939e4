//! Statistics whose results have new dims.

use alloc::format;

use super::reduce;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns the names of `quantile`: the dims of the list of quantiles, then those that remain after reducing
/// `positions`.
///
/// # Errors
/// [`ErrorKind::DuplicateNames`] if the list's dim has the name of a remaining dim.
pub fn quantile(
    op: &'static str,
    names: &Names,
    positions: &[usize],
    keepdim: bool,
    list: &Names,
) -> Result<Names> {
    let mut result = list.clone();
    for name in &reduce(names, positions, keepdim) {
        if let Some(name) = name
            && result.position(name).is_some()
        {
            let what = format!("dim `{name}` would be repeated");
            return Err(Error::new(ErrorKind::DuplicateNames, op, what)
                .operand(names, &[])
                .operand(list, &[])
                .hint("rename the dim of the quantiles"));
        }
        result.push(name.clone());
    }
    Ok(result)
}

/// Returns the names of `cov` and `corrcoef`, whose result has `rank` dims: variables by variables, where the second
/// dim is the primed first. For one variable the result is a number.
#[must_use]
pub fn cov(names: &Names, rank: usize) -> Names {
    match names.first() {
        Some(name) if rank > 0 => {
            let primed = name
                .as_ref()
                .and_then(|name| Name::new(&format!("{name}'")).ok());
            [name.clone(), primed].into_iter().collect()
        }
        _ => Names::default(),
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn the_list_comes_first() {
        let names = Names::from_static(&[Some("N"), Some("C")]);
        let list = Names::from_static(&[Some("Q")]);
        let found = |keepdim| quantile("q", &names, &[1], keepdim, &list).unwrap();
        assert_eq!(found(false).to_string(), "(Q, N)");
        assert_eq!(found(true).to_string(), "(Q, N, C)");
        let none = Names::default();
        assert_eq!(quantile("q", &names, &[0, 1], false, &none).unwrap(), none);
        let taken = Names::from_static(&[Some("N")]);
        let error = quantile("q", &names, &[1], false, &taken).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DuplicateNames);
    }

    #[test]
    fn variables_by_variables() {
        let names = Names::from_static(&[Some("N"), Some("T")]);
        assert_eq!(cov(&names, 2).to_string(), "(N, N')");
        assert!(cov(&names, 0).is_empty());
        assert!(cov(&Names::from_static(&[Some("T")]), 0).is_empty());
    }
}
