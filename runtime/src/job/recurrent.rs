//! Recurrent layers.

use crate::SmallVec;

/// The step of a recurrent layer: its gates, in the order of their rows in a weight, and how they make the next state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecurrentKind {
    /// Hochreiter and Schmidhuber's, with the gates input, output, forget and candidate.
    Lstm,
    /// Cho's, with the gates update, reset and candidate; the reset applies to the weighted state.
    Gru,
}

impl RecurrentKind {
    /// Returns the number of gates.
    pub(crate) fn gates(self) -> usize {
        match self {
            Self::Lstm => 4,
            Self::Gru => 3,
        }
    }
}

/// All steps of a recurrent layer of `f32`. Everything is row-major.
pub(crate) struct RecurrentJob {
    pub(crate) kind: RecurrentKind,
    pub(crate) time: usize,
    pub(crate) batch: usize,
    pub(crate) hidden: usize,
    pub(crate) directions: SmallVec<[DirectionJob; 2]>,
    /// Hidden states: steps, directions, batch, elements.
    pub(crate) outputs: *mut f32,
}

/// One direction of a recurrent layer.
pub(crate) struct DirectionJob {
    /// The weighted inputs: steps, batch, gates times elements.
    pub(crate) gates: *const f32,
    /// The weight of the state: gates times elements, elements.
    pub(crate) weight: *const f32,
    pub(crate) bias: Option<*const f32>,
    /// The first hidden state, and afterwards the last.
    pub(crate) hidden: *mut f32,
    /// The cell state, likewise; not used by a GRU.
    pub(crate) cell: *mut f32,
    /// Whether the steps begin with the last.
    pub(crate) reverse: bool,
}

// SAFETY: contains only addresses and numbers; each direction is one task, which has its own states and results.
unsafe impl Sync for RecurrentJob {}
