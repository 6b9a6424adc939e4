//! Checks that no dim is repeated in a list, and that there is at most one `..`.

use std::collections::HashSet;

use quote::ToTokens;

use super::parse::{Equation, List, ListItem};
use crate::errors::Errors;

/// Records the errors in the lists.
pub fn equation(equation: &Equation, errors: &mut Errors) {
    for operand in &equation.operands {
        list(&operand.dims, errors);
    }
    let Some(result) = &equation.result else {
        return;
    };
    list(result, errors);
    let anywhere = equation
        .operands
        .iter()
        .any(|operand| operand.dims.has_rest());
    for item in &result.items {
        if let (ListItem::Rest(rest), false, true) = (item, anywhere, equation.complete) {
            errors.at(rest, "no operand has a `..` for this one");
        }
    }
}

fn list(list: &List, errors: &mut Errors) {
    let (mut seen, mut rest) = (HashSet::new(), false);
    for item in &list.items {
        match item {
            ListItem::Dim(dim) => {
                let text = dim.to_token_stream().to_string().replace(' ', "");
                if !seen.insert(text.clone()) {
                    let message = format!(
                        "dim `{text}` is repeated in this list; to use it twice, write `Prime<{text}>`"
                    );
                    errors.at(dim, message);
                }
            }
            ListItem::Rest(again) if rest => errors.at(again, "`..` is repeated in this list"),
            ListItem::Rest(_) => rest = true,
        }
    }
}
