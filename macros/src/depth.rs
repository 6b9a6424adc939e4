//! A check of the nesting depth of an input, before anything recursive reads it.
//!
//! syn parses, prints and drops by recursion, on the stack that rustc has left (8 MiB in all, and macros are compiled
//! without optimisation). This scan does not recurse. It may count more levels than syn uses, because it
//! does not understand the tokens, but never fewer.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenStream, TokenTree};

/// The maximum number of levels: groups, signs before an operand, generic arguments and the like. syn uses up to 20 KiB
/// of stack for each.
const LEVELS: usize = 128;

/// The levels counted for one level of generic arguments, for which syn uses twice the stack.
const ANGLE: usize = 2;

/// The maximum number of operators and calls on one operand, including those around it. syn parses these in a loop, but
/// uses about 2 KiB of stack for each when printing them.
const OPERATORS: usize = 2048;

/// The kind of input.
#[derive(Clone, Copy, PartialEq)]
pub enum InputKind {
    /// Expressions: a `<` may be an operator.
    Values,
    /// Types, or items that contain them: a `<` always opens something.
    Types,
    /// A function, whose body is not parsed.
    Function,
}

/// Checks that `tokens` are not nested deeper than the macros accept.
pub fn check(tokens: TokenStream, input: InputKind) -> syn::Result<()> {
    let types = input != InputKind::Values;
    let mut levels = vec![Level::new(tokens.into_iter(), 0, types, true)];
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.tokens.next() else {
            level.end_statement();
            let operators = level.most;
            levels.pop();
            if let Some(above) = levels.last_mut() {
                above.inner = above.inner.max(operators);
            }
            continue;
        };
        let inner = level.inner;
        let below = if level.parsed {
            level.read(&token)
        } else {
            level.depth()
        };
        if below > LEVELS {
            return Err(syn::Error::new(
                token.span(),
                format!(
                    "this is nested deeper than the {LEVELS} levels that macros of `nomina` read (half for generic \
                     arguments): give the inner part a name, with a `let` or `type`, and use that name here"
                ),
            ));
        }
        if level.parsed && level.operators + inner > OPERATORS {
            return Err(syn::Error::new(
                token.span(),
                format!(
                    "these are more than the {OPERATORS} operators that macros of `nomina` read in one expression: \
                     give the first part a name with `let`"
                ),
            ));
        }
        if let TokenTree::Group(group) = token {
            let body = input == InputKind::Function
                && levels.len() == 1
                && group.delimiter() == Delimiter::Brace;
            let (types, parsed) = levels
                .last()
                .map_or((types, true), |level| (level.types, level.parsed));
            let tokens = group.stream().into_iter();
            levels.push(Level::new(tokens, below, types, parsed && !body));
        }
    }
    Ok(())
}

/// The kind of the preceding token.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Operand,
    /// A brace, after which a statement may begin without `;`.
    Brace,
    /// An operator, or its first sign.
    Operator(char, Spacing),
    /// A sign or a word before an operand.
    Prefix,
    /// The `'` of a lifetime.
    Tick,
}

/// The state of the scan between two delimiters.
struct Level {
    tokens: IntoIter,
    /// Levels outside the delimiters.
    base: usize,
    /// Whether a `<` may open generic arguments without `::`.
    types: bool,
    parsed: bool,
    last: Last,
    /// Signs before the next operand.
    signs: usize,
    /// Prefixes that extend to the end of the statement: words, assignments, closures.
    words: usize,
    angles: usize,
    operators: usize,
    /// Whether the preceding word is a field or a method, whose arguments do not count as another operator.
    member: bool,
    /// Whether the scan is in the parameters of a closure.
    bars: bool,
    /// Operators in the groups of this statement; `most` is the maximum over all statements.
    inner: usize,
    most: usize,
}

impl Level {
    fn new(tokens: IntoIter, base: usize, types: bool, parsed: bool) -> Self {
        Self {
            tokens,
            base,
            types,
            parsed,
            last: Last::Prefix,
            signs: 0,
            words: 0,
            angles: 0,
            operators: 0,
            member: false,
            bars: false,
            inner: 0,
            most: 0,
        }
    }

    fn depth(&self) -> usize {
        self.base + self.signs + self.words + ANGLE * self.angles + 1
    }

    fn end_statement(&mut self) {
        self.most = self.most.max(self.operators + self.inner);
        (self.signs, self.words, self.operators, self.inner) = (0, 0, 0, 0);
    }

