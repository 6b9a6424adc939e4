//! Recurrent layers at run time: rows in packed order, as in PyTorch's `PackedSequence`.

use nomina::{DType, DynTensor, Error, ErrorKind, Names, Result};
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call;
use nomina_runtime::grad::custom;
use nomina_runtime::memory::list;
use nomina_runtime::tensor::about;

use super::cell::{Step, StepState};
use crate::call::dropped;

const OP: &str = "recurrent";

/// The weights of one layer in one direction.
#[derive(Clone)]
pub(super) struct LayerWeights {
    pub input: DynTensor,
    pub hidden: DynTensor,
    pub input_bias: Option<DynTensor>,
    pub hidden_bias: Option<DynTensor>,
    pub projection: Option<DynTensor>,
}

impl LayerWeights {
    fn all(&self) -> impl Iterator<Item = &DynTensor> {
        let rest = [&self.input_bias, &self.hidden_bias, &self.projection];
        [&self.input, &self.hidden]
            .into_iter()
            .chain(rest.into_iter().flatten())
    }
}

/// The arguments of a call.
pub(super) struct RecurrentCall<'a> {
    pub x: &'a DynTensor,
    /// The positions in `x` of the sequence and of the inputs.
    pub sequence: usize,
    pub inputs: usize,
    /// By layer, then by direction.
    pub layers: &'a [Vec<LayerWeights>],
    /// By layer: the hidden state and the cell.
    pub state: Option<&'a [(DynTensor, Option<DynTensor>)]>,
    /// The number of valid positions of each sequence.
    pub lengths: Option<&'a DynTensor>,
    /// The fraction of inputs of each further layer that is dropped.
    pub dropout: f64,
}

/// The outputs, and the state of each layer after the last valid position.
pub(super) struct Outcome {
    pub outputs: Raw,
    pub states: Vec<StepState>,
}

/// Sequences of different lengths as packed rows: position by position, those of longer sequences first.
struct Packed {
    /// The number of sequences that have each position.
    counts: Vec<usize>,
    /// The indices that order rows, absent if all sequences are whole.
    indices: Option<Indices>,
}

struct Indices {
    /// The packed rows among all rows, which are ordered by position.
    gather: Raw,
    /// The reverse: the row after the last packed one is for positions behind a sequence's end.
    scatter: Raw,
    /// The sequences in order of decreasing length, and the reverse.
    order: Raw,
    inverse: Raw,
}

impl Packed {
    fn whole(len: usize, rows: usize) -> Self {
        Self {
            counts: vec![rows; len],
            indices: None,
        }
    }

    fn new(len: usize, lengths: &[usize], near: &DynTensor) -> Result<Self> {
        let rows = lengths.len();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(lengths[row]));
        let mut inverse = vec![0; rows];
        for (place, &row) in order.iter().enumerate() {
            inverse[row] = place;
        }
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let count = |at| lengths.iter().filter(|&&length| length > at).count();
        let counts: Vec<usize> = (0..longest).map(count).collect();
        let total: usize = counts.iter().sum();
        let (mut gather, mut scatter) = (list(OP, [total])?, list(OP, [len, rows])?);
        let mut first = 0;
        for at in 0..len {
            let count = counts.get(at).copied().unwrap_or(0);
            gather.extend(order[..count].iter().map(|&row| at * rows + row));
            let place = |&place: &usize| if place < count { first + place } else { total };
            scatter.extend(inverse.iter().map(place));
            first += count;
        }
        let index = |list: Vec<usize>| -> Result<Raw> {
            let list: Vec<i64> = list.into_iter().map(|at| at as i64).collect();
            let index = DynTensor::from_vec(list.clone(), &[list.len()], ())?;
            Ok(index.to_device(near.device())?.into_parts().0)
        };
        Ok(Self {
            counts,
            indices: Some(Indices {
                gather: index(gather)?,
                scatter: index(scatter)?,
                order: index(order)?,
                inverse: index(inverse)?,
            }),
        })
    }

    /// Selects rows by an index, if sequences are packed.
    fn select(&self, x: &Raw, index: impl Fn(&Indices) -> &Raw) -> Result<Raw> {
        match &self.indices {
            None => Ok(x.clone()),
            Some(indices) => call::index_select(Op::IndexSelect, x, 0, index(indices)),
        }
    }
}

