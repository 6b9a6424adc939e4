//! Recurrent layers: RNN, GRU and LSTM.

use nomina::{DType, DynTensor, LinearOptions};
use nomina_core::op::Op;
use nomina_core::{Error, Names, Result};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, RecurrentKind};

use super::activation::softplus;
use super::index::zeros;
use super::move_elements::permute;
use crate::call::{Call, from_ints, ints, reshape};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::fuse::Program;
use crate::names::flow::Flow::Rnn;
use crate::table::Row;
use crate::table::Run::Tensors;

pub const ROWS: &[Row] = &[
    Row::new("RNN", 7, Rnn, Tensors(|c| layer(c, 1, 1, simple))),
    Row::new("GRU", 7, Rnn, Tensors(|c| layer(c, 3, 2, gru))).emit(Emit::Several(spell::rnn::gru)),
    Row::new("LSTM", 7, Rnn, Tensors(|c| layer(c, 4, 3, lstm)))
        .emit(Emit::Several(spell::rnn::lstm)),
];

/// A nonlinearity with its parameters.
struct Activation {
    name: String,
    alpha: Option<f64>,
    beta: Option<f64>,
}

impl Activation {
    fn apply(&self, c: &Call<'_>, x: &DynTensor) -> Result<DynTensor> {
        let (alpha, beta) = (
            |default| self.alpha.unwrap_or(default),
            |default| self.beta.unwrap_or(default),
        );
        match &self.name[..] {
            "sigmoid" => x.sigmoid(),
            "tanh" => x.tanh(),
            "relu" => x.relu(),
            "softsign" => x.softsign(),
            "softplus" => softplus(x),
            "affine" => x.mul(alpha(1.0))?.add(beta(0.0)),
            "scaledtanh" => x.mul(beta(1.0))?.tanh()?.mul(alpha(1.0)),
            "hardsigmoid" => x
                .mul(alpha(0.2))?
                .add(beta(0.5))?
                .clamp_min(0.0)?
                .clamp_max(1.0),
            "leakyrelu" => x.lt(0.0)?.where_cond(&x.mul(alpha(0.01))?, x),
            "thresholdedrelu" => x.ge(alpha(1.0))?.where_cond(x, &x.zeros_like()?),
            "elu" => x
                .lt(0.0)?
                .where_cond(&x.clamp_max(0.0)?.expm1()?.mul(alpha(1.0))?, x),
            other => Err(c.fail(format!("activation `{other}` is not supported"))),
        }
    }
}

/// The weights of one direction, and the state.
struct Cell<'a, 'b> {
    c: &'a Call<'b>,
    /// The weight of the state, by rows of outputs, and transposed.
    rows: DynTensor,
    recurrent: DynTensor,
    recurrent_bias: Option<DynTensor>,
    peepholes: Option<DynTensor>,
    activations: &'a [Activation],
    hidden: usize,
    clip: Option<f64>,
}

impl Cell<'_, '_> {
    fn activate(&self, which: usize, x: &DynTensor) -> Result<DynTensor> {
        let x = match self.clip {
            Some(clip) => &x.clamp_min(-clip)?.clamp_max(clip)?,
            None => x,
        };
        self.activations[which].apply(self.c, x)
    }

    /// The columns of one gate.
    fn gate(&self, x: &DynTensor, at: usize) -> Result<DynTensor> {
        x.narrow(-1, (at * self.hidden) as i64, self.hidden)
    }
}

/// Adds a function of the sum of two operands to a program, and returns the index of its step.
fn push_gate(program: &mut Program, operands: &[usize], at: usize, function: Op) -> usize {
    let sum = program.apply(Op::Add, &[operands[at], operands[at + 1]]);
    program.apply(function, &[sum])
}

