//! `[[1., 2.], [3., 4.]]; N, C; f64`.

use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Expr, Token, Type};

use crate::face::Face;

/// What the user wrote.
pub struct Input {
    pub face: Face,
    pub data: Expr,
    pub dims: Vec<Type>,
    pub dtype: Option<Type>,
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let face = input.parse()?;
        if input.is_empty() {
            return Err(input.error("expected values, such as `[1., 2.]; N`"));
        }
        let data = input.parse()?;
        let dims = if semicolon(input, "the dims, such as `; N, C`")? {
            dims(input)?
        } else {
            Vec::new()
        };
        let dtype = if semicolon(input, "the dtype, such as `; f64`")? {
            Some(input.parse()?)
        } else {
            None
        };
        if !input.is_empty() {
            return Err(input.error("nothing follows the dtype"));
        }
        Ok(Self {
            face,
            data,
            dims,
            dtype,
        })
    }
}

/// Whether another part follows: a semicolon and what `part` describes.
fn semicolon(input: ParseStream<'_>, part: &str) -> syn::Result<bool> {
    if input.is_empty() {
        return Ok(false);
    }
    match input.parse::<Token![;]>() {
        Ok(_) => Ok(!input.is_empty()),
        Err(_) => Err(input.error(format!("expected `;` and {part}"))),
    }
}

fn dims(input: ParseStream<'_>) -> syn::Result<Vec<Type>> {
    let mut dims = Punctuated::<Type, Token![,]>::new();
    while !input.is_empty() && !input.peek(Token![;]) {
        let dim: Type = input.parse()?;
        match &dim {
            Type::Tuple(_) | Type::Paren(_) => {
                let message = "write the dims without parentheses: `; N, C`";
                return Err(syn::Error::new_spanned(dim, message));
            }
            Type::Infer(_) => {
                let message = "expected a dim; one without a name is `Wild`";
                return Err(syn::Error::new_spanned(dim, message));
            }
            _ => dims.push_value(dim),
        }
        if input.peek(Token![,]) {
            dims.push_punct(input.parse()?);
        } else if !input.is_empty() && !input.peek(Token![;]) {
            return Err(input.error("expected `,` between dims"));
        }
    }
    Ok(dims.into_iter().collect())
}
