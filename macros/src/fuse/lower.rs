//! Lowering of the body to steps, and to the equivalent expression for rustc to check.

use std::collections::HashMap;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprMethodCall, ExprPath, Ident, Lit, Local, Pat, Stmt, UnOp};

use super::allowed::{OPERATORS, REDUCTIONS};
use super::check::{Check, MethodCall};
use super::instead::{instead, unknown};
use super::parse::NamedTensor;
use crate::crate_path::CratePath;
use crate::errors::Errors;

/// A lowered chain.
pub struct Chain {
    /// The steps, as expressions of type `Node`.
    pub nodes: Vec<TokenStream>,
    /// The numbers, as expressions.
    pub numbers: Vec<TokenStream>,
    /// Run-time numbers: a variable and its value.
    pub lets: Vec<(Ident, TokenStream)>,
    /// The equivalent expression of separate operators.
    pub check: TokenStream,
    /// The reduction after the chain.
    pub reduction: Option<Reduction>,
}

/// A reduction of the result.
pub struct Reduction {
    /// The call, whose receiver is the chain.
    pub call: ExprMethodCall,
    /// The operator, if the reduction can be computed in the same pass.
    pub op: Option<Ident>,
    /// Whether the dims are text or positions, which rustc cannot check.
    pub literal: bool,
}

/// The kind of a lowered expression.
enum Lowered {
    /// A tensor with a name, by which the check borrows it.
    Named(usize),
    /// A tensor without a name.
    Unnamed(usize),
    /// A number, not yet a step.
    Number,
}

/// An error that has been recorded.
struct Noted;

type LowerResult = Result<(Lowered, Check), Noted>;

struct Lower<'a> {
    crate_path: &'a CratePath,
    errors: &'a mut Errors,
    nodes: Vec<TokenStream>,
    numbers: Vec<TokenStream>,
    lets: Vec<(Ident, TokenStream)>,
    /// Names, and the steps they refer to.
    names: HashMap<String, usize>,
}