/// Returns the kind of a layer of `f32` with the usual functions, without peepholes and bounds; `None` for others.
fn usual_kind(
    c: &Call<'_>,
    gates: usize,
    functions: &[Activation],
    x: &DynTensor,
) -> Result<Option<RecurrentKind>> {
    let (usual, kind, other): (&[&str], _, _) = match gates {
        3 => (
            &["sigmoid", "tanh"],
            RecurrentKind::Gru,
            !c.flag("linear_before_reset", false)?,
        ),
        4 => (
            &["sigmoid", "tanh", "tanh"],
            RecurrentKind::Lstm,
            c.flag("input_forget", false)? || c.maybe(7)?.is_some(),
        ),
        _ => return Ok(None),
    };
    let mut each = functions.chunks(usual.len());
    let is_usual = each.all(|some| some.iter().map(|f| &f.name[..]).eq(usual.iter().copied()));
    let is_plain = is_usual && x.dtype() == DType::F32 && c.maybe_float("clip")?.is_none();
    Ok((is_plain && !other).then_some(kind))
}

/// The elementwise operators of a step with the usual functions: one pass for each state.
enum Passes {
    /// `n = tanh(x + r h)`, `h = n + z (h' - n)`.
    Gru(Program),
    /// The cell, and the hidden state.
    Lstm(Program, Program),
}

impl Passes {
    /// Creates the pass of a GRU. The operands are the gates of the input and of the state in turns, and then the state.
    fn gru() -> Self {
        let mut program = Program::default();
        let x: Vec<usize> = (0..7).map(|_| program.operand()).collect();
        let z = push_gate(&mut program, &x, 0, Op::Sigmoid);
        let reset = push_gate(&mut program, &x, 2, Op::Sigmoid);
        let own = program.apply(Op::Mul, &[reset, x[5]]);
        let sum = program.apply(Op::Add, &[x[4], own]);
        let candidate = program.apply(Op::Tanh, &[sum]);
        let change = program.apply(Op::Sub, &[x[6], candidate]);
        let change = program.apply(Op::Mul, &[z, change]);
        program.apply(Op::Add, &[candidate, change]);
        Self::Gru(program)
    }

    /// Creates the passes of an LSTM, whose operands are in the order of [`Passes::gru`].
    fn lstm() -> Self {
        let (mut cell, mut hidden) = (Program::default(), Program::default());
        let x: Vec<usize> = (0..7).map(|_| cell.operand()).collect();
        let input = push_gate(&mut cell, &x, 0, Op::Sigmoid);
        let forget = push_gate(&mut cell, &x, 2, Op::Sigmoid);
        let candidate = push_gate(&mut cell, &x, 4, Op::Tanh);
        let kept = cell.apply(Op::Mul, &[forget, x[6]]);
        let new = cell.apply(Op::Mul, &[input, candidate]);
        cell.apply(Op::Add, &[kept, new]);
        let x: Vec<usize> = (0..3).map(|_| hidden.operand()).collect();
        let output = push_gate(&mut hidden, &x, 0, Op::Sigmoid);
        let shown = hidden.apply(Op::Tanh, &[x[2]]);
        hidden.apply(Op::Mul, &[output, shown]);
        Self::Lstm(cell, hidden)
    }

    /// Creates the passes of a kind of layer.
    fn new(kind: RecurrentKind) -> Self {
        match kind {
            RecurrentKind::Gru => Self::gru(),
            RecurrentKind::Lstm => Self::lstm(),
        }
    }

    /// Computes the next hidden state and cell state.
    fn step(
        &self,
        cell: &Cell<'_, '_>,
        x: &DynTensor,
        h: &DynTensor,
        s: &DynTensor,
    ) -> Result<(DynTensor, DynTensor)> {
        let bias = cell.recurrent_bias.as_ref();
        let own = h.linear_with(&cell.rows, bias, LinearOptions::default())?;
        let gates = |order: &[usize]| {
            let pairs = order.iter().flat_map(|&at| [(x, at), (&own, at)]);
            pairs
                .map(|(all, at)| cell.gate(all, at))
                .collect::<Result<Vec<_>>>()
        };
        match self {
            Self::Gru(program) => {
                let gates = gates(&[0, 1, 2])?;
                let operands: Vec<_> = gates.iter().chain([h]).collect();
                Ok((program.run(&operands)?, s.clone()))
            }
            Self::Lstm(next, shown) => {
                let inner = gates(&[0, 2, 3])?;
                let operands: Vec<_> = inner.iter().chain([s]).collect();
                let next = next.run(&operands)?;
                let outer = gates(&[1])?;
                let operands: Vec<_> = outer.iter().chain([&next]).collect();
                Ok((shown.run(&operands)?, next))
            }
        }
    }
}

