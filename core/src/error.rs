//! The error type of the crate.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::panic::Location;

use crate::name::{Name, Names};

/// The result of a fallible call.
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// The kind of an error. PyTorch's named tensors raise one message per case; these are the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Two names at the same position do not match.
    NameMismatch,
    /// A name is at the position of an unnamed dim, and also elsewhere in the same operand.
    Misaligned,
    /// The names of an out tensor, or of self in place, are not those of the result.
    NameMismatchOut,
    /// A name is repeated.
    DuplicateNames,
    /// Not an ASCII identifier.
    InvalidName,
    /// The number of names is not the number of dims.
    NamesLen,
    /// A dim without a name where one is needed.
    UnnamedDim,
    /// A label is not along a dim, or operands have different labels along one.
    Label,
    /// A name cannot be refined to another.
    Refine,
    /// `..` is given twice, or where it is not allowed.
    Ellipsis,
    /// Dims cannot be aligned to an order.
    Align,
    /// No dim has this name.
    NameNotFound,
    /// Dims to flatten are not consecutive, or sizes to unflatten do not multiply to the dim's size.
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
    /// An allocation failed.
    Memory,
    /// A value that arrived as text or data is malformed.
    Parse,
    /// An argument is outside the range of the operator.
    Argument,
    /// A matrix has no result: it is singular, not positive definite, or not finite.
    Matrix,
    /// There is no gradient: nothing was recorded, the graph is used up, or the operator has no derivative.
    Gradient,
    /// A file cannot be opened, read or written. Malformed contents are [`Parse`](Self::Parse).
    File,
    /// Ranks of a mesh do different things, or one of them is gone.
    Mesh,
}

/// An operand as shown in an error. Equality compares the dims and ignores `made`.
#[derive(Clone, Debug, Eq, Default)]
pub struct Operand {
    /// The names; empty if only the sizes are known.
    pub names: Names,
    /// The sizes; empty if only the names are known.
    pub shape: Vec<usize>,
    /// The call that created it; known in debug builds only.
    pub made: Option<&'static Location<'static>>,
}

impl PartialEq for Operand {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.shape == other.shape
    }
}

/// The error of an operator: a kind to match on, and a text that names the operator, the operands and a fix.
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
pub struct Error(Box<ErrorData>);

#[derive(Clone, PartialEq, Eq)]
struct ErrorData {
    kind: ErrorKind,
    op: &'static str,
    what: String,
    at: ErrorDims,
    operands: Vec<Operand>,
    hint: String,
    settled: bool,
}

/// The dims that an error is about, each as an operand index and a dim.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum ErrorDims {
    #[default]
    Nowhere,
    Dim(usize, usize),
    /// Two dims whose sizes do not match; needs no further text.
    Sizes([(usize, usize); 2]),
}

impl Error {
    /// Creates an error of `op`: `what` describes it, without repeating the operands' dims.
    #[cold]
    pub fn new(kind: ErrorKind, op: &'static str, what: impl Into<String>) -> Self {
        Self(Box::new(ErrorData {
            kind,
            op,
            what: what.into(),
            at: ErrorDims::Nowhere,
            operands: Vec::new(),
            hint: String::new(),
            settled: false,
        }))
    }

