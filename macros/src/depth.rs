//! How deep an input is nested, before anything recursive reads it.
//!
//! syn parses, prints and drops by recursion, on whatever stack rustc has left (8 MiB in all, and macros are
//! compiled without optimisation). This scan does not recurse. It counts at least as many levels as syn would
//! take: it need not understand the tokens, only never count too few.

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, Ident, Punct, Spacing, TokenStream, TokenTree};

/// Levels of groups, signs before an operand, generic arguments and the like. syn takes up to 20 KiB for each.
const LEVELS: usize = 128;

/// syn takes as much for a level of generic arguments as for two others.
const ANGLE: usize = 2;

/// Operators and calls on one operand, those around it included. syn parses these in a loop, and takes about
/// 2 KiB for each where it prints them.
const OPERATORS: usize = 2048;

/// What the input is.
#[derive(Clone, Copy, PartialEq)]
pub enum Input {
    /// Expressions: a `<` may be an operator.
    Values,
    /// Types, or what holds them: a `<` always opens something.
    Types,
    /// A function, whose body is not parsed.
    Function,
}

/// An error where `tokens` are nested deeper than the macros read.
pub fn check(tokens: TokenStream, input: Input) -> syn::Result<()> {
    let types = input != Input::Values;
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
                    "this is nested deeper than the {LEVELS} levels that macros of `nomina` read; of generic \
                     arguments, half as many: give the inner part a name, by a `let` or a `type` before, and \
                     write that name here"
                ),
            ));
        }
        if level.parsed && level.operators + inner > OPERATORS {
            return Err(syn::Error::new(
                token.span(),
                format!(
                    "these are more than the {OPERATORS} operators that macros of `nomina` read in one \
                     expression: give the first part a name by `let`, and go on from there"
                ),
            ));
        }
        if let TokenTree::Group(group) = token {
            let body = input == Input::Function
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

/// What the token before was.
#[derive(Clone, Copy, PartialEq)]
enum Last {
    Operand,
    /// A brace, behind which a statement may begin without `;`.
    Brace,
    /// An operator, or its first sign.
    Operator(char, Spacing),
    /// A sign or a word before an operand.
    Prefix,
    /// The `'` of a lifetime.
    Tick,
}

/// The tokens between two delimiters, and what is open at the one that is read.
struct Level {
    tokens: IntoIter,
    /// Levels around it.
    base: usize,
    /// Whether a `<` may open generic arguments without `::`.
    types: bool,
    parsed: bool,
    last: Last,
    /// Signs before the next operand.
    signs: usize,
    /// What reaches to the end of the statement: words, assignments, closures.
    words: usize,
    angles: usize,
    operators: usize,
    /// Whether the word before is a field or a method, whose arguments are no operator of their own.
    member: bool,
    /// Whether the parameters of a closure are read.
    bars: bool,
    /// Operators in the groups of this statement, and in any statement.
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

    /// Takes a token, and says how deep it stands.
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
            // Any other keyword may have an expression or a type behind it, to the end.
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
                // Behind the values of `tensor!` are the dims.
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
                // A third is a prefix, were it not for `..=`, `<<=` and `>>=`, and angles that close.
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
                // syn takes twice the time for each `..` behind another.
                self.signs += if sign == '.' { 16 } else { 1 };
                self.last = Last::Prefix;
            }
        }
    }
}

fn is_keyword(word: &Ident) -> bool {
    syn::parse2::<Ident>(TokenTree::from(word.clone()).into()).is_err()
}

/// Whether two signs may be one operator.
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
