//! The operator table: one row per operator, with the opsets it covers, how dims flow through it, how
//! it runs, and how it is spelled in Rust.
//!
//! Rows are in [`crate::ops`], a file per family.

use nomina::DynTensor;
use nomina_core::Result;

use crate::call::{Call, Value, Values, reshape};
use crate::emit::spell::Emit;
use crate::graph::{Node, Operator};
use crate::names::flow::Flow;

/// The newest opset of ONNX whose operators the rows know.
pub const NEWEST_OPSET: i64 = 28;

/// The computation of an operator.
#[derive(Clone, Copy)]
pub enum Run {
    /// One input, one output.
    Unary(fn(&DynTensor) -> Result<DynTensor>),
    /// Two inputs, one output.
    Binary(fn(&DynTensor, &DynTensor) -> Result<DynTensor>),
    /// Any inputs and attributes, one output.
    Single(fn(&Call<'_>) -> Result<DynTensor>),
    /// Any inputs and attributes, several tensors.
    Tensors(fn(&Call<'_>) -> Result<Vec<DynTensor>>),
    /// Values that may be sequences, or come from graphs inside.
    Values(fn(&Call<'_>) -> Result<Vec<Value>>),
}

/// An operator.
#[derive(Clone, Copy)]
pub struct Row {
    /// The operator's name in ONNX.
    pub name: &'static str,
    /// The domain; empty for ONNX's own.
    pub domain: &'static str,
    /// The first opset that the row covers.
    pub since: i64,
    /// The last opset that the row covers.
    pub until: i64,
    /// How dims flow from inputs to outputs.
    pub flow: Flow,
    /// How it runs.
    pub run: Run,
    /// How it is spelled in Rust.
    pub emit: Emit,
    /// Whether it may be computed when the model is opened: its result depends on its inputs alone.
    pub foldable: bool,
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}..={}", self.name, self.since, self.until)
    }
}

impl Row {
    /// An operator of ONNX's own domain that is there since opset `since`.
    pub const fn new(name: &'static str, since: i64, flow: Flow, run: Run) -> Self {
        Self {
            name,
            domain: "",
            since,
            until: NEWEST_OPSET,
            flow,
            run,
            emit: Emit::Refused,
            foldable: true,
        }
    }

    /// Ends the row at an opset, after which the operator has another meaning.
    pub const fn until(mut self, opset: i64) -> Self {
        self.until = opset;
        self
    }

    /// States how the operator is spelled in Rust.
    pub const fn emit(mut self, emit: Emit) -> Self {
        self.emit = emit;
        self
    }

    /// Moves the row to another domain.
    pub const fn domain(mut self, domain: &'static str) -> Self {
        self.domain = domain;
        self
    }

    /// States that results depend on more than the inputs.
    pub const fn not_foldable(mut self) -> Self {
        self.foldable = false;
        self
    }
}

impl Operator for Row {
    fn name(&self) -> &'static str {
        self.name
    }

    fn flow(&self) -> Flow {
        self.flow
    }

    fn is_foldable(&self) -> bool {
        self.foldable
    }

    fn run<'a>(
        &self,
        node: &'a Node,
        inputs: Vec<Option<&'a Value>>,
        values: &'a Values,
    ) -> Result<Vec<Value>> {
        let call = &Call {
            node,
            op: self.name,
            inputs,
            values,
        };
        match self.run {
            Run::Unary(run) => call.x(0).and_then(run).map(single),
            Run::Binary(run) => binary(call, run).map(single),
            Run::Single(run) => run(call).map(single),
            Run::Tensors(run) => run(call).map(|all| all.into_iter().map(Value::Tensor).collect()),
            Run::Values(run) => run(call),
        }
    }
}

/// Before opset 7, `axis` is the dim of the left operand at which the right one begins.
fn binary(
    call: &Call<'_>,
    run: fn(&DynTensor, &DynTensor) -> Result<DynTensor>,
) -> Result<DynTensor> {
    let (a, b) = (call.x(0)?, call.x(1)?);
    let Some(axis) = call.maybe_int("axis")?.filter(|_| call.opset() < 7) else {
        return run(a, b);
    };
    let after = a.rank() - call.axis(axis, a.rank())?;
    call.require(after >= b.rank(), "the right operand has too many dims")?;
    let shape = [b.shape(), &vec![1; after - b.rank()]].concat();
    run(a, &reshape(b, &shape)?)
}

fn single(tensor: DynTensor) -> Vec<Value> {
    vec![Value::Tensor(tensor)]
}
