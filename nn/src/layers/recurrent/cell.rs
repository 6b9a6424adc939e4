//! The steps of recurrent layers.

use nomina::Result;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Node};

/// The kind of a recurrent layer: [`RnnCell`], [`LstmCell`] or [`GruCell`].
pub trait RecurrentCell: Step + Clone + Default {}
impl<K: Step + Clone + Default> RecurrentCell for K {}

/// The state of rows between two positions.
#[derive(Clone)]
pub struct StepState {
    /// The hidden state, which is also the output.
    pub hidden: Raw,
    /// The cell state of an LSTM.
    pub cell: Option<Raw>,
}

impl StepState {
    /// Applies `change` to each tensor.
    pub fn try_map(&self, change: impl Fn(&Raw) -> Result<Raw>) -> Result<Self> {
        Ok(Self {
            hidden: change(&self.hidden)?,
            cell: self.cell.as_ref().map(change).transpose()?,
        })
    }

    /// Joins states to one by `join`, in order.
    pub fn try_join(states: &[Self], join: impl Fn(&[&Raw]) -> Result<Raw>) -> Result<Self> {
        if let [only] = states {
            return Ok(only.clone());
        }
        let hidden: Vec<&Raw> = states.iter().map(|state| &state.hidden).collect();
        let cells: Vec<&Raw> = states
            .iter()
            .filter_map(|state| state.cell.as_ref())
            .collect();
        Ok(Self {
            hidden: join(&hidden)?,
            cell: (!cells.is_empty()).then(|| join(&cells)).transpose()?,
        })
    }
}

/// The step of a kind of layer. Public only as a bound of [`RecurrentCell`].
pub trait Step {
    /// The number of gates.
    const GATES: usize;
    /// Whether the state has a cell beside the hidden state.
    const HAS_CELL: bool;
    /// Computes the next state from the gates of the input, the gates of the state, and the state.
    ///
    /// # Errors
    /// If an allocation fails.
    fn step(&self, next: &[Raw], own: &[Raw], state: &StepState) -> Result<StepState>;
}

/// The steps of an [`Rnn`](super::Rnn), by its nonlinearity. Elman, "Finding Structure in Time".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RnnCell {
    /// The hyperbolic tangent.
    #[default]
    Tanh,
    /// Negative values become zero.
    Relu,
}

/// The steps of an [`Lstm`](super::Lstm).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LstmCell;

/// The steps of a [`Gru`](super::Gru).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GruCell;

use Node::Apply;

/// Computes a program: `nodes`, whose indices follow those of the operands.
fn fused<const N: usize>(operands: [&Raw; N], nodes: &[Node<'_>]) -> Result<Raw> {
    let mut program = [Node::Tensor(0); 20];
    let len = N + nodes.len();
    for (at, node) in program[..N].iter_mut().enumerate() {
        *node = Node::Tensor(at);
    }
    program[N..len].copy_from_slice(nodes);
    call::fused(&program[..len], &operands, &[])
}

impl Step for RnnCell {
    const GATES: usize = 1;
    const HAS_CELL: bool = false;

    /// Computes `h = tanh(x + h')`, or `relu`.
    fn step(&self, next: &[Raw], own: &[Raw], _: &StepState) -> Result<StepState> {
        let function = match self {
            Self::Tanh => Op::Tanh,
            Self::Relu => Op::Relu,
        };
        let program = [Apply(Op::Add, &[0, 1]), Apply(function, &[2])];
        let hidden = fused([&next[0], &own[0]], &program)?;
        Ok(StepState { hidden, cell: None })
    }
}

impl Step for LstmCell {
    const GATES: usize = 4;
    const HAS_CELL: bool = true;

    /// Computes `c = σ(f) c + σ(i) tanh(g)`, `h = σ(o) tanh(c)`.
    fn step(&self, next: &[Raw], own: &[Raw], state: &StepState) -> Result<StepState> {
        let kept = [
            Apply(Op::Add, &[0, 1]),
            Apply(Op::Sigmoid, &[7]),
            Apply(Op::Add, &[2, 3]),
            Apply(Op::Sigmoid, &[9]),
            Apply(Op::Add, &[4, 5]),
            Apply(Op::Tanh, &[11]),
            Apply(Op::Mul, &[10, 6]),
            Apply(Op::Mul, &[8, 12]),
            Apply(Op::Add, &[13, 14]),
        ];
        let cell = state.cell.as_ref().unwrap_or(&state.hidden);
        let operands = [
            &next[0], &own[0], &next[1], &own[1], &next[2], &own[2], cell,
        ];
        let cell = fused(operands, &kept)?;
        let outputs = [
            Apply(Op::Add, &[0, 1]),
            Apply(Op::Sigmoid, &[3]),
            Apply(Op::Tanh, &[2]),
            Apply(Op::Mul, &[4, 5]),
        ];
        let hidden = fused([&next[3], &own[3], &cell], &outputs)?;
        let cell = Some(cell);
        Ok(StepState { hidden, cell })
    }
}

impl Step for GruCell {
    const GATES: usize = 3;
    const HAS_CELL: bool = false;

    /// Computes `n = tanh(nₓ + σ(r) nₕ)`, `h = n + σ(z) (h - n)`.
    fn step(&self, next: &[Raw], own: &[Raw], state: &StepState) -> Result<StepState> {
        let program = [
            Apply(Op::Add, &[0, 1]),
            Apply(Op::Sigmoid, &[7]),
            Apply(Op::Mul, &[8, 5]),
            Apply(Op::Add, &[4, 9]),
            Apply(Op::Tanh, &[10]),
            Apply(Op::Add, &[2, 3]),
            Apply(Op::Sigmoid, &[12]),
            Apply(Op::Sub, &[6, 11]),
            Apply(Op::Mul, &[13, 14]),
            Apply(Op::Add, &[11, 15]),
        ];
        let operands = [
            &next[0],
            &own[0],
            &next[1],
            &own[1],
            &next[2],
            &own[2],
            &state.hidden,
        ];
        let hidden = fused(operands, &program)?;
        Ok(StepState { hidden, cell: None })
    }
}
