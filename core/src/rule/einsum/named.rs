//! Equations by name: `q[B, T, K] * k[B, S, K] -> [B, T, S]`.

use alloc::format;
use alloc::vec::Vec;

use super::{Letters, ParsedEquation, Spellings, counted, unreadable};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Names, is_name};

/// A list of names, with the position of `..` in it, if any.
struct NameList<'a> {
    names: Vec<&'a str>,
    rest: Option<usize>,
}

pub(super) fn read(
    op: &'static str,
    equation: &str,
    operands: &[&Names],
) -> Result<ParsedEquation> {
    let Some((left, right)) = equation.rsplit_once("->") else {
        return Err(unreadable(op, "the equation has no `->`".into()));
    };
    let terms: Vec<&str> = left.split('*').collect();
    counted(op, terms.len(), operands.len())?;
    let lists = terms
        .into_iter()
        .map(|term| list(op, term))
        .collect::<Result<Vec<_>>>()?;
    let mut spellings = Spellings::new();
    let mut letters = Vec::new();
    // The dims that `..` covers in the result.
    let mut others: Vec<usize> = Vec::new();
    for (at, (list, names)) in lists.iter().zip(operands).enumerate() {
        for name in &list.names {
            if super::super::find(names, name).is_none() {
                return Err(not_found(op, name, at, names));
            }
        }
        let mut own = Letters::new();
        for (dim, name) in names.iter().enumerate() {
            let Some(name) = name else {
                let what = format!("dim {dim} of tensor {at} has no name");
                return Err(Error::new(ErrorKind::UnnamedDim, op, what)
                    .hint("name every dim first: `x.refine_names(..)`"));
            };
            let letter = spellings.number(name.as_str());
            own.push(letter);
            if list.names.contains(&name.as_str()) {
                continue;
            }
            if list.rest.is_none() {
                let what = format!("dim `{name}` of tensor {at} is not listed");
                return Err(Error::new(ErrorKind::NamesLen, op, what)
                    .hint("list every dim of an operand, or `..` for the others"));
            }
            if !others.contains(&letter) {
                others.push(letter);
            }
        }
        letters.push(own);
    }
    let wanted = list(op, right)?;
    if wanted.rest.is_some() && lists.iter().all(|list| list.rest.is_none()) {
        let what = "`..` in the result but in no operand".into();
        return Err(unreadable(op, what));
    }
    let mut output = Letters::new();
    for name in &wanted.names {
        output.push(spellings.find(name).ok_or_else(|| {
            let what = format!("dim `{name}` of the result is in no operand");
            Error::new(ErrorKind::NameNotFound, op, what)
                .hint("a dim of the result must be in an operand")
        })?);
    }
    if let Some(at) = wanted.rest {
        others.retain(|letter| !output.contains(letter));
        output.insert_many(at, others);
    }
    Ok(ParsedEquation {
        operands: letters,
        output,
        count: spellings.0.len(),
    })
}

#[cold]
fn not_found(op: &'static str, name: &str, at: usize, names: &Names) -> Error {
    let what = format!("dim `{name}` not found in tensor {at}, of dims {names}");
    Error::new(ErrorKind::NameNotFound, op, what)
        .hint("an operand lists its own dims, in any order")
}

/// Parses `q[B, T]`; the text before the bracket is a comment.
fn list<'a>(op: &'static str, term: &'a str) -> Result<NameList<'a>> {
    let bad = || unreadable(op, format!("{:?} is not a list in brackets", term.trim()));
    let (_, inner) = term.split_once('[').ok_or_else(bad)?;
    let inner = inner.trim_end().strip_suffix(']').ok_or_else(bad)?;
    let mut names = Vec::new();
    let mut rest = None;
    for item in inner.split(',').map(str::trim) {
        match item {
            "" if names.is_empty() && rest.is_none() => {}
            ".." | "..." if rest.is_none() => rest = Some(names.len()),
            ".." | "..." => {
                let what = format!("`..` is repeated in {:?}", term.trim());
                return Err(Error::new(ErrorKind::Ellipsis, op, what)
                    .hint("one `..` covers all dims not listed"));
            }
            name if names.contains(&name) => {
                let what = format!("dim `{name}` is repeated in {:?}", term.trim());
                return Err(Error::new(ErrorKind::DuplicateNames, op, what)
                    .hint("to use a dim twice, prime it: `x.prime(..)`"));
            }
            name if is_name(name) => names.push(name),
            _ => return Err(bad()),
        }
    }
    Ok(NameList { names, rest })
}
