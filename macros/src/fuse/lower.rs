//! From the body to steps, and to the same expression for rustc to check.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprMethodCall, Ident, Lit, Pat, Stmt, UnOp};

use super::allowed::{OPERATORS, REDUCTIONS};
use super::parse::Call;
use crate::errors::Errors;
use crate::face::Face;

/// The call, ready to be written.
pub struct Chain {
    /// A step each, as an expression of type `Node`.
    pub nodes: Vec<TokenStream>,
    /// Numbers, as expressions.
    pub numbers: Vec<TokenStream>,
    /// Numbers of the run time: a variable, and what it is.
    pub lets: Vec<(Ident, TokenStream)>,
    /// The separate operators.
    pub check: TokenStream,
    /// What follows the chain.
    pub reduction: Option<Reduction>,
}

/// A reduction of the result.
pub struct Reduction {
    /// The call, whose receiver is the chain.
    pub call: ExprMethodCall,
    /// The operator that reduces while the chain is computed, if the method is one.
    pub op: Option<Ident>,
    /// Whether the dims are text or positions, which say nothing to rustc.
    pub literal: bool,
}

/// What an expression is to those around it.
enum Value {
    /// A tensor that has a name; the check borrows it by that.
    Named(usize),
    /// A tensor without.
    Unnamed(usize),
    /// A number, not a step yet.
    Number,
}

/// What is wrong, and noted.
struct Noted;

type Found = Result<(Value, Expr), Noted>;

struct Lower<'a> {
    face: &'a Face,
    errors: &'a mut Errors,
    nodes: Vec<TokenStream>,
    numbers: Vec<TokenStream>,
    lets: Vec<(Ident, TokenStream)>,
    /// Names, and the steps that they mean.
    names: Vec<(Ident, usize)>,
}

