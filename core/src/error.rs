//! The one error type.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::panic::Location;

use crate::name::{Name, Names};

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// What went wrong. PyTorch's named tensors raise one text per case; these are the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two names at the same position do not match.
    NameMismatch,
    /// A name meets an unnamed dim at one position, and stands at another in the same operand.
    Misaligned,
    /// The names of an out tensor, or of self in place, are not those of the result.
    NameMismatchOut,
    /// A name stands twice.
    DuplicateNames,
    /// Not an ASCII identifier.
    InvalidName,
    /// The number of names is not the number of dims.
    NamesLen,
    /// A dim without a name where one is needed.
    UnnamedDim,
    /// A name cannot be refined to another.
    Refine,
    /// `..` stands twice, or where it may not.
    Ellipsis,
    /// Dims cannot be aligned to an order.
    Align,
    /// No dim has this name.
    NameNotFound,
    /// Dims to flatten are not consecutive, or sizes to unflatten do not multiply up.
    Flatten,
    /// A named tensor cannot be resized.
    Resize,
    /// The operator does not take this dtype, or a result cannot be cast to one.
    DType,
    /// The number of dims is wrong.
    Rank,
    /// An index or a position is out of range.
    Index,
    /// Sizes do not fit.
    Shape,
    /// The device is missing, or operands are on different ones.
    Device,
    /// The layout does not support the operator.
    Layout,
    /// Memory could not be had.
    Memory,
    /// A value that arrived as text or data is malformed.
    Parse,
    /// An argument is outside of what the operator takes.
    Argument,
    /// A matrix has no such result: it is singular, not positive definite, or not finite.
    Matrix,
    /// There is no gradient: nothing was recorded, the graph is used up, or the operator has no derivative.
    Gradient,
    /// A file cannot be opened, read or written. What it holds is [`Parse`](Self::Parse).
    File,
    /// Ranks of a mesh do not do the same, or one of them is gone.
    Mesh,
}

/// An operand as an error shows it. Two are equal that have equal dims, wherever they were made.
#[derive(Clone, Debug, Eq, Default)]
pub struct Operand {
    /// Its names; empty when only the sizes are known.
    pub names: Names,
    /// Its sizes; empty when only the names are known.
    pub shape: Vec<usize>,
    /// The call that made it, where that is known: in debug builds.
    pub made: Option<&'static Location<'static>>,
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.shape == other.shape
    }
}

/// An operator that failed: a kind to match on, and a text that says operator, operands and the
/// way out.
///
/// ```
/// use nomina_core::{Error, ErrorKind, Names};
/// let names = Names::from_static(&[Some("N"), Some("C")]);
/// let error = Error::new(ErrorKind::NameNotFound, "sum", "dim `H` not found")
///     .operand(&names, &[2, 3])
///     .hint("use one of `N`, `C`");
/// assert_eq!(error.to_string(), "sum: dim `H` not found; dims (N=2, C=3); use one of `N`, `C`");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    kind: ErrorKind,
    op: &'static str,
    what: String,
    at: At,
    operands: Vec<Operand>,
    hint: String,
    settled: bool,
}

/// The dims that an error is about, each an operand and a dim of it.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum At {
    #[default]
    Nowhere,
    Dim(usize, usize),
    /// Two dims whose sizes do not go together: the whole of what is wrong.
    Sizes([(usize, usize); 2]),
}