/// Returns the lengths of all sequences, in the order of `batch`, the batch dims of `x`.
fn read_lengths(
    run: &RecurrentCall<'_>,
    batch: &[usize],
    sizes: &[usize],
) -> Result<Option<Vec<usize>>> {
    let Some(lengths) = run.lengths else {
        return Ok(None);
    };
    let at = |error: Error| about(error, &[run.x, lengths]);
    let place = |&dim: &usize| lengths.names().position(run.x.names()[dim].as_ref()?);
    let places: Vec<Option<usize>> = batch.iter().map(place).collect();
    let all = lengths.raw().align(&places).map_err(at)?;
    let all = all.expand(sizes).map_err(at)?;
    let all = DynTensor::from_parts(all, Names::unnamed(sizes.len()))?;
    let all = all.to_dtype(DType::I64)?.to_vec::<i64>()?;
    let len = run.x.shape()[run.sequence];
    let valid = |length: i64| usize::try_from(length).ok().filter(|&length| length <= len);
    let found: Option<Vec<usize>> = all.iter().copied().map(valid).collect();
    found.map(Some).ok_or_else(|| {
        let wrong = all.iter().copied().find(|&length| valid(length).is_none());
        let wrong = wrong.unwrap_or_default();
        let what =
            format!("the length {wrong} is not between 0 and the sequence's {len} positions");
        at(Error::new(ErrorKind::Argument, OP, what)
            .hint("give the number of valid positions of each sequence"))
    })
}

/// Runs all layers.
pub(super) fn run<K: Step>(cell: &K, run: &RecurrentCall<'_>) -> Result<Outcome> {
    let (x, weights) = (run.x, &run.layers[0][0]);
    let at = |error: Error| about(error, &[x, &weights.input]);
    let batch: Vec<usize> = (0..x.rank())
        .filter(|&dim| dim != run.sequence && dim != run.inputs)
        .collect();
    let sizes: Vec<usize> = batch.iter().map(|&dim| x.shape()[dim]).collect();
    let rows = sizes
        .iter()
        .fold(1, |all: usize, &size| all.saturating_mul(size));
    let (len, inputs) = (x.shape()[run.sequence], x.shape()[run.inputs]);
    let last = weights.input.rank() - 1;
    if inputs != weights.input.shape()[last] {
        let shapes = [x.shape(), weights.input.shape()];
        return Err(at(Error::sizes(OP, shapes, [(0, run.inputs), (1, last)])));
    }
    let lengths = read_lengths(run, &batch, &sizes)?;
    let packed = match &lengths {
        None => Packed::whole(len, rows),
        Some(lengths) => Packed::new(len, lengths, x).map_err(at)?,
    };
    let order = [&[run.sequence][..], &batch, &[run.inputs]].concat();
    let ordered = x.raw().permute(&order).map_err(at)?;
    let ordered = ordered.reshape(&[len.saturating_mul(rows), inputs]);
    let ordered = ordered.map_err(at)?;
    let mut data = packed
        .select(&ordered, |indices| &indices.gather)
        .map_err(at)?;
    let mut states = Vec::new();
    for (layer, directions) in run.layers.iter().enumerate() {
        if layer > 0 && run.dropout > 0.0 {
            data = dropped(data, run.dropout)?;
        }
        let starts = starts::<K>(run, layer, &sizes, rows)?;
        let (mut outputs, mut lasts) = (Vec::new(), Vec::new());
        for (direction, (weights, start)) in directions.iter().zip(starts).enumerate() {
            let start = start.try_map(|raw| packed.select(raw, |indices| &indices.order));
            let (output, last) =
                steps(cell, &data, weights, &packed.counts, start?, direction == 1).map_err(at)?;
            outputs.push(output);
            lasts.push(last.try_map(|raw| packed.select(raw, |indices| &indices.inverse))?);
        }
        data = match &outputs[..] {
            [only] => only.clone(),
            all => call::cat(&all.iter().collect::<Vec<_>>(), 1).map_err(at)?,
        };
        let joined = StepState::try_join(&lasts, |raws| call::stack(raws, 1)).map_err(at)?;
        states
            .push(joined.try_map(|raw| raw.reshape(&state_sizes(&sizes, directions.len(), raw)))?);
    }
    if packed.indices.is_some() {
        let beyond = Raw::zeros(OP, &[1, data.shape()[1]], data.dtype(), data.device())?;
        data = call::cat(&[&data, &beyond], 0).map_err(at)?;
        data = packed
            .select(&data, |indices| &indices.scatter)
            .map_err(at)?;
    }
    let directions = run.layers[0].len();
    let width = data.shape()[1] / directions;
    let split: &[usize] = if directions == 1 {
        &[width]
    } else {
        &[directions, width]
    };
    let outputs = data
        .reshape(&[&[len][..], &sizes, split].concat())
        .map_err(at)?;
    // Moves the sequence back to its place, among the dims without the inputs.
    let place = run.sequence - usize::from(run.inputs < run.sequence);
    let order: Vec<usize> = (1..=place)
        .chain([0])
        .chain(place + 1..outputs.rank())
        .collect();
    let mut outputs = outputs.permute(&order).map_err(at)?;
    if packed.counts.is_empty() {
        let weights = run.layers.iter().flatten().flat_map(LayerWeights::all);
        let others: Vec<&Raw> = [x].into_iter().chain(weights).map(DynTensor::raw).collect();
        outputs = with_dependencies(&outputs, &others).map_err(at)?;
        for state in &mut states {
            *state = state
                .try_map(|raw| with_dependencies(raw, &others))
                .map_err(at)?;
        }
    }
    Ok(Outcome { outputs, states })
}