/// Lowers the body; `None` if errors were recorded.
pub fn chain(
    crate_path: &CratePath,
    parameters: &[NamedTensor],
    body: Expr,
    errors: &mut Errors,
) -> Option<Chain> {
    let mut lower = Lower {
        crate_path,
        errors,
        nodes: Vec::new(),
        numbers: Vec::new(),
        lets: Vec::new(),
        names: HashMap::new(),
    };
    for (at, parameter) in parameters.iter().enumerate() {
        let node = lower.node(&quote!(Tensor(#at)));
        lower.names.insert(parameter.name.to_string(), node);
    }
    let (check, reduction) = lower.body(body).ok()?;
    Some(Chain {
        nodes: lower.nodes,
        numbers: lower.numbers,
        lets: lower.lets,
        check,
        reduction,
    })
}

/// Pending work on an expression, as a stack: a long chain is a deep tree, and the call stack that rustc leaves to a
/// macro is small.
enum Task {
    Value(Expr),
    /// The remaining variants combine operands that were lowered before.
    Group(Span),
    Paren(Span),
    Unary(UnOp, &'static str),
    Binary(BinOp, &'static str),
    To(MethodCall),
    Method(MethodCall, &'static Operator),
}

/// A row of [`OPERATORS`].
type Operator = (&'static str, &'static str, usize, &'static [f64]);

impl Lower<'_> {
    fn node(&mut self, kind: &TokenStream) -> usize {
        let crate_path = self.crate_path.at(Span::call_site());
        self.nodes.push(quote!(#crate_path::__private::Node::#kind));
        self.nodes.len() - 1
    }

    fn apply(&mut self, op: &str, args: &[usize]) -> Lowered {
        let crate_path = self.crate_path.at(Span::call_site());
        let op = format_ident!("{op}");
        Lowered::Unnamed(self.node(&quote!(Apply(#crate_path::__private::Op::#op, &[#(#args),*]))))
    }

    fn wrong<V>(&mut self, at: impl ToTokens, what: impl std::fmt::Display) -> Result<V, Noted> {
        self.errors.at(at, what);
        Err(Noted)
    }

    fn body(&mut self, body: Expr) -> Result<(TokenStream, Option<Reduction>), Noted> {
        let mut shared = TokenStream::new();
        // A reduction called on a block is equivalent to that call at the end of the block.
        let (body, outside) = match body {
            Expr::MethodCall(call)
                if is_reduction(&call.method) && matches!(*call.receiver, Expr::Block(_)) =>
            {
                reduction_of(call)
            }
            body => (body, None),
        };
        let tail = match body {
            Expr::Block(mut block) if block.attrs.is_empty() && block.label.is_none() => {
                let Some(last) = block.block.stmts.pop() else {
                    return self.wrong(block, "expected an expression of the tensors");
                };
                for stmt in block.block.stmts {
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
            (Expr::MethodCall(call), None) if is_reduction(&call.method) => reduction_of(call),
            (tail, outside) => (tail, outside),
        };
        let (value, check) = self.value(tail)?;
        let check = match value {
            Lowered::Number => return self.wrong(check, "a number is not a tensor"),
            Lowered::Named(at) => {
                // The last step is the result.
                if at + 1 != self.nodes.len() {
                    let what = "this was computed before: write the expression here, \
                                or drop what is not used";
                    return self.wrong(check, what);
                }
                quote!(::core::clone::Clone::clone(#check))
            }
            Lowered::Unnamed(_) => check.without_parentheses(),
        };
        Ok((quote!({ #shared #check }), reduction))
    }

    /// Lowers `let h = x + b;`.
    fn shared(&mut self, stmt: Stmt) -> Result<TokenStream, Noted> {
        let whole = stmt.to_token_stream();
        let (name, value) = match stmt {
            Stmt::Local(Local {
                pat: Pat::Ident(name),
                init: Some(init),
                ..
            }) if name.by_ref.is_none() && name.mutability.is_none() && init.diverge.is_none() => {
                (name.ident, init.expr)
            }
            _ => {
                return self.wrong(
                    whole,
                    "only `let name = expression;` may precede the result",
                );
            }
        };
        let (value, check) = self.value(*value)?;
        let (at, borrowed) = match value {
            Lowered::Number => {
                let what = "a number needs no name here: write it where it is used";
                return self.wrong(whole, what);
            }
            Lowered::Named(at) => (at, check),
            Lowered::Unnamed(at) => (at, check.borrowed()),
        };
        self.names.insert(name.to_string(), at);
        Ok(quote!(let #name = #borrowed;))
    }

    /// Returns the step of a value, and its form in the check as an argument.
    fn step(&mut self, (value, check): (Lowered, Check)) -> (usize, Check) {
        match value {
            Lowered::Unnamed(at) => (at, check.borrowed()),
            value => self.operand((value, check)),
        }
    }

    /// Like [`Lower::step`], but for an operand of an operator, which may be an owned tensor.
    fn operand(&mut self, (value, check): (Lowered, Check)) -> (usize, Check) {
        match value {
            Lowered::Named(at) | Lowered::Unnamed(at) => (at, check),
            Lowered::Number => {
                let at = self.numbers.len();
                self.numbers.push(check.to_token_stream());
                (self.node(&quote!(Scalar(#at))), check)
            }
        }
    }

    fn value(&mut self, expr: Expr) -> LowerResult {
        let mut tasks = vec![Task::Value(expr)];
        let mut found: Vec<LowerResult> = Vec::new();
        while let Some(task) = tasks.pop() {
            let value = match task {
                Task::Value(expr) => match self.begin(expr, &mut tasks) {
                    Some(value) => value,
                    None => continue,
                },
                task => self.finish(task, &mut found),
            };
            found.push(value);
        }
        found.pop().unwrap_or(Err(Noted))
    }

    /// Lowers an expression without operands; for others, pushes tasks.
    fn begin(&mut self, expr: Expr, tasks: &mut Vec<Task>) -> Option<LowerResult> {
        let (task, operands) = match expr {
            Expr::Paren(inner) if inner.attrs.is_empty() => (
                Task::Paren(inner.paren_token.span.join()),
                vec![*inner.expr],
            ),
            Expr::Group(inner) if inner.attrs.is_empty() => {
                (Task::Group(inner.group_token.span), vec![*inner.expr])
            }
            Expr::Path(ref path) if path.path.get_ident().is_some() => {
                return Some(self.name(&expr));
            }
            Expr::Lit(ref lit) if matches!(lit.lit, Lit::Int(_) | Lit::Float(_) | Lit::Bool(_)) => {
                return Some(Ok((Lowered::Number, Check::whole(&expr))));
            }
            Expr::Block(ref block) if block.label.is_none() => {
                let name = format_ident!("number{}", self.lets.len(), span = Span::mixed_site());
                self.lets.push((name.clone(), expr.to_token_stream()));
                // If rustc reports the number, it shows the braces.
                let mut at = name;
                at.set_span(at.span().located_at(expr.span()));
                return Some(Ok((Lowered::Number, Check::whole(&at))));
            }
            Expr::Unary(unary) if unary.attrs.is_empty() => {
                let op = match unary.op {
                    UnOp::Neg(_) => "Neg",
                    UnOp::Not(_) => "BitwiseNot",
                    _ => return Some(self.wrong(unary, "operands are already borrowed")),
                };
                (Task::Unary(unary.op, op), vec![*unary.expr])
            }
            Expr::Binary(binary) if binary.attrs.is_empty() => {
                let op = match binary.op {
                    BinOp::Add(_) => "Add",
                    BinOp::Sub(_) => "Sub",
                    BinOp::Mul(_) => "Mul",
                    BinOp::Div(_) => "Div",
                    BinOp::Rem(_) => "Remainder",
                    other => {
                        let what = match instead(other) {
                            Some(method) => format!("use the method `{method}`"),
                            None => "this writes to a tensor; a chain only computes one".into(),
                        };
                        return Some(self.wrong(other, what));
                    }
                };
                let operands = vec![*binary.left, *binary.right];
                (Task::Binary(binary.op, op), operands)
            }
            Expr::MethodCall(call) if call.attrs.is_empty() => match self.method(call) {
                Ok(begun) => begun,
                Err(noted) => return Some(Err(noted)),
            },
            other => {
                return Some(self.wrong(
                    other,
                    "expected tensors, numbers, `+ - * / %` and methods that compute elementwise; \
                     write a run-time number in braces: `{number}`",
                ));
            }
        };
        tasks.push(task);
        tasks.extend(operands.into_iter().rev().map(Task::Value));
        None
    }

    /// Combines the operands of a task.
    fn finish(&mut self, task: Task, found: &mut Vec<LowerResult>) -> LowerResult {
        let mut operand = || found.pop().unwrap_or(Err(Noted));
        match task {
            Task::Value(expr) => self.wrong(expr, "an operand is missing"),
            Task::Group(span) => operand().map(|(value, check)| (value, check.grouped(span))),
            Task::Paren(span) => operand().map(|(value, check)| (value, check.parenthesized(span))),
            Task::Unary(sign, op) => {
                let (value, check) = operand()?;
                let check = check.behind(sign);
                Ok(match value {
                    Lowered::Number => (Lowered::Number, check),
                    Lowered::Named(at) | Lowered::Unnamed(at) => (self.apply(op, &[at]), check),
                })
            }
            Task::Binary(sign, op) => {
                let (right, left) = (operand(), operand());
                let (left, right) = (left?, right?);
                if let (Lowered::Number, Lowered::Number) = (&left.0, &right.0) {
                    return Ok((Lowered::Number, left.1.beside(sign, right.1)));
                }
                let (left, right) = (self.operand(left), self.operand(right));
                let value = self.apply(op, &[left.0, right.0]);
                Ok((value, left.1.beside(sign, right.1)))
            }
            Task::To(call) => {
                let of = operand()?;
                let (of, check) = self.operand(of);
                let dtype = call.turbofish.as_ref().map(|list| &list.args);
                let crate_path = self.crate_path.at(Span::call_site());
                let step = quote!(To(<#dtype as #crate_path::__private::Element>::DTYPE, #of));
                let value = Lowered::Unnamed(self.node(&step));
                Ok((value, check.called(call, Vec::new())))
            }
            Task::Method(call, &(_, op, _, numbers)) => {
                let mut args: Vec<LowerResult> = call.commas.iter().map(|_| operand()).collect();
                args.reverse();
                let receiver = operand()?;
                if let Lowered::Number = receiver.0 {
                    let what = "a number has no methods here: compute it in braces";
                    return self.wrong(receiver.1, what);
                }
                let (first, check) = self.operand(receiver);
                let (mut steps, mut checks) = (vec![first], Vec::new());
                for arg in args {
                    let (at, check) = self.step(arg?);
                    steps.push(at);
                    checks.push(check);
                }
                for number in numbers {
                    let at = self.numbers.len();
                    self.numbers.push(quote!(#number));
                    steps.push(self.node(&quote!(Scalar(#at))));
                }
                Ok((self.apply(op, &steps), check.called(call, checks)))
            }
        }
    }

    fn name(&mut self, expr: &Expr) -> LowerResult {
        let text = expr.to_token_stream().to_string();
        if let Some(&at) = self.names.get(&text) {
            return Ok((Lowered::Named(at), Check::whole(expr)));
        }
        let what = format!(
            "`{text}` is not a tensor between the bars: add it there, or write a number in braces: `{{{text}}}`"
        );
        self.wrong(expr, what)
    }

    /// Returns the task of a call, with its receiver and arguments.
    fn method(&mut self, call: ExprMethodCall) -> Result<(Task, Vec<Expr>), Noted> {
        let method = call.method.to_string();
        let known = OPERATORS.iter().find(|(name, ..)| *name == method);
        let to = method == "to" && call.args.is_empty();
        if to
            && call
                .turbofish
                .as_ref()
                .is_none_or(|list| list.args.len() != 1)
        {
            return self.wrong(call, "expected a dtype: `.to::<f32>()`");
        }
        let Some(known) = known.map(Some).or(to.then_some(None)) else {
            let what = unknown(&method);
            return self.wrong(&call.method, what);
        };
        if let Some(&(_, _, count, _)) = known
            && call.args.len() != count
        {
            let what = format!(
                "in `fuse!`, `{method}` takes {count} operand{} besides the one before the dot",
                if count == 1 { "" } else { "s" }
            );
            return self.wrong(&call.method, what);
        }
        let (mut operands, mut commas) = (vec![*call.receiver], Vec::new());
        for arg in call.args.into_pairs() {
            let (arg, comma) = arg.into_tuple();
            operands.push(arg);
            commas.push(comma);
        }
        let call = MethodCall {
            dot: call.dot_token,
            method: call.method,
            turbofish: call.turbofish,
            parentheses: call.paren_token.span.join(),
            commas,
        };
        let task = match known {
            Some(operator) => Task::Method(call, operator),
            None => Task::To(call),
        };
        Ok((task, operands))
    }
}

/// Splits off a reduction: the reduced expression, and how it is reduced.
fn reduction_of(mut call: ExprMethodCall) -> (Expr, Option<Reduction>) {
    let known = REDUCTIONS.iter().find(|(name, _)| call.method == name);
    let op = known.and_then(|(_, op)| *op);
    // Only the dims: other arguments are left to the method.
    let op = op.filter(|_| call.args.len() == 1 && call.turbofish.is_none());
    // If rustc reports the tensor, it shows the user's text.
    let place = Ident::new("chain", call.receiver.span());
    let receiver = std::mem::replace(&mut *call.receiver, variable(place));
    let literal = call.args.iter().any(literal);
    let op = op.map(|op| format_ident!("{op}"));
    (receiver, Some(Reduction { call, op, literal }))
}

/// Creates the expression of a variable.
pub fn variable(name: Ident) -> Expr {
    Expr::Path(ExprPath {
        attrs: Vec::new(),
        qself: None,
        path: name.into(),
    })
}

/// Returns whether dims are given as literals: `"C"`, `-1`, `["N", "C"]`, `keep("C")`.
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

fn is_reduction(method: &Ident) -> bool {
    REDUCTIONS.iter().any(|(name, _)| method == name)
}
