//! Typed calls without their types: one function per family, compiled once.
//!
//! A method of [`crate::Tensor`] is generic over dims and dtype, so its code is compiled again for
//! every combination that a program uses. Its work is done here, on an [`ErasedRef`] to the tensor;
//! the method only passes what its types know ([`Static`]) and gives the result its type.
//!
//! Names are checked only where a `Wild` hides them from rustc: for fully named operands
//! ([`Static::wild`] is false) no rule runs and nothing is allocated.

pub(crate) mod attribute;
pub(crate) mod compose;
pub(crate) mod conv;
pub(crate) mod count;
pub(crate) mod einsum;
pub(crate) mod factory;
pub(crate) mod fused;
pub(crate) mod gather;
pub(crate) mod join;
#[cfg(feature = "linalg")]
pub(crate) mod linalg;
pub(crate) mod loss;
pub(crate) mod mask;
pub(crate) mod norm;
pub(crate) mod order;
pub(crate) mod parametric;
pub(crate) mod pointwise;
pub(crate) mod product;
pub(crate) mod random;
pub(crate) mod reduce;
pub(crate) mod shape;
pub(crate) mod sort;
pub(crate) mod sparse;
pub(crate) mod stat;
pub(crate) mod view;

use std::panic::Location;

use nomina_core::dims::Dims;
use nomina_core::{DType, Error, Names, Operand, Result, Scalar};
use nomina_runtime::call::Arg;
use nomina_runtime::{Raw, RawMut, config, profile};

/// The dims of a type, as values.
#[doc(hidden)]
#[derive(Debug)]
pub struct Static {
    /// The names; `None` for `Wild`.
    pub(crate) names: &'static [Option<&'static str>],
    /// The constant sizes.
    pub(crate) sizes: &'static [Option<usize>],
    /// Whether any dim is `Wild`.
    pub(crate) wild: bool,
}

/// The [`Static`] of a list of dims.
pub(crate) trait Known {
    const STATIC: &'static Static;
}

impl<D: Dims> Known for D {
    const STATIC: &'static Static = &Static {
        names: D::NAMES,
        sizes: D::SIZES,
        wild: D::HAS_WILD,
    };
}

/// A borrowed tensor without its types.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct ErasedRef<'a> {
    pub(crate) raw: &'a Raw,
    pub(crate) wild: Option<&'a Names>,
    pub(crate) of: &'static Static,
}

impl<'a> ErasedRef<'a> {
    /// Returns all names, from the type and from run time.
    pub(crate) fn names(self) -> Names {
        names(self.wild, self.of)
    }

    /// Returns the run-time names, for a result with the same dims.
    #[inline]
    pub(crate) fn wild(self) -> Wilds {
        self.wild.cloned().map(Box::new)
    }

    /// Returns the tensor as an operand of an error.
    pub(crate) fn operand(self) -> Operand {
        Operand {
            names: self.names(),
            shape: self.raw.shape().to_vec(),
            made: None,
        }
    }

    /// Returns the description of the tensor in an error.
    pub(crate) fn blamed(self) -> Blamed<'a> {
        Blamed {
            names: self.names(),
            shape: self.raw.shape(),
            made: self.raw.created_at(),
        }
    }

    /// Adds this tensor's names and sizes to an error that has neither.
    #[cold]
    pub(crate) fn blame(self, mut error: Error) -> Error {
        if error.operands().is_empty() {
            error = error.operand(&self.names(), self.raw.shape());
        }
        explain(error, &[self])
    }
}

/// Returns all names of a tensor; only `Wild` dims have their names at run time.
pub(crate) fn names(wild: Option<&Names>, of: &Static) -> Names {
    wild.map_or_else(|| Names::from_static(of.names), Names::clone)
}

/// Names known only at run time; `None` if all names are in the type.
pub(crate) type Wilds = Option<Box<Names>>;

/// A tensor without its types.
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct Erased {
    pub(crate) raw: Raw,
    pub(crate) wild: Wilds,
}

