//! Sums of products of several tensors: planned by cost, two tensors at a time, each step one matrix product.

mod letters;
mod order;

#[cfg(test)]
mod tests;

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result};
use smallvec::SmallVec;

use super::check::{refuse, unequal_sizes};
use super::contract::contract;
use super::{Arg, ReduceOptions, pointwise, reduce, to_dtype};
use crate::raw::Raw;
use letters::LetterSet;
use order::Problem;

/// Handles any number of letters; each one is counted and marked.
const LETTERS: usize = 1 << 16;

type Letters = SmallVec<[usize; 8]>;

/// A tensor and the letters of its dims, each of which occurs once.
#[derive(Clone)]
struct Term {
    raw: Raw,
    letters: Letters,
}

/// Multiplies the operands, whose dims have letters, and sums over the letters that `output` lacks. A dim of size 1
/// broadcasts. The dtypes of all operands promote to one.
///
/// # Errors
/// If there are no operands, letters do not match the dims, one letter has two sizes, the operands are on several
/// devices, or memory is missing.
pub fn einsum(operands: &[&Raw], letters: &[&[usize]], output: &[usize]) -> Result<Raw> {
    let op = Op::Einsum;
    let Some(first) = operands.first() else {
        return Err(refuse(ErrorKind::Argument, op, &[], "no tensor is given").hint("give one"));
    };
    let fit = letters.len() == operands.len()
        && letters
            .iter()
            .zip(operands)
            .all(|(l, x)| l.len() == x.rank());
    if !fit {
        let what = "not one letter per dim";
        return Err(refuse(ErrorKind::Rank, op, operands, what).hint("give one for each"));
    }
    if let Some(x) = operands.iter().find(|x| x.device() != first.device()) {
        let what = format!("operands are on `{}` and `{}`", first.device(), x.device());
        return Err(refuse(ErrorKind::Device, op, operands, what).hint("move one with `to_device`"));
    }
    let sizes = sizes(operands, letters, output)?;
    let dtype = operands
        .iter()
        .fold(first.dtype(), |dtype, x| dtype.promote(x.dtype()));
    let output_set: LetterSet = output.iter().copied().collect();
    let mut terms = Vec::with_capacity(operands.len());
    for (x, letters) in operands.iter().zip(letters) {
        let term = Term {
            raw: (*x).clone(),
            letters: Letters::from_slice(letters),
        };
        terms.push(term.plain(&sizes)?);
    }
    // Letters that only one operand has and no other step needs are summed first.
    let mut holders = vec![0_usize; sizes.len()];
    for letter in terms.iter().flat_map(|term| &term.letters) {
        holders[*letter] += 1;
    }
    for term in &mut terms {
        let alone = |letter: usize| holders[letter] == 1 && !output_set.has(letter);
        *term = term.summed(&alone, dtype)?;
        term.raw = to_dtype(&term.raw, dtype)?;
    }
    let problem = Problem {
        terms: terms
            .iter()
            .map(|term| term.letters.iter().copied().collect())
            .collect(),
        output: output_set,
        sizes,
    };
    let steps = problem.order();
    let mut live: Vec<Option<Term>> = terms.into_iter().map(Some).collect();
    for (a, b) in steps {
        let (Some(a), Some(b)) = (live[a].take(), live[b].take()) else {
            unreachable!("the order uses every tensor once")
        };
        let mut needed = problem.output.clone();
        for letter in live.iter().flatten().flat_map(|term| &term.letters) {
            needed.insert(*letter);
        }
        live.push(Some(a.times(&b, &needed)?));
    }
    let Some(Some(last)) = live.pop() else {
        unreachable!("one tensor is left")
    };
    last.in_order(output)
}

/// Returns the size of every letter; its dims have this size or 1.
fn sizes(operands: &[&Raw], letters: &[&[usize]], output: &[usize]) -> Result<Vec<usize>> {
    let op = Op::Einsum;
    let all = letters.iter().flat_map(|list| list.iter());
    let last = all.chain(output).copied().max();
    if let Some(letter) = last.filter(|&letter| letter >= LETTERS) {
        let what = format!("letter {letter} is not below {LETTERS}");
        return Err(refuse(ErrorKind::Argument, op, operands, what).hint("count letters from 0"));
    }
    let count = last.map_or(0, |letter| letter + 1);
    let mut sizes: Vec<Option<usize>> = vec![None; count];
    for (which, (x, own)) in operands.iter().zip(letters).enumerate() {
        for (dim, (&letter, &size)) in own.iter().zip(x.shape()).enumerate() {
            let twin = own[..dim].iter().position(|other| *other == letter);
            if let Some(twin) = twin.filter(|&twin| x.shape()[twin] != size) {
                return Err(unequal_sizes(op, operands, [(which, twin), (which, dim)])
                    .hint("dims of one letter must be equal in size"));
            }
            match sizes[letter] {
                Some(known) if known == size || size == 1 => {}
                None | Some(1) => sizes[letter] = Some(size),
                Some(known) => {
                    let has = |other: usize| {
                        let dims = letters[other].iter().zip(operands[other].shape());
                        let mut dims = dims.map(|(&other, &size)| (other, size));
                        dims.position(|dim| dim == (letter, known))
                    };
                    let first = (0..which).find_map(|other| Some((other, has(other)?)));
                    let dims = [first.unwrap_or((which, dim)), (which, dim)];
                    return Err(
                        unequal_sizes(op, operands, dims).hint("dims of one letter are equal or 1")
                    );
                }
            }
        }
    }
    for (at, &letter) in output.iter().enumerate() {
        let known = sizes.get(letter).is_some_and(Option::is_some);
        if !known || output[..at].contains(&letter) {
            let what = "a letter of the result is repeated, or in no operand";
            return Err(refuse(ErrorKind::Argument, op, operands, what)
                .hint("give letters of the operands, each once"));
        }
    }
    Ok(sizes.into_iter().map(|size| size.unwrap_or(1)).collect())
}

