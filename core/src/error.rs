//! The one error type.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::name::Names;

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
}

/// An operand as an error shows it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Operand {
    /// Its names; empty when only the sizes are known.
    pub names: Names,
    /// Its sizes; empty when only the names are known.
    pub shape: Vec<usize>,
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
    at: Option<(usize, usize)>,
    operands: Vec<Operand>,
    hint: String,
}

impl Error {
    /// An error of `op`: `what` says what is wrong, without repeating the operands' dims.
    #[cold]
    pub fn new(kind: ErrorKind, op: &'static str, what: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            op,
            what: what.into(),
            at: None,
            operands: Vec::new(),
            hint: String::new(),
        }))
    }

    /// Adds an operand, with its names and sizes. Either may be empty when unknown.
    #[must_use]
    pub fn operand(mut self, names: &Names, shape: &[usize]) -> Self {
        self.0.operands.push(Operand {
            names: names.clone(),
            shape: shape.into(),
        });
        self
    }

    /// Says which dim: dim `dim` of operand `operand`, shown by name where it has one.
    #[must_use]
    pub fn at(mut self, operand: usize, dim: usize) -> Self {
        self.0.at = Some((operand, dim));
        self
    }

    /// Says the way out.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = hint.into();
        self
    }

    /// Replaces the operator: for one that is built from others.
    #[must_use]
    pub fn in_op(mut self, op: &'static str) -> Self {
        self.0.op = op;
        self
    }

    /// Names the operands, in order, where only their sizes were known: kernels see no names.
    #[must_use]
    pub fn with_names<'a>(mut self, names: impl IntoIterator<Item = &'a Names>) -> Self {
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
        for (operand, shape) in self.0.operands.iter_mut().zip(shapes) {
            if operand.shape.is_empty() && operand.names.len() == shape.len() {
                operand.shape = shape.into();
            }
        }
        self
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

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &*self.0;
        write!(f, "{}: {}", inner.op, inner.what)?;
        if let Some((operand, dim)) = inner.at {
            match inner
                .operands
                .get(operand)
                .and_then(|operand| operand.names.get(dim))
            {
                Some(Some(name)) => write!(f, " at dim `{name}`")?,
                _ => write!(f, " at dim {dim}")?,
            }
        }
        for (i, operand) in inner.operands.iter().enumerate() {
            f.write_str(if i == 0 { "; dims " } else { " and " })?;
            write!(f, "{operand}")?;
        }
        if !inner.hint.is_empty() {
            write!(f, "; {}", inner.hint)?;
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