/// Returns the sizes of a state's tensor: of the batch, of the directions if there are two, of the state.
fn state_sizes(batch: &[usize], directions: usize, raw: &Raw) -> Vec<usize> {
    let width = raw.shape()[raw.rank() - 1];
    let split: &[usize] = if directions == 1 { &[] } else { &[directions] };
    [batch, split, &[width]].concat()
}

/// Returns the first state of each direction of a layer.
fn starts<K: Step>(
    run: &RecurrentCall<'_>,
    layer: usize,
    batch: &[usize],
    rows: usize,
) -> Result<Vec<StepState>> {
    let (x, directions) = (run.x, &run.layers[layer]);
    let weights = &directions[0];
    let (width, cell_width) = (weights.hidden.shape()[2], weights.hidden.shape()[1]);
    let Some(given) = run.state else {
        let zeros = |width| Raw::zeros(OP, &[rows, width], x.dtype(), x.device());
        let cell = K::HAS_CELL.then(|| zeros(cell_width)).transpose()?;
        let hidden = zeros(width)?;
        return Ok(vec![StepState { hidden, cell }; directions.len()]);
    };
    let (hidden, cell) = &given[layer];
    let split: &[usize] = if directions.len() == 1 {
        &[]
    } else {
        &[directions.len()]
    };
    let rows_of = |tensor: &DynTensor, width: usize| {
        let wanted = [batch, split, &[width]].concat();
        if tensor.shape() != wanted {
            let what = format!("the state's sizes differ from the input's, {wanted:?}");
            return Err(Error::new(ErrorKind::Shape, OP, what)
                .operand(tensor.names(), tensor.shape())
                .hint("continue from a state of this batch"));
        }
        tensor.raw().reshape(&[rows, directions.len(), width])
    };
    let hidden = rows_of(hidden, width)?;
    let cell = cell.as_ref().map(|cell| rows_of(cell, cell_width));
    let whole = StepState {
        hidden,
        cell: cell.transpose()?,
    };
    (0..directions.len())
        .map(|direction| whole.try_map(|raw| raw.select(1, direction)))
        .collect()
}

