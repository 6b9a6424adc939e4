//! Checks that each name is an identifier, none is repeated, and there are no more than a tensor
//! can have.

use std::collections::HashSet;

use super::parse::Name;
use crate::errors::Errors;
use crate::spelling;

/// Equal to `nomina_core::MAX_DIMS`.
const MAX_DIMS: usize = 64;

/// Records the errors in the list.
pub fn names(names: &[Name], errors: &mut Errors) {
    let mut seen = HashSet::new();
    for name in names {
        let Name::Named(literal) = name else { continue };
        let text = literal.value();
        if !literal.suffix().is_empty() {
            errors.at(
                literal,
                format!("a name has no suffix, remove `{}`", literal.suffix()),
            );
        } else if let Some(problem) = spelling::problem(spelling::unprimed(&text)) {
            errors.at(literal, problem);
        } else if !seen.insert(text.clone()) {
            errors.at(literal, format!("dim `{text}` appears more than once"));
        }
    }
    if let Some(name) = names.get(MAX_DIMS) {
        let message = format!(
            "{} dims are more than the {MAX_DIMS} a tensor can have",
            names.len()
        );
        match name {
            Name::Named(literal) => errors.at(literal, message),
            Name::Unnamed(underscore) => errors.at(underscore, message),
        }
    }
}