/// One step: from the weighted input with its bias, the hidden state and the cell state.
type Step = fn(&Cell<'_, '_>, &DynTensor, &DynTensor, &DynTensor) -> Result<(DynTensor, DynTensor)>;

fn with_bias(x: DynTensor, bias: &Option<DynTensor>) -> Result<DynTensor> {
    match bias {
        Some(bias) => x.add(bias),
        None => Ok(x),
    }
}

fn simple(
    cell: &Cell<'_, '_>,
    x: &DynTensor,
    h: &DynTensor,
    s: &DynTensor,
) -> Result<(DynTensor, DynTensor)> {
    let sum = with_bias(x.add(&h.matmul(&cell.recurrent)?)?, &cell.recurrent_bias)?;
    Ok((cell.activate(0, &sum)?, s.clone()))
}

fn gru(
    cell: &Cell<'_, '_>,
    x: &DynTensor,
    h: &DynTensor,
    s: &DynTensor,
) -> Result<(DynTensor, DynTensor)> {
    let r = with_bias(h.matmul(&cell.recurrent)?, &cell.recurrent_bias)?;
    let z = cell.activate(0, &cell.gate(x, 0)?.add(&cell.gate(&r, 0)?)?)?;
    let reset = cell.activate(0, &cell.gate(x, 1)?.add(&cell.gate(&r, 1)?)?)?;
    let inner = if cell.c.flag("linear_before_reset", false)? {
        reset.mul(&cell.gate(&r, 2)?)?
    } else {
        let product = reset.mul(h)?.matmul(&cell.gate(&cell.recurrent, 2)?)?;
        let bias = cell
            .recurrent_bias
            .as_ref()
            .map(|bias| cell.gate(bias, 2))
            .transpose()?;
        with_bias(product, &bias)?
    };
    let candidate = cell.activate(1, &cell.gate(x, 2)?.add(&inner)?)?;
    let next = z.mul(h)?.add(&z.neg()?.add(1.0)?.mul(&candidate)?)?;
    Ok((next, s.clone()))
}

fn lstm(
    cell: &Cell<'_, '_>,
    x: &DynTensor,
    h: &DynTensor,
    s: &DynTensor,
) -> Result<(DynTensor, DynTensor)> {
    let all = with_bias(x.add(&h.matmul(&cell.recurrent)?)?, &cell.recurrent_bias)?;
    let peek = |gate: DynTensor, at: usize, s: &DynTensor| match &cell.peepholes {
        Some(p) => gate.add(&cell.gate(p, at)?.mul(s)?),
        None => Ok(gate),
    };
    let input = cell.activate(0, &peek(cell.gate(&all, 0)?, 0, s)?)?;
    let forget = if cell.c.flag("input_forget", false)? {
        input.neg()?.add(1.0)?
    } else {
        cell.activate(0, &peek(cell.gate(&all, 2)?, 2, s)?)?
    };
    let next = forget
        .mul(s)?
        .add(&input.mul(&cell.activate(1, &cell.gate(&all, 3)?)?)?)?;
    let output = cell.activate(0, &peek(cell.gate(&all, 1)?, 1, &next)?)?;
    Ok((
        output.mul(&cell.activations[2].apply(cell.c, &next)?)?,
        next,
    ))
}