impl Erased {
    /// Wraps a tensor whose names are all in its type, or that has none.
    #[inline(always)]
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, wild: None }
    }

    /// Records the caller's location as the origin of the tensor, for errors about sizes.
    #[cfg(debug_assertions)]
    #[track_caller]
    pub(crate) fn here(mut self) -> Self {
        self.raw.set_made(Location::caller());
        self
    }

    /// Tells the profiler the dims of the tensor.
    #[cold]
    pub(crate) fn named(&self, of: &Static) {
        let names = names(self.wild.as_deref(), of);
        profile::named(&names, self.raw.shape(), self.raw.as_ptr().addr());
    }

    /// Replaces the elements; the recorded origin stays.
    pub(crate) fn replace_elements(&mut self, raw: Raw) {
        let made = self.raw.created_at();
        self.raw = raw;
        if let Some(at) = made {
            self.raw.set_made(at);
        }
    }

    #[inline]
    pub(crate) fn erased(&self, of: &'static Static) -> ErasedRef<'_> {
        ErasedRef {
            raw: &self.raw,
            wild: self.wild.as_deref(),
            of,
        }
    }

    /// Returns the tensor as an operand.
    #[inline]
    pub(crate) fn as_operand(&self, of: &'static Static) -> OperandRef<'_> {
        OperandRef::Tensor(self.erased(of))
    }

    /// Returns the destination of an in-place operator; copies the buffer first if it is shared.
    pub(crate) fn dest(&mut self, of: &'static Static) -> Result<Dest<'_>> {
        Ok(Dest {
            raw: self.raw.as_mut()?,
            wild: &mut self.wild,
            of,
        })
    }

    /// Returns whether the dtype and the dims are those of a type.
    pub(crate) fn fits(&self, of: &Static, dtype: DType) -> bool {
        self.raw.dtype() == dtype
            && self.raw.rank() == of.names.len()
            && self
                .wild
                .as_ref()
                .is_none_or(|names| of.wild && names.len() == of.names.len())
    }
}

/// The destination of an in-place operator: a whole tensor or a part of one.
#[derive(Debug)]
pub(crate) struct Dest<'a> {
    pub(crate) raw: RawMut<'a>,
    pub(crate) wild: &'a mut Wilds,
    pub(crate) of: &'static Static,
}

impl<'a> Dest<'a> {
    /// Writes the elements, then sets the names to `now`. An error shows this tensor, then
    /// `others`.
    pub(crate) fn write<'b>(
        self,
        others: impl IntoIterator<Item = ErasedRef<'b>>,
        now: Wilds,
        write: impl FnOnce(RawMut<'a>) -> Result<()>,
    ) -> Result<()> {
        let Dest { raw, wild, of } = self;
        let made = raw.created_at();
        let seen = profile::is_on().then(|| (names(wild.as_deref(), of), raw.shape().to_vec()));
        if let Err(error) = write(raw) {
            let own = Blamed {
                names: names(wild.as_deref(), of),
                shape: &[],
                made,
            };
            let others = others.into_iter().map(ErasedRef::blamed);
            return Err(explain_with(error, std::iter::once(own).chain(others)));
        }
        if let Some((names, shape)) = seen {
            profile::written(&names, &shape);
        }
        if of.wild {
            *wild = now;
        }
        Ok(())
    }

    pub(crate) fn names(&self) -> Names {
        names(self.wild.as_deref(), self.of)
    }

    /// Adds names and sizes to the error of a rule: first those of this tensor, then the others'.
    #[cold]
    pub(crate) fn blame(&self, error: Error, others: &[ErasedRef<'_>]) -> Error {
        let own = Blamed {
            names: self.names(),
            shape: self.raw.shape(),
            made: self.raw.created_at(),
        };
        let others = others.iter().map(|x| x.blamed());
        explain_with(error, std::iter::once(own).chain(others))
    }
}

/// An operand: a tensor or a number.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum OperandRef<'a> {
    /// A tensor.
    Tensor(ErasedRef<'a>),
    /// A number.
    Scalar(Scalar),
}

impl<'a> OperandRef<'a> {
    #[inline]
    pub(crate) fn arg(&self) -> Arg<'a> {
        match *self {
            OperandRef::Tensor(x) => Arg::Tensor(x.raw),
            OperandRef::Scalar(value) => Arg::Scalar(value),
        }
    }

    /// Returns whether some names are not known to the types.
    #[inline]
    pub(crate) fn is_wild(&self) -> bool {
        matches!(self, OperandRef::Tensor(x) if x.of.wild)
    }

    /// Returns whether results computed from it are recorded.
    #[inline]
    pub(crate) fn is_recorded(&self) -> bool {
        matches!(self, OperandRef::Tensor(x) if x.raw.requires_grad())
    }

    pub(crate) fn erased(&self) -> Option<ErasedRef<'a>> {
        match *self {
            OperandRef::Tensor(x) => Some(x),
            OperandRef::Scalar(_) => None,
        }
    }
}

