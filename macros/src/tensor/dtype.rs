//! Inference of the values' dtype.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Type;
use syn::spanned::Spanned;

use super::tree::{Node, SUFFIXES, Value, suffixed};
use crate::crate_path::CratePath;
use crate::errors::Errors;

/// The dtype, which determines how literals are written.
pub enum DType {
    /// A type with a literal suffix: `1.` becomes `1.0f32`.
    Suffix {
        name: &'static str,
        span: Option<Span>,
    },
    /// `bool`, given or inferred.
    Bool { span: Option<Span> },
    /// Half, complex, an alias or a type parameter: a literal becomes `<T as
    /// Element>::from_scalar(..)`.
    Convert(Box<Type>),
    /// Inferred from expressions, as in an array; next to a float, integers become floats.
    Inferred { float: bool },
}

/// Returns the dtype given by the user, or else that of the values: a suffix decides; floats are
/// f32, integers i64.
pub fn infer(data: &Node, said: Option<Type>) -> DType {
    if let Some(ty) = said {
        let span = Some(ty.span());
        let name = ty.to_token_stream().to_string();
        return match SUFFIXES.iter().find(|known| **known == name) {
            Some(name) => DType::Suffix { name, span },
            None if name == "bool" => DType::Bool { span },
            None => DType::Convert(Box::new(ty)),
        };
    }
    let (mut float, mut int, mut bool, mut other) = (false, false, false, false);
    let mut typed = None;
    data.each_value(&mut |value, _| match value {
        Value::Float { .. } => float = true,
        Value::Int { .. } => int = true,
        Value::Bool(_) => bool = true,
        Value::Other => other = true,
        Value::Wrong => {}
        Value::Typed { suffix } => {
            typed.get_or_insert(*suffix);
        }
    });
    let suffix = |name| DType::Suffix { name, span: None };
    match typed {
        Some(name) => suffix(name),
        None if other => DType::Inferred { float },
        None if bool && !float && !int => DType::Bool { span: None },
        None if int && !float => suffix("i64"),
        None => suffix("f32"),
    }
}

/// Records errors for literals that do not fit the dtype.
pub fn check(data: &Node, dtype: &DType, errors: &mut Errors) {
    data.each_value(&mut |value, tokens| {
        let problem = match (dtype, value) {
            (DType::Suffix { name, .. }, Value::Float { literal, .. })
                if !name.starts_with('f') =>
            {
                Some(format!("`{literal}` is a float, and the dtype is {name}"))
            }
            (
                DType::Suffix { name, .. },
                Value::Int {
                    minus: Some(_),
                    literal,
                },
            ) if name.starts_with('u') => {
                Some(format!("`-{literal}` is negative, and the dtype is {name}"))
            }
            (DType::Suffix { name, .. }, Value::Bool(_)) => {
                Some(format!("`{tokens}` is a bool, and the dtype is {name}"))
            }
            (DType::Bool { .. }, Value::Float { .. } | Value::Int { .. }) => {
                Some("the dtype is bool: write `true` or `false`".into())
            }
            _ => None,
        };
        if let Some(problem) = problem {
            errors.at(tokens, problem);
        }
    });
}

impl DType {
    /// Returns the dtype as a type; `_` if expressions decide.
    pub fn ty(&self, at: Span) -> TokenStream {
        self.said(at).unwrap_or_else(|| quote_spanned!(at=> _))
    }

    /// Returns the dtype as a type, unless expressions decide.
    pub fn said(&self, at: Span) -> Option<TokenStream> {
        Some(match self {
            Self::Suffix { name, span } => {
                let span = span.unwrap_or(at);
                let name = format_ident!("{name}", span = span);
                quote_spanned!(span=> ::core::primitive::#name)
            }
            Self::Bool { span } => quote_spanned!(span.unwrap_or(at)=> ::core::primitive::bool),
            Self::Convert(ty) => ty.to_token_stream(),
            Self::Inferred { .. } => return None,
        })
    }

    /// Writes a value in this dtype; `tokens` is the user's spelling.
    pub fn value(
        &self,
        value: &Value,
        tokens: &TokenStream,
        crate_path: &CratePath,
    ) -> TokenStream {
        let (minus, digits, span, of_int) = match value {
            Value::Float { minus, literal } => {
                (minus, literal.base10_digits(), literal.span(), false)
            }
            Value::Int { minus, literal } => (minus, literal.base10_digits(), literal.span(), true),
            Value::Bool(literal) => {
                return match self {
                    Self::Convert(ty) => {
                        convert(ty, "Bool", tokens.clone(), literal.span(), crate_path)
                    }
                    _ => tokens.clone(),
                };
            }
            Value::Typed { .. } | Value::Other | Value::Wrong => return tokens.clone(),
        };
        match self {
            Self::Suffix { name, .. } => {
                let literal = suffixed(digits, name, span);
                quote!(#minus #literal)
            }
            Self::Convert(ty) => {
                let (variant, suffix) = if of_int {
                    ("Int", "i64")
                } else {
                    ("Float", "f64")
                };
                let literal = suffixed(digits, suffix, span);
                convert(ty, variant, quote!(#minus #literal), span, crate_path)
            }
            Self::Inferred { float: true } if of_int => {
                let literal = suffixed(&format!("{digits}."), "", span);
                quote!(#minus #literal)
            }
            Self::Bool { .. } | Self::Inferred { .. } => tokens.clone(),
        }
    }
}

/// Writes `<T as Element>::from_scalar(Scalar::Float(1.0f64))`.
fn convert(
    ty: &Type,
    variant: &str,
    value: TokenStream,
    at: Span,
    crate_path: &CratePath,
) -> TokenStream {
    let crate_path = crate_path.at(at);
    let variant = format_ident!("{variant}", span = at);
    quote_spanned! {at=>
        <#ty as #crate_path::__private::Element>::from_scalar(#crate_path::__private::Scalar::#variant(#value))
    }
}
