//! How an operator is spelled: a column of the operator table.

use nomina_core::Result;
use proc_macro2::TokenStream;

use super::expr::Expr;
use super::ops;
use super::site::Site;

/// How an operator is spelled in Rust.
#[derive(Clone, Copy)]
pub enum Emit {
    /// It has no typed spelling.
    Refused,
    /// A method of the first input without arguments.
    Method(&'static str),
    /// A method of the first input that takes the second one; both broadcast.
    Binary(&'static str),
    /// An infix operator.
    Infix(&'static str),
    /// An expression.
    Single(fn(&mut Site<'_, '_>) -> Result<Expr>),
    /// An expression for each output.
    Several(fn(&mut Site<'_, '_>) -> Result<Vec<Expr>>),
}

impl Emit {
    /// Writes the call of a node: an expression for each output.
    ///
    /// # Errors
    /// If the operator has no typed spelling, or an argument has none.
    pub fn spell(self, site: &mut Site<'_, '_>) -> Result<Vec<Expr>> {
        let one = match self {
            Self::Refused => Err(site.call.fail("it has no typed spelling")),
            Self::Method(name) => ops::elementwise::method(site, name),
            Self::Binary(name) => ops::elementwise::binary(site, name),
            Self::Infix(operator) => {
                let operator: TokenStream = operator
                    .parse()
                    .map_err(|_| site.call.fail("no operator"))?;
                ops::elementwise::infix(site, &operator)
            }
            Self::Single(spell) => spell(site),
            Self::Several(spell) => return spell(site),
        };
        Ok(vec![one?])
    }
}
