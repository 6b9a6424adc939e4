//! Classes of dims that must have one name, by union-find, and sizes that may be symbols.

use std::collections::HashMap;

/// A size: a number times symbols.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// The number.
    pub number: i64,
    /// The symbols, in order.
    pub symbols: Vec<u32>,
}

impl Size {
    /// A size that is a number.
    pub fn fixed(number: i64) -> Self {
        Self {
            number,
            symbols: Vec::new(),
        }
    }

    /// Returns the number, if there are no symbols.
    pub fn known(&self) -> Option<i64> {
        self.symbols.is_empty().then_some(self.number)
    }

    /// Returns the product of two sizes, unless it overflows.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let mut symbols = [&self.symbols[..], &other.symbols[..]].concat();
        symbols.sort_unstable();
        Some(Self {
            number: self.number.checked_mul(other.number)?,
            symbols,
        })
    }

    /// Returns the quotient of two sizes, if it is exact.
    pub fn over(&self, other: &Self) -> Option<Self> {
        if self.number.checked_rem(other.number)? != 0 {
            return None;
        }
        let mut symbols = self.symbols.clone();
        for symbol in &other.symbols {
            symbols.remove(symbols.iter().position(|s| s == symbol)?);
        }
        Some(Self {
            number: self.number / other.number,
            symbols,
        })
    }
}

/// A dim of a value.
#[derive(Clone, Debug)]
pub struct Dim {
    /// Its class before unification.
    pub class: usize,
    /// Its size.
    pub size: Size,
}

/// How a class got its name; an earlier source wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// The user's file.
    User,
    /// A `dim_param` of the model.
    Symbol,
    /// The path of a parameter.
    Parameter,
    /// The role in an operator: the channels of a convolution, the hidden dim of a recurrent layer.
    Role,
    /// The position in an input or output.
    Position,
}

/// A proposed name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Its source.
    pub source: Source,
    /// The order of hints: earlier ones win.
    pub sequence: usize,
    /// The parts of a path, of which a name is made of the last ones.
    pub path: Vec<String>,
}

impl Hint {
    /// Returns the name of the last `count` parts, and of one more if they begin with digits.
    pub fn name(&self, count: usize) -> Option<String> {
        let digits = |text: &String| text.chars().all(|c| c.is_ascii_digit());
        let mut count = count;
        while count < self.path.len() && digits(&self.path[self.path.len() - count]) {
            count += 1;
        }
        let parts = self.path.get(self.path.len().checked_sub(count)?..)?;
        let name = camel(&parts.join("_"));
        (name.len() <= MOST_LETTERS).then_some(name)
    }
}

/// The longest name that is made of a path.
const MOST_LETTERS: usize = 40;

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Source::User => "names.toml",
            Source::Symbol => "dim_param",
            Source::Parameter => "parameter",
            Source::Role => "role",
            Source::Position => "position",
        })
    }
}

/// The classes.
#[derive(Debug, Default)]
pub struct Classes {
    parent: Vec<usize>,
    hints: HashMap<usize, Hint>,
    by_symbol: HashMap<String, usize>,
    /// Dims of the operands of a reshape, by the class of the dim that they are merged to.
    merged: HashMap<usize, Vec<usize>>,
    symbols: u32,
    sequence: usize,
}

impl Classes {
    /// Creates a class.
    pub fn fresh(&mut self) -> usize {
        self.parent.push(self.parent.len());
        self.parent.len() - 1
    }

    /// Returns the representative of a class.
    pub fn root(&self, class: usize) -> usize {
        let mut at = class;
        while self.parent[at] != at {
            at = self.parent[at];
        }
        at
    }

    fn compressed(&mut self, class: usize) -> usize {
        let root = self.root(class);
        let mut at = class;
        while self.parent[at] != root {
            at = std::mem::replace(&mut self.parent[at], root);
        }
        root
    }

