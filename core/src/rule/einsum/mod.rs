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

/// Letters of the dims of one tensor, as numbers.
pub type Letters = SmallVec<[usize; 8]>;

/// What an equation says: which dims of the operands are one, and where they go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Einsum {
    /// For each operand, the letter of each of its dims.
    pub operands: Vec<Letters>,
    /// The letter of each dim of the result; what is not among them is summed over.
    pub output: Letters,
    /// How many letters there are.
    pub count: usize,
    /// The names of the result.
    pub names: Names,
}

/// Reads an equation, of which there are two kinds.
///
/// By position, as PyTorch has it: `btk,bsk->bts`, or with words, `b t k, b s k -> b t s`. Each
/// letter or word stands for the dim at its place; names are carried along, and dims of one letter
/// must have one name, or none. `...` stands for the dims that are not mentioned. Without `->` the
/// result has all letters that stand once, in alphabetical order.
///
/// By name: `[B, T, K] * [B, S, K] -> [B, T, S]`. Each operand lists all its dims, in any order, or
/// some and `..`; a word in front of a list is only for the reader.
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
/// [`ErrorKind::Argument`] for an equation that cannot be read, or of another number of operands;
/// [`ErrorKind::Rank`] for a term of another number of dims; [`ErrorKind::NameMismatch`] for one
/// letter with two names, [`ErrorKind::DuplicateNames`] for a result that holds a name twice; by
/// name also [`ErrorKind::NameNotFound`] and [`ErrorKind::UnnamedDim`].
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

/// What was read, without the names of the result.
struct Read {
    operands: Vec<Letters>,
    output: Letters,
    count: usize,
}

/// Finds one name for every letter, and with them the result's.
fn named_by(op: &'static str, read: Read, operands: &[&Names]) -> Result<Einsum> {
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

/// The name that dim `at` gives its letter. A letter that stands twice in one operand takes a
/// diagonal: its dims are one dim, primed or not, or it has no name.
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
    let what = format!("dim `{x}` and dim `{y}` have one letter but do not match");
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

/// Numbers for spellings, in the order in which they come.
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