fn activations(c: &Call<'_>, directions: usize, count: usize) -> Result<Vec<Activation>> {
    let names: Vec<String> = match c.texts("activations")? {
        [] => {
            let own: &[&str] = match count {
                1 => &["Tanh"],
                2 => &["Sigmoid", "Tanh"],
                _ => &["Sigmoid", "Tanh", "Tanh"],
            };
            own.iter()
                .cycle()
                .take(count * directions)
                .map(|name| (*name).into())
                .collect()
        }
        names => names.to_vec(),
    };
    c.require(
        names.len() == count * directions,
        "there are too few activations",
    )?;
    // Parameters are given in order to the functions that have some.
    let (mut alphas, mut betas) = (
        c.floats("activation_alpha")?.into_iter(),
        c.floats("activation_beta")?.into_iter(),
    );
    let all = names.into_iter().map(|name| {
        let name = name.to_ascii_lowercase();
        let takes = |names: &[&str]| names.contains(&&name[..]);
        let alpha = if takes(&[
            "affine",
            "leakyrelu",
            "thresholdedrelu",
            "scaledtanh",
            "hardsigmoid",
            "elu",
        ]) {
            alphas.next()
        } else {
            None
        };
        let beta = if takes(&["affine", "scaledtanh", "hardsigmoid"]) {
            betas.next()
        } else {
            None
        };
        Activation { name, alpha, beta }
    });
    Ok(all.collect())
}

