//! Expressions of the emitted text, with the dims that they have.

use nomina::DType;
use proc_macro2::TokenStream;
use quote::quote;

/// The form of an expression, which decides where parentheses and `&` are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A variable or field that owns a tensor.
    Place,
    /// A variable that is a reference.
    Reference,
    /// A call.
    Call,
    /// An expression with an infix operator.
    Infix,
}

/// An expression: its text, the names of its dims, and its dtype.
#[derive(Clone, Debug)]
pub struct Expr {
    /// The text.
    pub text: TokenStream,
    /// The names of its dims.
    pub dims: Vec<String>,
    /// Its dtype.
    pub dtype: DType,
    /// Its form.
    pub form: Form,
}

impl Expr {
    /// Returns the text as the receiver of a method.
    pub fn receiver(&self) -> TokenStream {
        let text = &self.text;
        if self.form == Form::Infix {
            quote!((#text))
        } else {
            text.clone()
        }
    }

    /// Returns the text as an argument that is a reference.
    pub fn argument(&self) -> TokenStream {
        let text = &self.text;
        match self.form {
            Form::Reference => text.clone(),
            Form::Infix => quote!(&(#text)),
            _ => quote!(&#text),
        }
    }

    /// Returns the text as an operand of an infix operator, on the right if `right`.
    pub fn operand(&self, right: bool) -> TokenStream {
        let text = &self.text;
        match self.form {
            Form::Place => quote!(&#text),
            Form::Infix if right => quote!((#text)),
            _ => text.clone(),
        }
    }

    /// Returns the text as a value that is owned.
    pub fn owned(&self) -> TokenStream {
        let text = &self.text;
        match self.form {
            Form::Place | Form::Reference => quote!(#text.clone()),
            _ => text.clone(),
        }
    }

    /// Calls a method, whose text begins with a dot; the dims stay.
    pub fn then(mut self, method: TokenStream) -> Self {
        let receiver = self.receiver();
        self.text = quote!(#receiver #method);
        self.form = Form::Call;
        self
    }

    /// Calls a method, whose result has other dims.
    pub fn then_dims(self, method: TokenStream, dims: Vec<String>) -> Self {
        Self {
            dims,
            ..self.then(method)
        }
    }
}