/// Lowers the body; nothing where mistakes were noted.
pub fn chain(face: &Face, call: &Call, errors: &mut Errors) -> Option<Chain> {
    let mut lower = Lower {
        face,
        errors,
        nodes: Vec::new(),
        numbers: Vec::new(),
        lets: Vec::new(),
        names: Vec::new(),
    };
    for (at, parameter) in call.parameters.iter().enumerate() {
        let node = lower.node(&quote!(Tensor(#at)));
        lower.names.push((parameter.name.clone(), node));
    }
    let (check, reduction) = lower.body(&call.body).ok()?;
    Some(Chain {
        nodes: lower.nodes,
        numbers: lower.numbers,
        lets: lower.lets,
        check,
        reduction,
    })
}

impl Lower<'_> {
    fn node(&mut self, kind: &TokenStream) -> usize {
        let face = self.face.at(Span::call_site());
        self.nodes.push(quote!(#face::__private::Node::#kind));
        self.nodes.len() - 1
    }

    fn apply(&mut self, op: &str, args: &[usize]) -> usize {
        let face = self.face.at(Span::call_site());
        let op = format_ident!("{op}");
        self.node(&quote!(Apply(#face::__private::Op::#op, &[#(#args),*])))
    }

    fn wrong<V>(&mut self, at: impl ToTokens, what: impl std::fmt::Display) -> Result<V, Noted> {
        self.errors.at(at, what);
        Err(Noted)
    }

    fn body(&mut self, body: &Expr) -> Result<(TokenStream, Option<Reduction>), Noted> {
        let mut shared = TokenStream::new();
        // A block and what is called on it mean the same as that call at the block's end.
        let (body, outside) = match body {
            Expr::MethodCall(call) if is_reduction(&call.method) => match &*call.receiver {
                block @ Expr::Block(_) => (block, Some(reduction_of(call))),
                _ => (body, None),
            },
            _ => (body, None),
        };
        let tail = match body {
            Expr::Block(block) if block.attrs.is_empty() && block.label.is_none() => {
                let Some((last, before)) = block.block.stmts.split_last() else {
                    return self.wrong(body, "expected an expression of the tensors");
                };
                for stmt in before {
                    shared.extend(self.shared(stmt)?);
                }
                match last {
                    Stmt::Expr(tail, None) => tail,
                    other => {
                        return self.wrong(other, "expected the result: an expression without `;`");
                    }
                }
            }
            other => other,
        };
        let (tail, reduction) = match (tail, outside) {
            (tail, Some(outside)) => (tail, Some(outside)),
            (Expr::MethodCall(call), None) if is_reduction(&call.method) => {
                (&*call.receiver, Some(reduction_of(call)))
            }
            (tail, None) => (tail, None),
        };
        let (value, check) = self.value(tail)?;
        let check = match value {
            Value::Number => return self.wrong(tail, "a number alone is no tensor"),
            Value::Named(at) => {
                // The last step is the result.
                if at + 1 != self.nodes.len() {
                    let what = "this was computed before: write the expression here, \
                                 or drop what is not used";
                    return self.wrong(tail, what);
                }
                quote!(::core::clone::Clone::clone(#check))
            }
            Value::Unnamed(_) => match check {
                Expr::Paren(inner) => inner.expr.into_token_stream(),
                check => check.into_token_stream(),
            },
        };
        Ok((quote!({ #shared #check }), reduction))
    }

    /// `let h = x + b;`
    fn shared(&mut self, stmt: &Stmt) -> Result<TokenStream, Noted> {
        let only = "only `let name = expression;` may stand before the result";
        let Stmt::Local(local) = stmt else {
            return self.wrong(stmt, only);
        };
        let (Pat::Ident(name), Some(init)) = (&local.pat, &local.init) else {
            return self.wrong(stmt, only);
        };
        if name.by_ref.is_some() || name.mutability.is_some() || init.diverge.is_some() {
            return self.wrong(stmt, only);
        }
        let (value, check) = self.value(&init.expr)?;
        let name = name.ident.clone();
        let borrowed = match value {
            Value::Number => {
                let what = "a number needs no name here: write it where it is used";
                return self.wrong(stmt, what);
            }
            Value::Named(at) => {
                self.names.push((name.clone(), at));
                quote!(#check)
            }
            Value::Unnamed(at) => {
                self.names.push((name.clone(), at));
                borrowed(&check).into_token_stream()
            }
        };
        Ok(quote!(let #name = #borrowed;))
    }

    /// The step of a value, and how the check spells it as an argument.
    fn step(&mut self, (value, check): (Value, Expr)) -> (usize, Expr) {
        match value {
            Value::Named(at) => (at, check),
            Value::Unnamed(at) => (at, borrowed(&check)),
            Value::Number => {
                let at = self.numbers.len();
                self.numbers.push(check.to_token_stream());
                (self.node(&quote!(Scalar(#at))), check)
            }
        }
    }

    /// As [`Lower::step`] beside an operator, where an owned tensor does.
    fn side(&mut self, found: (Value, Expr)) -> (usize, Expr) {
        let owned = matches!(found.0, Value::Unnamed(_)).then(|| found.1.clone());
        let (at, check) = self.step(found);
        (at, owned.unwrap_or(check))
    }

    fn value(&mut self, expr: &Expr) -> Found {
        match expr {
            Expr::Paren(inner) => {
                let (value, check) = self.value(&inner.expr)?;
                let mut outer = inner.clone();
                *outer.expr = check;
                Ok((value, Expr::Paren(outer)))
            }
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Path(path) if path.path.get_ident().is_some() => self.name(expr),
            Expr::Lit(lit) if matches!(lit.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)) => {
                Ok((Value::Number, expr.clone()))
            }
            Expr::Block(block) if block.label.is_none() => {
                let name = format_ident!("number{}", self.lets.len(), span = Span::mixed_site());
                self.lets.push((name.clone(), expr.to_token_stream()));
                // Where the number is blamed, its braces are.
                let at = Ident::new(&name.to_string(), name.span().located_at(expr.span()));
                Ok((Value::Number, syn::parse_quote!(#at)))
            }
            Expr::Unary(unary) => {
                let op = match unary.op {
                    UnOp::Neg(_) => "Neg",
                    UnOp::Not(_) => "BitwiseNot",
                    _ => return self.wrong(expr, "operands are borrowed already"),
                };
                let (value, check) = self.value(&unary.expr)?;
                let mut outer = unary.clone();
                *outer.expr = check;
                let check = Expr::Unary(outer);
                match value {
                    Value::Number => Ok((Value::Number, check)),
                    Value::Named(at) | Value::Unnamed(at) => {
                        Ok((Value::Unnamed(self.apply(op, &[at])), check))
                    }
                }
            }
            Expr::Binary(binary) => {
                let op = match binary.op {
                    BinOp::Add(_) => "Add",
                    BinOp::Sub(_) => "Sub",
                    BinOp::Mul(_) => "Mul",
                    BinOp::Div(_) => "Div",
                    other => {
                        let what = match instead(other) {
                            Some(method) => format!("tensors have a method for it: `{method}`"),
                            None => "this writes to a tensor; a chain only computes one".into(),
                        };
                        return self.wrong(other, what);
                    }
                };
                let (left, right) = (self.value(&binary.left), self.value(&binary.right));
                let (left, right) = (left?, right?);
                let numbers = matches!((&left.0, &right.0), (Value::Number, Value::Number));
                let mut outer = binary.clone();
                if numbers {
                    (*outer.left, *outer.right) = (left.1, right.1);
                    return Ok((Value::Number, Expr::Binary(outer)));
                }
                let (left, right) = (self.side(left), self.side(right));
                (*outer.left, *outer.right) = (left.1, right.1);
                let step = self.apply(op, &[left.0, right.0]);
                Ok((Value::Unnamed(step), Expr::Binary(outer)))
            }
            Expr::MethodCall(call) => self.method(call),
            other => self.wrong(
                other,
                "expected tensors, numbers, `+ - * /` and methods that compute elementwise; \
                 a number of the run time stands in braces: `{number}`",
            ),
        }
    }

    fn name(&mut self, expr: &Expr) -> Found {
        let text = expr.to_token_stream().to_string();
        let known = self.names.iter().rev().find(|(name, _)| *name == text);
        if let Some(&(_, at)) = known {
            return Ok((Value::Named(at), expr.clone()));
        }
        let what = format!(
            "`{text}` is none of the tensors between the bars: \
             put it there, or, if it is a number, in braces: `{{{text}}}`"
        );
        self.wrong(expr, what)
    }

    fn method(&mut self, call: &ExprMethodCall) -> Found {
        let method = call.method.to_string();
        let mut outer = call.clone();
        if method == "to" && call.args.is_empty() {
            let Some(dtype) = call.turbofish.as_ref().filter(|list| list.args.len() == 1) else {
                return self.wrong(call, "expected a dtype: `.to::<f32>()`");
            };
            let dtype = dtype.args.clone();
            let (value, check) = self.value(&call.receiver)?;
            let (of, check) = self.side((value, check));
            *outer.receiver = check;
            let face = self.face.at(Span::call_site());
            let step = quote!(To(<#dtype as #face::__private::Element>::DTYPE, #of));
            return Ok((Value::Unnamed(self.node(&step)), Expr::MethodCall(outer)));
        }
        let Some(&(_, op, count, numbers)) = OPERATORS.iter().find(|(name, ..)| *name == method)
        else {
            let what = unknown(&method);
            return self.wrong(&call.method, what);
        };
        if call.args.len() != count {
            let what = format!(
                "in `fuse!`, `{method}` takes {count} operand{} besides the one before the dot",
                if count == 1 { "" } else { "s" }
            );
            return self.wrong(&call.method, what);
        }
        let receiver = self.value(&call.receiver);
        let args: Vec<Found> = call.args.iter().map(|arg| self.value(arg)).collect();
        let receiver = receiver?;
        if let Value::Number = receiver.0 {
            return self.wrong(
                &call.receiver,
                "a number has no methods here: compute it in braces",
            );
        }
        let (first, check) = self.side(receiver);
        *outer.receiver = check;
        let mut steps = vec![first];
        for (place, arg) in outer.args.iter_mut().zip(args) {
            let (at, check) = self.step(arg?);
            steps.push(at);
            *place = check;
        }
        for number in numbers {
            let at = self.numbers.len();
            self.numbers.push(quote!(#number));
            steps.push(self.node(&quote!(Scalar(#at))));
        }
        let step = self.apply(op, &steps);
        Ok((Value::Unnamed(step), Expr::MethodCall(outer)))
    }
}

fn reduction_of(call: &ExprMethodCall) -> Reduction {
    let known = REDUCTIONS.iter().find(|(name, _)| call.method == name);
    let op = known.and_then(|(_, op)| *op);
    // Only the dims: what else a method takes, it alone knows.
    let op = op.filter(|_| call.args.len() == 1 && call.turbofish.is_none());
    Reduction {
        call: call.clone(),
        op: op.map(|op| format_ident!("{op}")),
        literal: call.args.iter().any(literal),
    }
}

/// `"C"`, `-1`, `["N", "C"]`, `keep("C")`
fn literal(dims: &Expr) -> bool {
    match dims {
        Expr::Lit(_) => true,
        Expr::Unary(unary) => literal(&unary.expr),
        Expr::Reference(reference) => literal(&reference.expr),
        Expr::Array(array) => array.elems.iter().any(literal),
        Expr::Tuple(tuple) => tuple.elems.iter().any(literal),
        Expr::Call(call) => call.args.iter().any(literal),
        _ => false,
    }
}

/// `&x`, with the parentheses that it needs.
pub fn borrowed(expr: &Expr) -> Expr {
    match expr {
        Expr::Path(_)
        | Expr::MethodCall(_)
        | Expr::Call(_)
        | Expr::Paren(_)
        | Expr::Macro(_)
        | Expr::Index(_)
        | Expr::Field(_)
        | Expr::Reference(_)
        | Expr::Unary(_) => syn::parse_quote!(&#expr),
        _ => syn::parse_quote!(&(#expr)),
    }
}

fn is_reduction(method: &Ident) -> bool {
    REDUCTIONS.iter().any(|(name, _)| method == name)
}

/// The method for an operator that tensors do not have.
fn instead(op: BinOp) -> Option<&'static str> {
    Some(match op {
        BinOp::Rem(_) => "x.remainder(y)",
        BinOp::And(_) => "x.logical_and(y)",
        BinOp::Or(_) => "x.logical_or(y)",
        BinOp::BitXor(_) => "x.bitwise_xor(y)",
        BinOp::BitAnd(_) => "x.bitwise_and(y)",
        BinOp::BitOr(_) => "x.bitwise_or(y)",
        BinOp::Shl(_) => "x.bitwise_left_shift(y)",
        BinOp::Shr(_) => "x.bitwise_right_shift(y)",
        BinOp::Eq(_) => "x.eq(y)",
        BinOp::Ne(_) => "x.ne(y)",
        BinOp::Lt(_) => "x.lt(y)",
        BinOp::Le(_) => "x.le(y)",
        BinOp::Gt(_) => "x.gt(y)",
        BinOp::Ge(_) => "x.ge(y)",
        _ => return None,
    })
}

/// What to say of a method that is no elementwise operator.
fn unknown(method: &str) -> String {
    if REDUCTIONS.iter().any(|(name, _)| *name == method) {
        return format!(
            "`{method}` reduces, and may only be the last call: \
             end this chain with it, and begin another one with the result"
        );
    }
    if method.ends_with('_') {
        return format!("`{method}` writes to its tensor; a chain only computes one");
    }
    let near = OPERATORS
        .iter()
        .map(|(name, ..)| (distance(name, method), name))
        .filter(|(far, name)| *far <= 1 + name.len() / 4)
        .min();
    match near {
        Some((_, name)) => format!("`{method}` computes nothing elementwise; `{name}` does"),
        None => format!(
            "`{method}` computes nothing elementwise: call it before, \
             and name the result between the bars: `y = x.{method}(..)`"
        ),
    }
}

/// How many letters to add, drop or change.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.bytes().enumerate() {
            let changed = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