    /// Reads a token, and returns its depth.
    fn read(&mut self, token: &TokenTree) -> usize {
        let member = std::mem::take(&mut self.member);
        match token {
            TokenTree::Ident(word) => self.word(word),
            TokenTree::Punct(sign) => self.sign(sign),
            TokenTree::Literal(_) => self.operand(Last::Operand),
            TokenTree::Group(group) => {
                // A call or an index.
                if matches!(self.last, Last::Operand | Last::Brace) && !member {
                    self.operators += 1;
                }
                let depth = self.depth();
                self.operand(match group.delimiter() {
                    Delimiter::Brace => Last::Brace,
                    _ => Last::Operand,
                });
                return depth;
            }
        }
        self.depth()
    }

    fn operand(&mut self, last: Last) {
        (self.signs, self.last) = (0, last);
    }

    fn word(&mut self, ident: &Ident) {
        if self.last == Last::Tick {
            self.last = Last::Prefix;
            return;
        }
        let word = ident.to_string();
        if self.last == Last::Brace && !matches!(word.as_str(), "else" | "as") {
            self.end_statement();
        }
        match word.as_str() {
            "as" => {
                self.operators += 1;
                (self.types, self.last) = (true, Last::Prefix);
            }
            "mut" | "ref" | "dyn" | "else" | "in" => self.last = Last::Prefix,
            "self" | "Self" | "super" | "crate" | "true" | "false" | "_" => {
                self.operand(Last::Operand);
            }
            // Any other keyword may precede an expression or a type that extends to the end.
            _ if !matches!(self.last, Last::Operator('.', _)) && is_keyword(ident) => {
                self.words += 1;
                self.last = Last::Prefix;
            }
            _ => {
                self.member = matches!(self.last, Last::Operator('.', _));
                self.operand(Last::Operand);
            }
        }
    }

    fn sign(&mut self, punct: &Punct) {
        let sign = punct.as_char();
        match (sign, self.last) {
            ('|', _) if self.bars => (self.bars, self.last) = (false, Last::Prefix),
            (',', _) if self.bars || (self.angles > 0 && self.types) => self.last = Last::Prefix,
            (',' | ';', _) => {
                self.end_statement();
                (self.angles, self.last) = (0, Last::Prefix);
                // After the values of `tensor!` come the dims, which are types.
                self.types |= sign == ';' && self.base == 0;
            }
            ('\'', _) => self.last = Last::Tick,
            // The second sign of an operator.
            (_, Last::Operator(first, Spacing::Joint)) if second(first, sign) => {
                match (first, sign) {
                    (':', ':') => self.types = true,
                    // `->` and `=>`
                    ('-' | '=', '>') => self.words += 1,
                    ('=', '=') => self.words = self.words.saturating_sub(1),
                    // `+=`
                    (first, '=') if !matches!(first, '<' | '>' | '!') => self.words += 1,
                    ('<', _) if self.types && sign == '<' => self.angles += 1,
                    ('>', '>') => self.angles = self.angles.saturating_sub(1),
                    _ => {}
                }
                // A third sign is a prefix, except in `..=`, `<<=` and `>>=`, and for closing angle brackets.
                self.last = match sign {
                    '>' if first == '>' => Last::Operator('>', punct.spacing()),
                    _ => Last::Prefix,
                };
            }
            ('?', Last::Operand | Last::Brace) => self.operators += 1,
            ('>', _) if self.angles > 0 => {
                self.angles -= 1;
                self.last = Last::Operator('>', punct.spacing());
            }
            (_, Last::Operand | Last::Brace) => {
                self.operators += 1;
                match sign {
                    '<' if self.types => self.angles += 1,
                    ':' => self.types = true,
                    '=' | '@' => self.words += 1,
                    _ => {}
                }
                self.signs = 0;
                self.last = Last::Operator(sign, punct.spacing());
            }
            ('<', _) => {
                self.angles += 1;
                self.types = true;
                self.last = Last::Prefix;
            }
            ('|' | '=', _) => {
                self.words += 1;
                (self.bars, self.last) = (sign == '|', Last::Prefix);
            }
            _ => {
                // syn's time doubles with each `..` that follows another one.
                self.signs += if sign == '.' { 16 } else { 1 };
                self.last = Last::Prefix;
            }
        }
    }
}

fn is_keyword(word: &Ident) -> bool {
    syn::parse2::<Ident>(TokenTree::from(word.clone()).into()).is_err()
}

/// Returns whether two signs may form one operator.
fn second(first: char, second: char) -> bool {
    match second {
        '=' => !matches!(first, '.' | ':' | ','),
        '>' => matches!(first, '-' | '=' | '>'),
        ':' | '.' | '<' | '&' | '|' => first == second,
        _ => false,
    }
}

#[cfg(test)]
mod tests;