/// An operand whose buffer the call may take.
#[doc(hidden)]
#[derive(Debug)]
pub enum MaybeOwned<'a> {
    /// A borrowed tensor, or a number.
    Lent(OperandRef<'a>),
    /// A tensor passed by value.
    Own(Erased, &'static Static),
}

impl MaybeOwned<'_> {
    #[inline]
    pub(crate) fn as_operand(&self) -> OperandRef<'_> {
        match self {
            Self::Lent(side) => *side,
            Self::Own(erased, of) => erased.as_operand(of),
        }
    }
}

/// Returns the run-time names of a result with dims `of`, if a `Wild` dim has one.
pub(crate) fn wilds(names: Names, of: &Static) -> Wilds {
    let named = of
        .names
        .iter()
        .zip(&names)
        .any(|(known, name)| known.is_none() && name.is_some());
    (of.wild && named).then(|| Box::new(names))
}

/// Adds missing names and sizes of the operands to an error from below: kernels see no names, rules
/// no sizes.
#[cold]
pub(crate) fn explain(error: Error, operands: &[ErasedRef<'_>]) -> Error {
    explain_with(error, operands.iter().map(|x| x.blamed()))
}

/// The description of an operand in an error.
pub(crate) struct Blamed<'a> {
    pub(crate) names: Names,
    pub(crate) shape: &'a [usize],
    pub(crate) made: Option<&'static Location<'static>>,
}

/// Like [`explain`], but for descriptions of operands. An error about memory describes those for which there is memory.
#[cold]
pub(crate) fn explain_with<'a>(
    error: Error,
    operands: impl IntoIterator<Item = Blamed<'a>>,
) -> Error {
    let mut all: Vec<Blamed<'_>> = Vec::new();
    for operand in operands {
        if all.try_reserve(1).is_err() {
            break;
        }
        all.push(operand);
    }
    error
        .with_names(all.iter().map(|x| &x.names))
        .with_shapes(all.iter().map(|x| x.shape))
        .made_at(all.iter().map(|x| (&x.names, x.shape, x.made)))
}

/// Computes with `f32` as the default float dtype. Types always assume `f32`, independent of
/// [`config::with_default_dtype`], which applies to `DynTensor`.
#[inline]
pub(crate) fn typed<V>(compute: impl FnOnce() -> V) -> V {
    if config::default_dtype() == DType::F32 {
        compute()
    } else {
        config::with_default_dtype(DType::F32, compute)
    }
}

/// Returns the tensor, or panics at the caller's line with the text of the error.
#[track_caller]
#[inline]
pub(crate) fn done(result: Result<Erased>) -> Erased {
    match result {
        Ok(erased) => erased,
        Err(error) => fail(&error),
    }
}

/// Like [`done`], but for other values than tensors.
#[track_caller]
#[inline(always)]
pub(crate) fn ok<V>(result: Result<V>) -> V {
    match result {
        Ok(value) => value,
        Err(error) => fail(&error),
    }
}

#[cold]
#[track_caller]
fn fail(error: &Error) -> ! {
    panic!("{error}")
}