fn layer(c: &Call<'_>, gates: usize, functions: usize, step: Step) -> Result<Vec<DynTensor>> {
    let batch_first = c.flag("layout", false)?;
    let x = if batch_first {
        permute(c.x(0)?, &[1, 0, 2])?
    } else {
        c.x(0)?.clone()
    };
    let (w, r) = (c.x(1)?, c.x(2)?);
    let (&[time, batch, _], &[directions, rows, hidden]) = (x.shape(), r.shape()) else {
        return Err(c.fail("the operands have not 3 dims"));
    };
    c.require(
        rows == gates * hidden
            && directions > 0
            && w.rank() == 3
            && w.shape()[..2] == [directions, rows],
        "the weights have the wrong shape",
    )?;
    let reverse: &[bool] = match c.text("direction", "forward")? {
        "forward" => &[false],
        "reverse" => &[true],
        "bidirectional" => &[false, true],
        other => return Err(c.fail(format!("direction `{other}` is unknown"))),
    };
    c.require(
        reverse.len() == directions,
        "the weights are not those of the direction",
    )?;
    let functions_of = activations(c, directions, functions)?;
    let lengths = c.maybe(4)?.map(ints).transpose()?;
    let state = |at: usize, d: usize| match c.maybe(at)? {
        Some(state) => {
            let state = if batch_first {
                permute(state, &[1, 0, 2])?
            } else {
                state.clone()
            };
            state.select(0, d as i64)
        }
        None => zeros(&[batch, hidden], x.dtype()),
    };
    let half = |part: usize, d: usize| match c.maybe(3)? {
        Some(bias) => bias
            .select(0, d as i64)?
            .narrow(0, (part * rows) as i64, rows)
            .map(Some),
        None => Ok(None),
    };
    let flat = reshape(&x, &[time * batch, x.shape()[2]])?;
    let mut weighted = Vec::with_capacity(directions);
    for d in 0..directions {
        let (w, bias) = (w.select(0, d as i64)?, half(0, d)?);
        let all = flat.linear_with(&w, bias.as_ref(), LinearOptions::default())?;
        weighted.push(reshape(&all, &[time, batch, rows])?);
    }
    let kind = usual_kind(c, gates, &functions_of, &x)?;
    let finish = |mut y: DynTensor, mut h: DynTensor, s: Option<DynTensor>| {
        let mut s = s;
        if batch_first {
            y = permute(&y, &[2, 0, 1, 3])?;
            h = permute(&h, &[1, 0, 2])?;
            s = s.map(|s| permute(&s, &[1, 0, 2])).transpose()?;
        }
        Ok::<Vec<_>, Error>([Some(y), Some(h), s].into_iter().flatten().collect())
    };
    if let Some(kind) = kind.filter(|_| lengths.is_none() && time > 0) {
        let states = |at: usize| {
            let each = (0..directions).map(|d| state(at, d));
            let each = each.collect::<Result<Vec<_>>>()?;
            DynTensor::stack(&each.iter().collect::<Vec<_>>(), 0, None)
        };
        let h = states(5)?;
        let s = (gates == 4).then(|| states(6)).transpose()?;
        let raws: Vec<_> = weighted.iter().map(DynTensor::raw).collect();
        let bias = c.maybe(3)?;
        let bias = bias.map(|bias| bias.narrow(1, rows as i64, rows));
        let bias = bias.transpose()?;
        let (bias, s) = (bias.as_ref().map(DynTensor::raw), s.as_ref());
        let results = call::recurrent(
            kind,
            &raws,
            [r.raw(), h.raw()],
            bias,
            s.map(DynTensor::raw),
            reverse,
        )?;
        if let Some(results) = results {
            let tensor = |raw: Raw| {
                let rank = raw.rank();
                DynTensor::from_parts(raw, Names::unnamed(rank))
            };
            let cell = results.cell.map(tensor).transpose()?;
            return finish(tensor(results.outputs)?, tensor(results.hidden)?, cell);
        }
    }
    let passes = kind.map(Passes::new);
    let (mut all, mut last_h, mut last_s) = (Vec::new(), Vec::new(), Vec::new());
    for (d, &reverse) in reverse.iter().enumerate() {
        let at = d as i64;
        let (mut h, mut s) = (
            state(5, d)?,
            if gates == 4 {
                state(6, d)?
            } else {
                zeros(&[batch, hidden], x.dtype())?
            },
        );
        let cell = Cell {
            c,
            rows: r.select(0, at)?,
            recurrent: r.select(0, at)?.permute([1, 0])?,
            recurrent_bias: half(1, d)?,
            peepholes: if gates == 4 {
                c.maybe(7)?.map(|p| p.select(0, at)).transpose()?
            } else {
                None
            },
            activations: &functions_of[d * functions..(d + 1) * functions],
            hidden,
            clip: c.maybe_float("clip")?,
        };
        let mut steps = vec![None; time];
        for t in 0..time {
            let t = if reverse { time - 1 - t } else { t };
            let now = weighted[d].select(0, t as i64)?;
            let (next_h, next_s) = match &passes {
                Some(passes) => passes.step(&cell, &now, &h, &s)?,
                None => step(&cell, &now, &h, &s)?,
            };
            match &lengths {
                None => {
                    (h, s) = (next_h, next_s);
                    steps[t] = Some(h.clone());
                }
                Some(lengths) => {
                    let inside = lengths.iter().map(|&n| i64::from((t as i64) < n)).collect();
                    let inside = from_ints(inside, &[batch, 1])?.ne(0)?;
                    steps[t] = Some(inside.where_cond(&next_h, &next_h.zeros_like()?)?);
                    h = inside.where_cond(&next_h, &h)?;
                    s = inside.where_cond(&next_s, &s)?;
                }
            }
        }
        let steps: Vec<DynTensor> = steps.into_iter().flatten().collect();
        c.require(!steps.is_empty(), "the sequence is empty")?;
        all.push(DynTensor::stack(
            &steps.iter().collect::<Vec<_>>(),
            0,
            None,
        )?);
        last_h.push(h);
        last_s.push(s);
    }
    let stack = |parts: &[DynTensor], at: i64| {
        DynTensor::stack(&parts.iter().collect::<Vec<_>>(), at, None)
    };
    let s = (gates == 4).then(|| stack(&last_s, 0)).transpose()?;
    finish(stack(&all, 1)?, stack(&last_h, 0)?, s)
}
