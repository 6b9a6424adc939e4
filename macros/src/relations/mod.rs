//! `#[relations]`: generates the bounds of a generic function from the dims in its signature.

mod expand;
mod names;
mod nouns;
mod parse;
#[cfg(test)]
mod tests;

use proc_macro2::TokenStream;

use crate::depth;
use crate::errors::Errors;

/// Expands the attribute. After an error, the function keeps its signature, so that its callers do
/// not fail as well; its body is left out, because it would lack bounds.
pub fn relations(written: TokenStream, item: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    let read = depth::check(written.clone(), depth::InputKind::Types)
        .and_then(|()| depth::check(item.clone(), depth::InputKind::Function));
    if let Err(error) = read {
        errors.push(error);
        let mut out = errors.into_items();
        out.extend(item);
        return out;
    }
    let items = parse::items(written, &mut errors);
    let function = parse::function(item.clone());
    let (names, bounds) = match &function {
        Ok(function) => names::resolve(items, &function.signature.generics, &mut errors),
        Err(_) => Default::default(),
    };
    let spelled = names.put_into(item.clone());
    let function = function
        .and_then(|_| depth::check(spelled.clone(), depth::InputKind::Function))
        .and_then(|()| parse::function(spelled));
    match function {
        Err(error) => {
            errors.push(error);
            let mut out = errors.into_items();
            out.extend(item);
            out
        }
        Ok(function) if errors.is_empty() => expand::function(function, names.dims(), bounds),
        Ok(function) => {
            let mut out = errors.into_items();
            out.extend(expand::without_body(function, names.dims(), bounds));
            out
        }
    }
}