impl Error {
    /// An error of `op`: `what` says what is wrong, without repeating the operands' dims.
    #[cold]
    pub fn new(kind: ErrorKind, op: &'static str, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            op,
            what: what.into(),
            at: At::Nowhere,
            operands: Vec::new(),
            hint: String::new(),
            settled: false,
        }))
    }

    /// An error of `op`: two dims of its operands have sizes that do not go together. Each is an
    /// operand and a dim of it; names come with [`Error::with_names`].
    ///
    /// ```
    /// use nomina_core::{Error, Names};
    /// let names = [&[Some("N"), Some("C")][..], &[Some("C")]].map(Names::from_static);
    /// let error = Error::sizes("add", [&[2, 3][..], &[4]], [(0, 1), (1, 0)]).with_names(&names);
    /// assert_eq!(
    ///     error.to_string(),
    ///     "add: dim `C` has size 3 in the first operand and 4 in the second; \
    ///      dims (N=2, C=3) and (C=4,)"
    /// );
    /// ```
    #[cold]
    pub fn sizes<'a>(
        op: &'static str,
        operands: impl IntoIterator<Item = &'a [usize]>,
        [a, b]: [(usize, usize); 2],
    ) -> Self {
        let mut error = Self::new(ErrorKind::Shape, op, String::new());
        error.0.at = At::Sizes([a, b]);
        let none = Names::default();
        operands
            .into_iter()
            .fold(error, |error, shape| error.operand(&none, shape))
    }

    /// Adds an operand, with its names and sizes. Either may be empty when unknown.
    #[must_use]
    pub fn operand(mut self, names: &Names, shape: &[usize]) -> Self {
        if !self.0.settled {
            self.0.operands.push(Operand {
                names: names.clone(),
                shape: shape.into(),
                made: None,
            });
        }
        self
    }

    /// Says which dim: dim `dim` of operand `operand`, shown by name where it has one.
    #[must_use]
    pub fn at(mut self, operand: usize, dim: usize) -> Self {
        if !self.0.settled {
            self.0.at = At::Dim(operand, dim);
        }
        self
    }

    /// Says the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if !self.0.settled {
            self.0.hint = hint.into();
        }
        self
    }

    /// Lets nothing be added or replaced any more. A device finds what is wrong with an operator when
    /// another one waits for it, whose name and operands do not belong to the error.
    ///
    /// ```
    /// use nomina_core::{Error, ErrorKind};
    /// let found = Error::new(ErrorKind::Index, "gather", "index 7 is out of range").settled();
    /// assert_eq!(found.in_op("item").to_string(), "gather: index 7 is out of range");
    /// ```
    #[must_use]
    pub fn settled(mut self) -> Self {
        self.0.settled = true;
        self
    }

    /// Replaces the operator: for one that is built from others.
    #[must_use]
    pub fn in_op(mut self, op: &'static str) -> Self {
        if !self.0.settled {
            self.0.op = op;
        }
        self
    }

    /// Says where in what the operator was given this went wrong: a file, and a tensor in it.
    ///
    /// ```
    /// use nomina_core::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::DType, "tensor", "the elements are f16, not f32");
    /// assert_eq!(error.within("`w` in a.npz").to_string(), "tensor: `w` in a.npz: the elements are f16, not f32");
    /// ```
    #[must_use]
    pub fn within(mut self, place: impl fmt::Display) -> Self {
        if !self.0.settled {
            self.0.what = alloc::format!("{place}: {}", self.0.what);
        }
        self
    }

    /// Names the operands, in order, where only their sizes were known: kernels see no names.
    #[must_use]
    pub fn with_names<'a>(mut self, names: impl IntoIterator<Item = &'a Names>) -> Self {
        if self.0.settled {
            return self;
        }
        for (operand, names) in self.0.operands.iter_mut().zip(names) {
            if operand.names.is_empty() && names.len() == operand.shape.len() {
                operand.names = names.clone();
            }
        }
        self
    }

    /// Sizes the operands, in order, where only their names were known: rules see no sizes.
    #[must_use]
    pub fn with_shapes<'a>(mut self, shapes: impl IntoIterator<Item = &'a [usize]>) -> Self {
        if self.0.settled {
            return self;
        }
        for (operand, shape) in self.0.operands.iter_mut().zip(shapes) {
            if operand.shape.is_empty() && operand.names.len() == shape.len() {
                operand.shape = shape.into();
            }
        }
        self
    }

    /// Says where operands were made: in order, each the next of `made` that has its dims; sizes may be left out. A call that was handed on as a
    /// value, `map(Tensor::exp)`, seems to stand in the standard library, and is left out.
    ///
    /// ```
    /// use nomina_core::{Error, Names};
    /// use std::panic::Location;
    /// let names = [&[Some("N"), Some("C")][..], &[Some("C")]].map(Names::from_static);
    /// let error = Error::sizes("add", [&[2, 3][..], &[4]], [(0, 1), (1, 0)]).with_names(&names);
    /// let here = Location::caller();
    /// let text = error.made_at([(&names[1], &[4][..], Some(here))]).to_string();
    /// assert!(text.ends_with(&format!("and (C=4,)\n  (C=4,) was made at {here}")));
    /// ```
    #[must_use]
    pub fn made_at<'a>(
        mut self,
        made: impl IntoIterator<Item = (&'a Names, &'a [usize], Option<&'static Location<'static>>)>,
    ) -> Self {
        if self.0.settled {
            return self;
        }
        let made: Vec<_> = made.into_iter().collect();
        let mut rest = &made[..];
        for operand in &mut self.0.operands {
            let is_its = |(names, shape, _): &(&Names, &[usize], Option<_>)| {
                (operand.names.is_empty() || operand.names == **names)
                    && (operand.shape == *shape
                        || shape.is_empty() && operand.shape.len() == names.len())
            };
            if let Some(at) = rest.iter().position(is_its) {
                let outside = |at: &&Location<'_>| !at.file().contains("/library/core/");
                operand.made = operand.made.or(rest[at].2.filter(outside));
                rest = &rest[at + 1..];
            }
        }
        self
    }

    /// Replaces the operands: for an operator that computed on the first dims of each, or on
    /// fewer of them.
    #[must_use]
    pub fn on_operands<'a>(mut self, shapes: impl IntoIterator<Item = &'a [usize]>) -> Self {
        if self.0.settled {
            return self;
        }
        self.0.operands.clear();
        let none = Names::default();
        shapes
            .into_iter()
            .fold(self, |error, shape| error.operand(&none, shape))
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operator that failed, as its row spells it.
    #[must_use]
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// The operands, as far as known.
    #[must_use]
    pub fn operands(&self) -> &[Operand] {
        &self.0.operands
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rank = self.names.len().max(self.shape.len());
        f.write_str("(")?;
        for i in 0..rank {
            if i > 0 {
                f.write_str(", ")?;
            }
            match (self.names.get(i), self.shape.get(i)) {
                (Some(Some(name)), Some(size)) => write!(f, "{name}={size}")?,
                (Some(None), Some(size)) => write!(f, "_={size}")?,
                (None, Some(size)) => write!(f, "{size}")?,
                (Some(Some(name)), None) => write!(f, "{name}")?,
                (Some(None), None) | (None, None) => f.write_str("_")?,
            }
        }
        f.write_str(if rank == 1 { ",)" } else { ")" })
    }
}