impl Term {
    /// Takes diagonals of repeated letters, and removes dims of size 1 whose letter is longer: all its indices see the
    /// same elements.
    fn plain(mut self, sizes: &[usize]) -> Result<Self> {
        let mut dim = 0;
        while dim < self.letters.len() {
            let letter = self.letters[dim];
            let twin = self.letters[dim + 1..].iter().position(|l| *l == letter);
            if let Some(behind) = twin {
                let twin = dim + 1 + behind;
                self.raw = self.raw.diagonal(dim, twin, 0)?;
                self.letters.remove(twin);
                self.letters.remove(dim);
                self.letters.push(letter);
            } else if self.raw.shape()[dim] == 1 && sizes[letter] != 1 {
                self.raw = self.raw.squeeze(dim)?;
                self.letters.remove(dim);
            } else {
                dim += 1;
            }
        }
        Ok(self)
    }

    /// Sums over some letters, in `dtype`.
    fn summed(&self, over: &dyn Fn(usize) -> bool, dtype: DType) -> Result<Self> {
        let gone = (0..self.letters.len()).filter(|&dim| over(self.letters[dim]));
        let gone: Letters = gone.collect();
        if gone.is_empty() {
            return Ok(self.clone());
        }
        let raw = if dtype == DType::Bool {
            reduce(Op::Any, &self.raw, &gone, false, ReduceOptions::default())
        } else {
            let options = ReduceOptions {
                dtype: Some(dtype),
                ..ReduceOptions::default()
            };
            reduce(Op::Sum, &self.raw, &gone, false, options)
        };
        let mut letters = self.letters.clone();
        letters.retain(|letter| !over(*letter));
        Ok(Self {
            raw: raw.map_err(|e| e.in_op(Op::Einsum.name()))?,
            letters,
        })
    }

    /// Multiplies by another tensor and sums over the letters that both have and no other step needs.
    fn times(&self, other: &Self, needed: &LetterSet) -> Result<Self> {
        let (mut pairs, mut batch) = (Vec::new(), Vec::new());
        for (i, letter) in self.letters.iter().enumerate() {
            if let Some(j) = other.letters.iter().position(|l| l == letter) {
                let list = if needed.has(*letter) {
                    &mut batch
                } else {
                    &mut pairs
                };
                list.push((i, j));
            }
        }
        if pairs.is_empty() {
            return self.beside(other);
        }
        let raw = contract(Op::Einsum, &self.raw, &other.raw, &pairs, &batch)?;
        let summed = |letter: &usize| pairs.iter().any(|&(i, _)| self.letters[i] == *letter);
        let own = self.letters.iter().filter(|letter| !summed(letter));
        let its = other.letters.iter();
        let its = its.filter(|letter| !self.letters.contains(letter));
        Ok(Self {
            raw,
            letters: own.chain(its).copied().collect(),
        })
    }

    /// Multiplies elementwise, without sums, operands that broadcast.
    fn beside(&self, other: &Self) -> Result<Self> {
        let its = other.letters.iter().copied();
        let its = its.filter(|letter| !self.letters.contains(letter));
        let letters: Letters = self.letters.iter().copied().chain(its).collect();
        let (a, b) = (self.spread(&letters)?, other.spread(&letters)?);
        let raw = pointwise(Op::Mul, &[Arg::Tensor(&a), Arg::Tensor(&b)])
            .map_err(|e| e.in_op(Op::Einsum.name()))?;
        Ok(Self { raw, letters })
    }

    /// Arranges the dims in the order of `letters`, with size 1 for missing letters.
    fn spread(&self, letters: &[usize]) -> Result<Raw> {
        let place = |letter: &usize| self.letters.iter().position(|l| l == letter);
        let order: Letters = letters.iter().filter_map(place).collect();
        let mut raw = self.raw.permute(&order)?;
        for (at, letter) in letters.iter().enumerate() {
            if place(letter).is_none() {
                raw = raw.unsqueeze(at)?;
            }
        }
        Ok(raw)
    }

    /// Arranges the dims in the order of the result.
    fn in_order(&self, output: &[usize]) -> Result<Raw> {
        let place = |letter: &usize| self.letters.iter().position(|l| l == letter);
        let order: Letters = output.iter().filter_map(place).collect();
        self.raw.permute(&order)
    }
}