/// Runs a layer in one direction over packed rows. Returns packed outputs, and the state of each sequence after its
/// last position, or its first one if `backward`.
fn steps<K: Step>(
    cell: &K,
    data: &Raw,
    weights: &LayerWeights,
    counts: &[usize],
    start: StepState,
    backward: bool,
) -> Result<(Raw, StepState)> {
    let (gates, width) = (weights.hidden.shape()[0], weights.hidden.shape()[1]);
    let matrix = |weight: &DynTensor| {
        let inputs: usize = weight.shape()[2..].iter().product();
        weight.raw().reshape(&[gates * width, inputs])
    };
    let bias = |bias: &Option<DynTensor>| {
        let bias = bias.as_ref();
        bias.map(|bias| bias.raw().reshape(&[gates * width]))
            .transpose()
    };
    let (input, hidden) = (matrix(&weights.input)?, matrix(&weights.hidden)?);
    let (input_bias, hidden_bias) = (bias(&weights.input_bias)?, bias(&weights.hidden_bias)?);
    let total = data.shape()[0];
    let input_gates = call::linear(data, &input, input_bias.as_ref(), 1, None)?;
    let split = |raw: &Raw, rows: usize| -> Result<Vec<Raw>> {
        let raw = raw.reshape(&[rows, gates, width])?;
        (0..gates).map(|gate| raw.select(1, gate)).collect()
    };
    let (mut state, mut finished) = (start.clone(), Vec::new());
    if backward {
        state = start.try_map(|raw| raw.narrow(0, 0, counts.last().copied().unwrap_or(0)))?;
    }
    let mut outputs = list(OP, [counts.len()])?;
    let mut first = if backward { total } else { 0 };
    for step in 0..counts.len() {
        let at = if backward {
            counts.len() - 1 - step
        } else {
            step
        };
        let (rows, before) = (counts[at], state.hidden.shape()[0]);
        if backward {
            first -= rows;
        }
        if rows < before {
            finished.push(state.try_map(|raw| raw.narrow(0, rows, before - rows))?);
            state = state.try_map(|raw| raw.narrow(0, 0, rows))?;
        } else if rows > before {
            let joining = start.try_map(|raw| raw.narrow(0, before, rows - before))?;
            state = StepState::try_join(&[state, joining], |raws| call::cat(raws, 0))?;
        }
        let own = call::linear(&state.hidden, &hidden, hidden_bias.as_ref(), 1, None)?;
        let next = split(&input_gates.narrow(0, first, rows)?, rows)?;
        state = cell.step(&next, &split(&own, rows)?, &state)?;
        if let Some(projection) = &weights.projection {
            state.hidden = call::linear(&state.hidden, projection.raw(), None, 1, None)?;
        }
        outputs.push(state.hidden.clone());
        if !backward {
            first += rows;
        }
    }
    if backward {
        outputs.reverse();
    }
    // Sequences that ended earlier are behind the others; empty ones never began.
    let (rows, all) = (state.hidden.shape()[0], start.hidden.shape()[0]);
    if backward && rows < all {
        finished.push(start.try_map(|raw| raw.narrow(0, rows, all - rows))?);
    }
    let mut parts = vec![state];
    parts.extend(finished.into_iter().rev());
    let last = StepState::try_join(&parts, |raws| call::cat(raws, 0))?;
    let output = if outputs.is_empty() {
        let width = start.hidden.shape()[1];
        Raw::zeros(OP, &[0, width], data.dtype(), data.device())?
    } else {
        let mut parts = list(OP, [counts.len()])?;
        parts.extend(&outputs);
        call::cat(&parts, 0)?
    };
    Ok((output, last))
}

/// Records `own` as computed from `others` too, with zero gradients: results of an empty sequence are then recorded
/// like others.
fn with_dependencies(own: &Raw, others: &[&Raw]) -> Result<Raw> {
    let inputs = [&[own], others].concat();
    let looks: Vec<_> = others
        .iter()
        .map(|x| (x.shape().to_vec(), x.dtype(), x.device()))
        .collect();
    custom(OP, &inputs, own.clone(), move |grad| {
        let zeros = looks
            .iter()
            .map(|(shape, dtype, device)| Raw::zeros(OP, shape, *dtype, *device).map(Some));
        std::iter::once(Ok(Some(grad.clone())))
            .chain(zeros)
            .collect()
    })
}