    /// Creates an error of `op` about two dims whose sizes do not match. Each is given as an operand index and a dim;
    /// [`Error::with_names`] adds names.
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
        error.0.at = ErrorDims::Sizes([a, b]);
        let none = Names::default();
        operands
            .into_iter()
            .fold(error, |error, shape| error.operand(&none, shape))
    }

    /// Adds an operand with its names and sizes. Either may be empty if unknown. Without memory for a longer list, which
    /// an error about memory may meet, the operand is left out.
    #[must_use]
    pub fn operand(mut self, names: &Names, shape: &[usize]) -> Self {
        if !self.0.settled && self.0.operands.try_reserve(1).is_ok() {
            self.0.operands.push(Operand {
                names: names.clone(),
                shape: shape.into(),
                made: None,
            });
        }
        self
    }

    /// Sets the dim: dim `dim` of operand `operand`, shown by name if it has one.
    #[must_use]
    pub fn at(mut self, operand: usize, dim: usize) -> Self {
        if !self.0.settled {
            self.0.at = ErrorDims::Dim(operand, dim);
        }
        self
    }

    /// Sets the hint: how to fix the error.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        if !self.0.settled {
            self.0.hint = hint.into();
        }
        self
    }

    /// Freezes the error: later calls add and replace nothing. A device may report an error while another operator
    /// waits for it, whose name and operands do not belong to the error.
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

    /// Replaces the operator, for an operator that is built from others.
    #[must_use]
    pub fn in_op(mut self, op: &'static str) -> Self {
        if !self.0.settled {
            self.0.op = op;
        }
        self
    }

    /// Prepends the place of the error within the operator's input, e.g. a file and a tensor in it.
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

    /// Adds names to the operands, in order, if only their sizes are known: kernels see no names.
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

    /// Adds sizes to the operands, in order, if only their names are known: rules see no sizes.
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

    /// Adds the calls that created the operands: in order, each from the next entry of `made` with the same dims; sizes
    /// may be left out. A call passed as a value, `map(Tensor::exp)`, has a location in the standard library, and is
    /// left out.
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
    pub fn made_at<'a, I>(mut self, made: I) -> Self
    where
        I: IntoIterator<Item = (&'a Names, &'a [usize], Option<&'static Location<'static>>)>,
        I::IntoIter: Clone,
    {
        if self.0.settled {
            return self;
        }
        let mut rest = made.into_iter();
        for operand in &mut self.0.operands {
            let is_its = |(names, shape, _): &(&Names, &[usize], Option<_>)| {
                (operand.names.is_empty() || operand.names == **names)
                    && (operand.shape == *shape
                        || shape.is_empty() && operand.shape.len() == names.len())
            };
            let mut ahead = rest.clone();
            if let Some((_, _, at)) = ahead.find(is_its) {
                let outside = |at: &&Location<'_>| !at.file().contains("/library/core/");
                operand.made = operand.made.or(at.filter(outside));
                rest = ahead;
            }
        }
        self
    }

    /// Replaces the operands, for an operator that computed on the first dims of each, or on fewer operands.
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

    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the operator that failed, spelled as in its row.
    #[must_use]
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// Returns the operands, as far as known.
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

/// An operand's ordinal: "the first operand"; in words up to the fifth.
struct Ordinal(usize);

impl fmt::Display for Ordinal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match ["first", "second", "third", "fourth", "fifth"].get(self.0) {
            Some(word) => f.write_str(word),
            None => write!(f, "{}th", self.0 + 1),
        }
    }
}

/// The most operands that a text shows.
const SHOWN: usize = 8;

impl ErrorData {
    /// Returns the operands to show: of more than four whose sizes differ, only those that disagree.
    fn shown(&self) -> impl Iterator<Item = &Operand> {
        let long = self.operands.len() > 4;
        let shown = move |i| match self.at {
            ErrorDims::Sizes([a, b]) if long => i == a.0 || i == b.0,
            _ => i < SHOWN,
        };
        let all = self.operands.iter().enumerate();
        all.filter_map(move |(i, operand)| shown(i).then_some(operand))
    }

    /// Returns the number of operands that are left out, though they may be part of the error.
    fn unshown(&self) -> usize {
        match self.at {
            ErrorDims::Sizes(_) => 0,
            _ => self.operands.len().saturating_sub(SHOWN),
        }
    }

    fn name(&self, operand: usize, dim: usize) -> Option<&Name> {
        self.operands.get(operand)?.names.get(dim)?.as_ref()
    }

    fn size(&self, operand: usize, dim: usize) -> usize {
        let shape = self.operands.get(operand).map(|x| &x.shape);
        shape.and_then(|shape| shape.get(dim)).copied().unwrap_or(0)
    }

    /// Writes the size in each operand: "dim `C` has size 3 in the first operand and 4 in the second".
    fn sizes(&self, f: &mut fmt::Formatter<'_>, [a, b]: [(usize, usize); 2]) -> fmt::Result {
        let dim = |f: &mut fmt::Formatter<'_>, (operand, dim)| match self.name(operand, dim) {
            Some(name) => write!(f, "dim `{name}`"),
            None => write!(f, "dim {dim}"),
        };
        if self.operands.len() <= a.0.max(b.0) {
            // There was no memory for the list of operands.
            return f.write_str("sizes differ");
        }
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
            ErrorDims::Nowhere => {}
            ErrorDims::Dim(operand, dim) => match inner.name(operand, dim) {
                Some(name) => write!(f, " at dim `{name}`")?,
                None => write!(f, " at dim {dim}")?,
            },
            ErrorDims::Sizes(dims) => inner.sizes(f, dims)?,
        }
        let mut link = "; dims ";
        for operand in inner.shown() {
            write!(f, "{link}{operand}")?;
            link = " and ";
        }
        if inner.unshown() > 0 {
            write!(f, "{link}{} more", inner.unshown())?;
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