    /// Joins two classes; the better hint wins, and the earlier of two equal ones.
    pub fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.compressed(a), self.compressed(b));
        let (first, second) = (a.min(b), a.max(b));
        if first == second {
            return;
        }
        self.parent[second] = first;
        if let Some(hint) = self.hints.remove(&second) {
            self.insert(first, hint);
        }
        if let Some(parts) = self.merged.remove(&second) {
            self.merged.entry(first).or_insert(parts);
        }
    }

    fn insert(&mut self, root: usize, hint: Hint) {
        let order = |hint: &Hint| (hint.source, hint.sequence);
        if self
            .hints
            .get(&root)
            .is_none_or(|h| order(&hint) < order(h))
        {
            self.hints.insert(root, hint);
        }
    }

    /// Proposes a name.
    pub fn hint(&mut self, class: usize, source: Source, name: impl Into<String>) {
        self.hint_path(class, source, vec![name.into()]);
    }

    /// Proposes a name made of the last parts of a path: as few as no other class has.
    pub fn hint_path(&mut self, class: usize, source: Source, path: Vec<String>) {
        if path.iter().all(String::is_empty) {
            return;
        }
        let root = self.compressed(class);
        self.sequence += 1;
        let sequence = self.sequence;
        self.insert(
            root,
            Hint {
                source,
                sequence,
                path,
            },
        );
    }

    /// Returns the proposed name.
    pub fn hinted(&self, class: usize) -> Option<&Hint> {
        self.hints.get(&self.root(class))
    }

    /// States that a dim is the product of others.
    pub fn merge(&mut self, class: usize, parts: Vec<usize>) {
        let root = self.compressed(class);
        self.merged.entry(root).or_insert(parts);
    }

    /// Returns the dims that a dim is the product of.
    pub fn merged(&self, class: usize) -> &[usize] {
        self.merged
            .get(&self.root(class))
            .map_or(&[], |all| &all[..])
    }

    /// Creates a dim of a size.
    pub fn dim(&mut self, size: Size) -> Dim {
        Dim {
            class: self.fresh(),
            size,
        }
    }

    /// Creates a size that nothing is known about.
    pub fn unknown(&mut self) -> Size {
        self.symbols += 1;
        Size {
            number: 1,
            symbols: vec![self.symbols],
        }
    }

    /// Creates a dim that nothing is known about.
    pub fn unknown_dim(&mut self) -> Dim {
        let size = self.unknown();
        self.dim(size)
    }

    /// Returns the class of a `dim_param`, and its size as a symbol.
    pub fn symbol(&mut self, text: &str) -> Dim {
        if let Some(&class) = self.by_symbol.get(text) {
            let symbol = class as u32 | 1 << 31;
            return Dim {
                class,
                size: Size {
                    number: 1,
                    symbols: vec![symbol],
                },
            };
        }
        let class = self.fresh();
        self.by_symbol.insert(text.to_owned(), class);
        // Converters number symbols that nobody named.
        let lower = text.to_ascii_lowercase();
        let is_named = text.starts_with(|c: char| c.is_ascii_alphabetic())
            && !["unk", "dynamicdimension", "p2o", "?"]
                .iter()
                .any(|noise| lower.starts_with(noise))
            && !lower.contains("_dim_");
        if is_named {
            self.hint(class, Source::Symbol, camel(text));
        }
        Dim {
            class,
            size: Size {
                number: 1,
                symbols: vec![class as u32 | 1 << 31],
            },
        }
    }
}

/// Spells a text as a name: `batch_size` is `BatchSize`.
pub fn camel(text: &str) -> String {
    let parts = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|part| !part.is_empty());
    let mut name = String::new();
    for part in parts {
        let mut letters = part.chars();
        name.extend(letters.next().map(|c| c.to_ascii_uppercase()));
        name.extend(letters);
    }
    if name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert(0, 'D');
    }
    name
}

/// A class of dims that have one name.
#[derive(Clone, Debug)]
pub struct DimClass {
    /// The name.
    pub name: String,
    /// Its source: `names.toml`, `dim_param`, `parameter`, `role` or `position`.
    pub source: String,
    /// The sizes that dims of this class have, where the file states them.
    pub sizes: Vec<usize>,
    /// Where the class occurs, as `value.position`, at most 8 places.
    pub places: Vec<String>,
    /// The number of places.
    pub occurrences: usize,
    /// The number of places in results of nodes that depend on an input and have at least two dims.
    pub activations: usize,
    /// Whether the name says something: a name of the user, a symbol, a parameter's path or a role, and no number for want of a name.
    pub meaningful: bool,
}
