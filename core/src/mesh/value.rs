//! The placement rules by value: the counterparts of [`State`](super::State) and its checks on
//! types.

use alloc::vec::Vec;

use super::combine::Combine;
use super::fault::Fault;
use crate::{Error, ErrorKind, Name, Names, Result};

/// A state whose dim has a name known at compile time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StaticPlace {
    /// [`super::Whole`].
    Whole,
    /// [`super::Synced`].
    Synced,
    /// [`super::Split`] by the dim of this name.
    Split(Option<&'static str>),
    /// [`super::Pending`].
    Pending(Combine),
    /// [`super::Own`].
    Own,
}

/// The state of a tensor along one axis of a mesh.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Equal pieces that each rank uses differently.
    Whole,
    /// Equal pieces that all ranks use equally.
    Synced,
    /// Pieces that are consecutive along a dim.
    Split(Name),
    /// Pieces whose combination is the value.
    Pending(Combine),
    /// Unrelated pieces.
    Own,
}

/// A class of operators, by the pending operands they accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The sum of two operands.
    SumOfTwo,
    /// The product of two operands.
    ProductOfTwo,
    /// The quotient of two operands.
    QuotientOfTwo,
    /// Any other operator with two or more operands.
    Pointwise,
}

/// A fault, and the dims it refers to.
pub type Wrong = (Fault, Vec<Name>);

/// The outcome of a check.
pub type Verdict = Result<(), Wrong>;

const fn no(fault: Fault) -> Verdict {
    Err((fault, Vec::new()))
}

fn no_dim(fault: Fault, dim: &Name) -> Verdict {
    Err((fault, Vec::from([dim.clone()])))
}

fn has(dims: &Names, name: &Name) -> bool {
    dims.iter().flatten().any(|dim| dim == name)
}

/// Builds the error of a fault along a mesh axis.
#[must_use]
pub fn error(op: &'static str, axis: &str, (fault, dims): &Wrong) -> Error {
    let name = |at: usize| dims.get(at).map_or("", Name::as_str);
    let (what, hint) = fault.texts(axis, [name(0), name(1)]);
    Error::new(ErrorKind::Mesh, op, what).hint(hint)
}

impl Combine {
    fn linear(self) -> Verdict {
        if self == Self::Add {
            Ok(())
        } else {
            no(Fault::StillPending)
        }
    }
}

impl Mode {
    fn whole_and_pending(self, combine: Combine) -> Verdict {
        match self {
            Self::SumOfTwo => no(Fault::PendingBesideWhole),
            Self::ProductOfTwo => combine.linear(),
            Self::QuotientOfTwo | Self::Pointwise => no(Fault::StillPending),
        }
    }

    fn pending_and_whole(self, combine: Combine) -> Verdict {
        match self {
            Self::QuotientOfTwo => combine.linear(),
            mode => mode.whole_and_pending(combine),
        }
    }

    fn split_and_pending(self, dim: &Name) -> Verdict {
        match self {
            Self::SumOfTwo | Self::ProductOfTwo | Self::QuotientOfTwo => {
                no_dim(Fault::PendingBesideSplit, dim)
            }
            Self::Pointwise => no(Fault::StillPending),
        }
    }

    fn pending_twice(self, one: Combine, other: Combine) -> Verdict {
        match self {
            Self::SumOfTwo => one.linear().and_then(|()| other.linear()),
            Self::ProductOfTwo => no(Fault::BothPending),
            Self::QuotientOfTwo | Self::Pointwise => no(Fault::StillPending),
        }
    }
}

impl Place {
    /// Returns the state of the gradient.
    #[must_use]
    pub fn dual(&self) -> Self {
        match self {
            Self::Whole => Self::Pending(Combine::Add),
            Self::Pending(_) => Self::Whole,
            same => same.clone(),
        }
    }

    /// Returns the state of the result of operands in this state and `other`, if they can be
    /// combined.
    #[must_use]
    pub fn join(&self, other: &Self) -> Self {
        match self {
            Self::Whole => other.clone(),
            this => this.clone(),
        }
    }

    /// Returns the state after each rank has combined `dims`.
    #[must_use]
    pub fn across(&self, dims: &Names, combine: Combine) -> Self {
        match self {
            Self::Split(dim) if has(dims, dim) => Self::Pending(combine),
            this => this.clone(),
        }
    }

    /// Returns the split dim.
    #[must_use]
    pub fn dim(&self) -> Option<&Name> {
        match self {
            Self::Split(dim) => Some(dim),
            _ => None,
        }
    }

    /// Returns whether one of the dims is split.
    #[must_use]
    pub fn splits_in(&self, dims: &Names) -> bool {
        self.dim().is_some_and(|dim| has(dims, dim))
    }

    /// Checks that a tensor of dims `dims` in this state can be combined with one of dims `others`
    /// in state `other`.
    ///
    /// # Errors
    /// Returns the fault if they cannot be combined.
    pub fn beside(&self, mode: Mode, other: &Self, dims: &Names, others: &Names) -> Verdict {
        match (self, other) {
            (Self::Own, Self::Own) | (Self::Synced, Self::Synced) | (Self::Whole, Self::Whole) => {
                Ok(())
            }
            (Self::Own, _) | (_, Self::Own) => no(Fault::OwnBeside),
            (Self::Synced, _) | (_, Self::Synced) => no(Fault::SyncedBeside),
            (Self::Whole, Self::Split(dim)) if has(dims, dim) => {
                no_dim(Fault::SplitBesideWhole, dim)
            }
            (Self::Split(dim), Self::Whole) if has(others, dim) => {
                no_dim(Fault::SplitBesideWhole, dim)
            }
            (Self::Whole, Self::Split(_)) | (Self::Split(_), Self::Whole) => Ok(()),
            (Self::Split(one), Self::Split(other)) if one == other => Ok(()),
            (Self::Split(one), Self::Split(other)) => {
                Err((Fault::SplitApart, Vec::from([one.clone(), other.clone()])))
            }
            (Self::Whole, Self::Pending(combine)) => mode.whole_and_pending(*combine),
            (Self::Pending(combine), Self::Whole) => mode.pending_and_whole(*combine),
            (Self::Split(dim), Self::Pending(_)) | (Self::Pending(_), Self::Split(dim)) => {
                mode.split_and_pending(dim)
            }
            (Self::Pending(one), Self::Pending(other)) => mode.pending_twice(*one, *other),
        }
    }