/// "the first operand", in words as far as operators have so many.
struct Ordinal(usize);

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ["first", "second", "third", "fourth", "fifth"].get(self.0) {
            Some(word) => f.write_str(word),
            None => write!(f, "{}th", self.0 + 1),
        }
    }
}

impl Inner {
    /// The operands to show: of a long list, those that disagree.
    fn shown(&self) -> impl Iterator<Item = &Operand> {
        let long = self.operands.len() > 4;
        let shown = move |i| match self.at {
            At::Sizes([a, b]) if long => i == a.0 || i == b.0,
            _ => true,
        };
        let all = self.operands.iter().enumerate();
        all.filter_map(move |(i, operand)| shown(i).then_some(operand))
    }

    fn name(&self, operand: usize, dim: usize) -> Option<&Name> {
        self.operands.get(operand)?.names.get(dim)?.as_ref()
    }

    fn size(&self, operand: usize, dim: usize) -> usize {
        let shape = self.operands.get(operand).map(|x| &x.shape);
        shape.and_then(|shape| shape.get(dim)).copied().unwrap_or(0)
    }

    /// Says which operand has which size: "dim `C` has size 3 in the first operand and 4 in the
    /// second".
    fn sizes(&self, f: &mut fmt::Formatter<'_>, [a, b]: [(usize, usize); 2]) -> fmt::Result {
        let dim = |f: &mut fmt::Formatter<'_>, (operand, dim)| match self.name(operand, dim) {
            Some(name) => write!(f, "dim `{name}`"),
            None => write!(f, "dim {dim}"),
        };
        let (x, y) = (self.size(a.0, a.1), self.size(b.0, b.1));
        let (first, second) = (Ordinal(a.0), Ordinal(b.0));
        dim(f, a)?;
        if a.0 == b.0 {
            write!(f, " has size {x} and ")?;
            dim(f, b)?;
            return write!(f, " size {y}");
        }
        if self.name(a.0, a.1).is_some() && self.name(a.0, a.1) == self.name(b.0, b.1) {
            return write!(
                f,
                " has size {x} in the {first} operand and {y} in the {second}"
            );
        }
        write!(f, " of the {first} operand has size {x} and ")?;
        dim(f, b)?;
        write!(f, " of the {second} {y}")
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}", inner.op, inner.what)?;
        match inner.at {
            At::Nowhere => {}
            At::Dim(operand, dim) => match inner.name(operand, dim) {
                Some(name) => write!(f, " at dim `{name}`")?,
                None => write!(f, " at dim {dim}")?,
            },
            At::Sizes(dims) => inner.sizes(f, dims)?,
        }
        let mut link = "; dims ";
        for operand in inner.shown() {
            write!(f, "{link}{operand}")?;
            link = " and ";
        }
        if !inner.hint.is_empty() {
            write!(f, "; {}", inner.hint)?;
        }
        if inner.operands.len() > 1 || inner.kind == ErrorKind::Shape {
            for operand in inner.shown() {
                if let Some(at) = operand.made {
                    write!(f, "\n  {operand} was made at {at}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.kind())
    }
}

impl core::error::Error for Error {}
