//! The expression that rustc checks, as tokens: its syntax tree is never built, printed or dropped.

use proc_macro2::{Delimiter, Group, Span, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{AngleBracketedGenericArguments, Expr, Ident, Token};

/// An expression.
pub struct Check {
    tokens: Vec<TokenTree>,
    form: Form,
}

/// A method call without the expressions in it.
pub struct MethodCall {
    pub dot: Token![.],
    pub method: Ident,
    pub turbofish: Option<AngleBracketedGenericArguments>,
    pub parentheses: Span,
    pub commas: Vec<Option<Token![,]>>,
}

/// The contexts in which an expression needs no parentheses.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// Any, including a method call.
    Tight,
    /// A prefix operator, but no method call.
    Unary,
    /// None.
    Binary,
}

impl Check {
    /// Creates an expression without operands.
    pub fn whole(expr: &impl ToTokens) -> Self {
        Self {
            tokens: expr.to_token_stream().into_iter().collect(),
            form: Form::Tight,
        }
    }

    /// `(a)`
    pub fn parenthesized(self, span: Span) -> Self {
        let mut group = Group::new(Delimiter::Parenthesis, self.into_token_stream());
        group.set_span(span);
        Self {
            tokens: vec![group.into()],
            form: Form::Tight,
        }
    }

    /// Groups a fragment of another macro, which is a single operand whatever it contains.
    pub fn grouped(self, span: Span) -> Self {
        match self.form {
            Form::Tight => self,
            _ => self.parenthesized(span),
        }
    }

    /// `-a`
    pub fn behind(mut self, sign: impl ToTokens) -> Self {
        self.tokens.splice(0..0, sign.to_token_stream());
        self.form = Form::Unary;
        self
    }

    /// `a + b`
    pub fn beside(mut self, sign: impl ToTokens, other: Self) -> Self {
        self.tokens.extend(sign.to_token_stream());
        self.tokens.extend(other.tokens);
        self.form = Form::Binary;
        self
    }

    /// `a.method(b, c)`
    pub fn called(mut self, call: MethodCall, args: Vec<Self>) -> Self {
        let mut inner = TokenStream::new();
        for (arg, comma) in args.into_iter().zip(&call.commas) {
            inner.extend(arg.tokens);
            comma.to_tokens(&mut inner);
        }
        let mut group = Group::new(Delimiter::Parenthesis, inner);
        group.set_span(call.parentheses);
        let (dot, method, turbofish) = (call.dot, call.method, call.turbofish);
        self.tokens.extend(quote!(#dot #method #turbofish #group));
        self.form = Form::Tight;
        self
    }

    /// Writes `&a`, with parentheses if needed.
    pub fn borrowed(self) -> Self {
        let inner = match self.form {
            Form::Binary => self.parenthesized(Span::call_site()),
            _ => self,
        };
        inner.behind(quote!(&))
    }

    /// Returns the tokens without parentheses around the whole.
    pub fn without_parentheses(self) -> TokenStream {
        match self.tokens.as_slice() {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => {
                group.stream()
            }
            _ => self.into_token_stream(),
        }
    }
}

impl ToTokens for Check {
    fn to_tokens(&self, out: &mut TokenStream) {
        out.extend(self.tokens.iter().cloned());
    }

    fn into_token_stream(self) -> TokenStream {
        self.tokens.into_iter().collect()
    }
}

/// Writes `&x`, with parentheses if needed.
pub fn borrowed(expr: &Expr) -> TokenStream {
    match expr {
        Expr::Path(_)
        | Expr::MethodCall(_)
        | Expr::Call(_)
        | Expr::Paren(_)
        | Expr::Macro(_)
        | Expr::Index(_)
        | Expr::Field(_)
        | Expr::Reference(_)
        | Expr::Unary(_) => quote!(&#expr),
        _ => quote!(&(#expr)),
    }
}