    /// Checks that a tensor in this state can be combined with a number.
    ///
    /// # Errors
    /// Returns the fault if they cannot be combined.
    pub fn with_number(&self, mode: Mode) -> Verdict {
        match mode {
            Mode::SumOfTwo | Mode::Pointwise => self.finished(),
            Mode::ProductOfTwo | Mode::QuotientOfTwo => self.linear(),
        }
    }

    /// Checks that a nonlinear operation is allowed.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn finished(&self) -> Verdict {
        match self {
            Self::Pending(_) => no(Fault::StillPending),
            _ => Ok(()),
        }
    }

    /// Checks that a linear operation is allowed.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn linear(&self) -> Verdict {
        match self {
            Self::Pending(combine) => combine.linear(),
            _ => Ok(()),
        }
    }

    /// Checks that each rank has all of the dims.
    ///
    /// # Errors
    /// Returns the fault if one is split.
    pub fn has_all(&self, dims: &Names) -> Verdict {
        match self {
            Self::Split(dim) if has(dims, dim) => no_dim(Fault::IsSplit, dim),
            _ => Ok(()),
        }
    }

    /// Like [`has_all`](Self::has_all), for an operator that has a form with `via`.
    ///
    /// # Errors
    /// Returns the fault if a dim is split.
    pub fn has_every(&self, dims: &Names) -> Verdict {
        self.has_all(dims)
            .map_err(|(_, dims)| (Fault::IsSplitVia, dims))
    }

    /// Checks that this dim is split.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn splits(&self, dim: &Name) -> Verdict {
        if self.dim() == Some(dim) {
            Ok(())
        } else {
            no_dim(Fault::NotSplitThere, dim)
        }
    }

    /// Checks that only the first of the dims, which are to be flattened, is split.
    ///
    /// # Errors
    /// Returns the fault if another one is split.
    pub fn splits_first(&self, dims: &Names, first: &Names) -> Verdict {
        match self {
            Self::Split(dim) if has(dims, dim) && !has(first, dim) => {
                no_dim(Fault::SplitBehind, dim)
            }
            _ => Ok(()),
        }
    }

    /// Checks that the dims are split in both states or in neither.
    ///
    /// # Errors
    /// Returns the fault if they are split in one only.
    pub fn across_both(&self, other: &Self, dims: &Names) -> Verdict {
        match (self, other) {
            (one, other) if one.splits_in(dims) == other.splits_in(dims) => Ok(()),
            (Self::Split(dim), _) | (_, Self::Split(dim)) => no_dim(Fault::SplitInOne, dim),
            _ => Ok(()),
        }
    }

    /// Checks that the state is pending.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn pending(&self) -> Verdict {
        match self {
            Self::Pending(_) => Ok(()),
            _ => no(Fault::NothingPending),
        }
    }

    /// Checks that a dim is split.
    ///
    /// # Errors
    /// Returns the fault if none is.
    pub fn split(&self) -> Verdict {
        match self {
            Self::Split(_) => Ok(()),
            _ => no(Fault::NothingSplit),
        }
    }

    /// Checks that the state is whole or synced.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn whole(&self) -> Verdict {
        match self {
            Self::Whole | Self::Synced => Ok(()),
            _ => no(Fault::NothingWhole),
        }
    }

    /// Checks that the state is whole, and not synced.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn plain(&self) -> Verdict {
        match self {
            Self::Whole => Ok(()),
            _ => no(Fault::NothingWhole),
        }
    }

    /// Checks that the state is synced.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn synced(&self) -> Verdict {
        match self {
            Self::Synced => Ok(()),
            _ => no(Fault::NothingSynced),
        }
    }

    /// Checks that the state is each rank's own.
    ///
    /// # Errors
    /// Returns the fault if it is not.
    pub fn own(&self) -> Verdict {
        match self {
            Self::Own => Ok(()),
            _ => no(Fault::NothingOwn),
        }
    }

    /// Checks that a gradient may start here.
    ///
    /// # Errors
    /// Returns the fault if it may not.
    pub fn loss(&self) -> Verdict {
        match self {
            Self::Synced => Ok(()),
            Self::Pending(combine) => combine.linear(),
            Self::Whole => no(Fault::LossIsWhole),
            Self::Split(dim) => no_dim(Fault::IsSplit, dim),
            Self::Own => no(Fault::OwnBeside),
        }
    }
}

impl StaticPlace {
    /// Converts to a [`Place`]. A split dim without a name becomes [`Place::Own`].
    #[must_use]
    pub fn place(self) -> Place {
        match self {
            Self::Whole => Place::Whole,
            Self::Synced => Place::Synced,
            Self::Split(name) => {
                name.map_or(Place::Own, |name| Place::Split(Name::from_static(name)))
            }
            Self::Pending(combine) => Place::Pending(combine),
            Self::Own => Place::Own,
        }
    }
}
