//! Sums of products of several tensors, by letters, by words, or by names.

mod named;
mod spelled;

#[cfg(test)]
mod tests;

use alloc::format;
use alloc::vec::Vec;

use smallvec::SmallVec;

use super::item::distinct;
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// The letters of one tensor's dims, as numbers.
pub type Letters = SmallVec<[usize; 8]>;

/// A parsed equation: which dims of the operands are the same, and their order in the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Einsum {
    /// For each operand, the letter of each of its dims.
    pub operands: Vec<Letters>,
    /// The letter of each dim of the result; letters not in it are summed over.
    pub output: Letters,
    /// The number of distinct letters.
    pub count: usize,
    /// The names of the result.
    pub names: Names,
}

/// Parses an equation, of one of two kinds.
///
/// By position, as in PyTorch: `btk,bsk->bts`, or with words, `b t k, b s k -> b t s`. Each letter
/// or word denotes the dim at its position; names are carried along, and dims with the same letter
/// must have the same name, or none. `...` covers the dims that are not mentioned. Without `->` the
/// result has all letters that occur once, in alphabetical order.
///
/// By name: `[B, T, K] * [B, S, K] -> [B, T, S]`. Each operand lists all its dims, in any order, or
/// some and `..`; a word before a list is a comment.
///
/// ```
/// use nomina_core::{Names, rule};
/// let q = Names::from_static(&[Some("B"), Some("T"), Some("K")]);
/// let k = Names::from_static(&[Some("B"), Some("S"), Some("K")]);
/// let result = Names::from_static(&[Some("B"), Some("T"), Some("S")]);
/// let by_place = rule::einsum("einsum", "btk,bsk->bts", &[&q, &k])?;
/// let by_name = rule::einsum("einsum", "q[K, T, B] * k[..] -> [B, T, S]", &[&q, &k])?;
/// assert_eq!(by_place.names, result);
/// assert_eq!(by_name.names, result);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] for an equation that cannot be parsed or has another number of operands;
/// [`ErrorKind::Rank`] for a term with another number of dims; [`ErrorKind::NameMismatch`] for a
/// letter with two names; [`ErrorKind::DuplicateNames`] for a result that repeats a name; by name
/// also [`ErrorKind::NameNotFound`] and [`ErrorKind::UnnamedDim`].
pub fn einsum(op: &'static str, equation: &str, operands: &[&Names]) -> Result<Einsum> {
    let read = if equation.contains('[') {
        named::read(op, equation, operands)
    } else {
        spelled::read(op, equation, operands)
    };
    let about = |e: Error| match e.operands() {
        [] => operands.iter().fold(e, |e, names| e.operand(names, &[])),
        _ => e,
    };
    read.and_then(|read| named_by(op, read, operands))
        .map_err(about)
}

/// A parsed equation, without the names of the result.
struct ParsedEquation {
    operands: Vec<Letters>,
    output: Letters,
    count: usize,
}

/// Determines the name of every letter, and from them the names of the result.
fn named_by(op: &'static str, read: ParsedEquation, operands: &[&Names]) -> Result<Einsum> {
    let mut found: Vec<Option<Name>> = alloc::vec![None; read.count];
    for (names, letters) in operands.iter().zip(&read.operands) {
        for (at, &letter) in letters.iter().enumerate() {
            let Some(name) = own_name(names, letters, at) else {
                continue;
            };
            match &found[letter] {
                Some(other) if *other != name => return Err(clash(op, other, &name)),
                Some(_) => {}
                None => found[letter] = Some(name),
            }
        }
    }
    let names = read.output.iter().map(|&letter| found[letter].clone());
    let names = distinct(op, names.collect()).map_err(|e| {
        e.hint("rename a dim of one operand first: `x.rename(..)`, or prime it: `x.prime(..)`")
    })?;
    Ok(Einsum {
        operands: read.operands,
        output: read.output,
        count: read.count,
        names,
    })
}

/// Returns the name that dim `at` gives its letter. A letter repeated in one operand takes a
/// diagonal: it has a name if its dims are the same dim, primed or not.
fn own_name(names: &Names, letters: &Letters, at: usize) -> Option<Name> {
    let name = names[at].as_ref()?;
    let base =
        |name: &Name| -> Option<Name> { Name::new(name.as_str().trim_end_matches('\'')).ok() };
    let mut twins = letters
        .iter()
        .zip(names.iter())
        .filter(|(letter, _)| **letter == letters[at]);
    if twins.clone().count() == 1 {
        return Some(name.clone());
    }
    let own = base(name);
    let one = twins.all(|(_, twin)| twin.as_ref().and_then(base) == own);
    own.filter(|_| one)
}

#[cold]
fn clash(op: &'static str, x: &Name, y: &Name) -> Error {
    let what = format!("dim `{x}` and dim `{y}` share a letter but differ");
    Error::new(ErrorKind::NameMismatch, op, what).hint(format!(
        "if they are the same dim, rename one: `y.rename({y}, {x})`"
    ))
}

#[cold]
fn unreadable(op: &'static str, what: alloc::string::String) -> Error {
    Error::new(ErrorKind::Argument, op, what)
        .hint("write `btk,bsk->bts`, or by name `[B, T, K] * [B, S, K] -> [B, T, S]`")
}

fn counted(op: &'static str, terms: usize, operands: usize) -> Result<()> {
    if terms == operands && operands > 0 {
        return Ok(());
    }
    Err(unreadable(
        op,
        format!("the equation has {terms} terms for {operands} tensors"),
    ))
}

/// Numbers spellings in order of appearance.
struct Spellings<'a>(Vec<&'a str>);

impl<'a> Spellings<'a> {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn find(&self, spelling: &str) -> Option<usize> {
        self.0.iter().position(|other| *other == spelling)
    }

    fn number(&mut self, spelling: &'a str) -> usize {
        self.find(spelling).unwrap_or_else(|| {
            self.0.push(spelling);
            self.0.len() - 1
        })
    }
}
