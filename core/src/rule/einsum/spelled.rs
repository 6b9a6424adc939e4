//! Equations by position: `btk,bsk->bts`, `b t k, b s k -> b t s`, `...ij,...jk->...ik`.

use alloc::format;
use alloc::vec::Vec;

use super::{Letters, ParsedEquation, Spellings, counted, unreadable};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// A letter, a word, or `...`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Token<'a> {
    Word(&'a str),
    Rest,
}

pub(super) fn read(
    op: &'static str,
    equation: &str,
    operands: &[&Names],
) -> Result<ParsedEquation> {
    let (left, right) = match equation.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (equation, None),
    };
    let terms: Vec<&str> = left.split(',').collect();
    counted(op, terms.len(), operands.len())?;
    let (words, terms) = read_terms(op, &terms, right, operands)?;
    // The dims that `...` covers have the first letters, counted from the right.
    let mut rest = 0;
    for (at, (term, names)) in terms.iter().zip(operands).enumerate() {
        let listed = listed(term);
        if !fits(term, names) {
            let what = format!(
                "term {at} has {listed} dims, the tensor has {}",
                names.len()
            );
            return Err(Error::new(ErrorKind::Rank, op, what).hint(
                "give one letter per dim, or `...` for the others; separate words by spaces",
            ));
        }
        if listed < term.len() {
            rest = rest.max(names.len() - listed);
        }
    }
    let mut spellings = Spellings::new();
    let mut letters = Vec::new();
    for (term, names) in terms.iter().zip(operands) {
        let own = names.len() - listed(term);
        let mut list = Letters::new();
        for token in term {
            match token {
                Token::Word(word) => list.push(rest + spellings.number(word)),
                Token::Rest => list.extend(rest - own..rest),
            }
        }
        letters.push(list);
    }
    let output = match right {
        Some(right) => {
            let mut output = Letters::new();
            for token in tokens(op, right, words)? {
                match token {
                    Token::Rest => output.extend(0..rest),
                    Token::Word(word) => {
                        let letter = spellings.find(word).ok_or_else(|| {
                            unreadable(op, format!("`{word}` of the result is in no operand"))
                        })?;
                        if output.contains(&(rest + letter)) {
                            let what = format!("`{word}` is repeated in the result");
                            return Err(unreadable(op, what));
                        }
                        output.push(rest + letter);
                    }
                }
            }
            output
        }
        None => implicit(&terms, &spellings, rest),
    };
    Ok(ParsedEquation {
        operands: letters,
        output,
        count: rest + spellings.0.len(),
    })
}

fn listed(term: &[Token<'_>]) -> usize {
    term.iter().filter(|token| **token != Token::Rest).count()
}

/// Returns whether there is a letter for each dim, or `...` for the others.
fn fits(term: &[Token<'_>], names: &Names) -> bool {
    match names.len().checked_sub(listed(term)) {
        Some(0) => true,
        Some(_) => listed(term) < term.len(),
        None => false,
    }
}

/// Parses the terms, and returns whether they consist of words, which they do if they do not fit as
/// letters.
fn read_terms<'a>(
    op: &'static str,
    terms: &[&'a str],
    right: Option<&'a str>,
    operands: &[&Names],
) -> Result<(bool, Vec<Vec<Token<'a>>>)> {
    let read = |words: bool| -> Result<Vec<Vec<Token<'a>>>> {
        let terms = terms.iter().map(|term| tokens(op, term, words));
        let terms = terms.collect::<Result<_>>()?;
        right.map_or(Ok(()), |right| tokens(op, right, words).map(drop))?;
        Ok(terms)
    };
    let fit = |read: &Result<Vec<Vec<Token<'_>>>>| match read {
        Ok(terms) => terms
            .iter()
            .zip(operands)
            .all(|(term, names)| fits(term, names)),
        Err(_) => false,
    };
    let (letters, words) = (read(false), read(true));
    let by_words = match (fit(&letters), fit(&words)) {
        (true, _) => false,
        (_, true) => true,
        _ => terms.iter().copied().chain(right).any(is_of_words),
    };
    Ok((by_words, if by_words { words? } else { letters? }))
}

/// Returns whether a term must consist of words. Spaces between letters are no evidence: `i j, j k`
/// reads alike both ways.
fn is_of_words(term: &str) -> bool {
    let parts = || term.split_whitespace().filter(|part| *part != "...");
    parts().count() > 1 && parts().any(|part| part.len() > 1)
        || term.contains(|c: char| c == '_' || c == '\'' || c.is_ascii_digit())
}

fn tokens<'a>(op: &'static str, term: &'a str, words: bool) -> Result<Vec<Token<'a>>> {
    let mut found = Vec::new();
    for part in term.split_whitespace() {
        let mut left = part;
        while !left.is_empty() {
            if let Some(after) = left.strip_prefix("...") {
                found.push(Token::Rest);
                left = after;
                continue;
            }
            let end = if words {
                left.find("...").unwrap_or(left.len())
            } else {
                left.chars().next().map_or(0, char::len_utf8)
            };
            let (word, after) = left.split_at(end);
            let letter = !words && word.bytes().all(|byte| byte.is_ascii_alphabetic());
            if !(letter || words && crate::name::is_name(word)) {
                return Err(unreadable(op, format!("unexpected {word:?}")));
            }
            found.push(Token::Word(word));
            left = after;
        }
    }
    if found.iter().filter(|token| **token == Token::Rest).count() > 1 {
        let what = format!("`...` is repeated in {term:?}");
        return Err(
            Error::new(ErrorKind::Ellipsis, op, what).hint("one `...` covers all dims not listed")
        );
    }
    Ok(found)
}

/// Returns the implicit output: the dims of `...`, then the letters that occur once, in
/// alphabetical order.
fn implicit(terms: &[Vec<Token<'_>>], spellings: &Spellings<'_>, rest: usize) -> Letters {
    let count = |word: &str| {
        let all = terms.iter().flatten();
        all.filter(|token| **token == Token::Word(word)).count()
    };
    let mut once: Vec<&str> = spellings.0.clone();
    once.retain(|word| count(word) == 1);
    once.sort_unstable();
    let letters = once.into_iter().filter_map(|word| spellings.find(word));
    (0..rest)
        .chain(letters.map(|letter| rest + letter))
        .collect()
}
