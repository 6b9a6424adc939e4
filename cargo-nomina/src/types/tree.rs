//! The paths of a file as nested structs.

use std::collections::BTreeMap;

use nomina_io::{Format, TensorDescription};

/// The tensors whose paths have a common beginning.
#[derive(Debug, Default)]
pub struct Branch<'a> {
    /// The tensor at this path itself.
    pub tensor: Option<&'a TensorDescription>,
    /// The nodes below it, by the next part of their paths; numbers in their order.
    pub below: BTreeMap<Segment, Branch<'a>>,
}

/// A part of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Segment {
    /// A position in a list, as it is written.
    Number(u64),
    /// A name.
    Word(String),
}

impl Segment {
    fn parse(text: &str) -> Self {
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => Self::Number(number),
            _ => Self::Word(text.to_owned()),
        }
    }

    /// Returns the text in the path.
    pub fn text(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Word(word) => word.clone(),
        }
    }
}

/// Returns what separates the parts of a path.
pub fn separator(format: Format) -> Option<char> {
    match format {
        Format::Zarr => Some('/'),
        Format::Npz => None,
        _ => Some('.'),
    }
}

impl<'a> Branch<'a> {
    /// Returns the tree of a file's tensors.
    pub fn new(format: Format, tensors: &'a [TensorDescription]) -> Self {
        let mut root = Self::default();
        for tensor in tensors {
            let parts: Vec<&str> = match separator(format) {
                Some(separator) => tensor.path.split(separator).collect(),
                None => vec![&tensor.path],
            };
            let mut at = &mut root;
            for part in parts {
                at = at.below.entry(Segment::parse(part)).or_default();
            }
            at.tensor = Some(tensor);
        }
        root
    }

    /// Returns the number of the blocks below if they are numbered from 0, alike, and at least two.
    pub fn repeated(&self) -> Option<usize> {
        let mut numbers = self.below.keys().enumerate();
        let numbered = numbers.all(|(at, segment)| *segment == Segment::Number(at as u64));
        let mut blocks = self.below.values();
        let first = blocks.next()?;
        let alike = self.below.len() > 1 && numbered && blocks.all(|block| block.is_like(first));
        (alike && first.tensor.is_none() && self.tensor.is_none()).then_some(self.below.len())
    }

    /// Returns whether both have tensors of the same names, sizes and dtypes at the same paths.
    fn is_like(&self, other: &Self) -> bool {
        let same = match (self.tensor, other.tensor) {
            (None, None) => true,
            (Some(one), Some(other)) => {
                (&one.names, &one.shape, one.dtype, one.foreign)
                    == (&other.names, &other.shape, other.dtype, other.foreign)
            }
            _ => false,
        };
        same && self.below.len() == other.below.len()
            && self
                .below
                .iter()
                .zip(&other.below)
                .all(|(one, other)| one.0 == other.0 && one.1.is_like(other.1))
    }
}

/// Returns words as one name in camel case: `["layer_norm", "0"]` is `LayerNorm0`. A name begins with a letter.
pub fn camel<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let mut name = String::new();
    for word in words {
        for part in word.split(|c: char| !c.is_ascii_alphanumeric()) {
            let mut letters = part.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert_str(0, "Layer");
    }
    name
}
