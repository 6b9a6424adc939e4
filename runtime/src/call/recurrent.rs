//! Recurrent layers, all steps at once.

use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::{contiguous, duplicate};
use crate::call::backend::backend;
use crate::job::{DirectionJob, RecurrentJob, RecurrentKind};
use crate::raw::Raw;
use crate::raw::graph::is_wanted;
use crate::shape::product;

const OP: &str = "recurrent";

/// The results of a recurrent layer.
#[derive(Clone, Debug)]
pub struct RecurrentOutputs {
    /// The hidden states: steps, directions, batch, elements.
    pub outputs: Raw,
    /// The last hidden state: directions, batch, elements.
    pub hidden: Raw,
    /// The last cell state of an LSTM.
    pub cell: Option<Raw>,
}

/// Computes all steps of a recurrent layer. Returns `None` if there is no kernel: for other dtypes than `f32`, other
/// devices than the host, and operands whose gradients are wanted.
///
/// | operand | dims |
/// |---|---|
/// | each of `gates`, the weighted inputs of a direction | steps, batch, gates times elements |
/// | `weight` | directions, gates times elements, elements |
/// | `bias` | directions, gates times elements |
/// | `hidden`, and the `cell` of an LSTM | directions, batch, elements |
///
/// `reverse` says of each direction whether it begins with the last step.
///
/// # Errors
/// If sizes do not fit, or memory is missing.
pub fn recurrent(
    kind: RecurrentKind,
    gates: &[&Raw],
    [weight, hidden]: [&Raw; 2],
    bias: Option<&Raw>,
    cell: Option<&Raw>,
    reverse: &[bool],
) -> Result<Option<RecurrentOutputs>> {
    let all = || {
        let others = [Some(weight), Some(hidden), bias, cell];
        gates.iter().copied().chain(others.into_iter().flatten())
    };
    let is_known = |x: &Raw| x.dtype() == DType::F32 && x.device().is_cpu();
    if !all().all(is_known) || is_wanted(all()) {
        return Ok(None);
    }
    let (&[time, batch, _], &[directions, rows, size]) =
        (gates.first().map_or(&[][..], |x| x.shape()), weight.shape())
    else {
        return Err(refuse(all(), "the operands have not 3 dims"));
    };
    let fits = rows == product([kind.gates(), size])
        && [gates.len(), reverse.len()] == [directions; 2]
        && gates.iter().all(|x| x.shape() == [time, batch, rows])
        && bias.is_none_or(|bias| bias.shape() == [directions, rows])
        && hidden.shape() == [directions, batch, size]
        && cell.is_none_or(|cell| cell.shape() == hidden.shape())
        && cell.is_some() == (kind == RecurrentKind::Lstm);
    if !fits {
        return Err(refuse(
            all(),
            "the sizes of gates, weight and states differ",
        ));
    }
    let gates = gates.iter().copied().map(contiguous);
    let gates = gates.collect::<Result<Vec<_>>>()?;
    let (weight, bias) = (contiguous(weight)?, bias.map(contiguous).transpose()?);
    let device = hidden.device();
    let mut outputs = Raw::empty(OP, &[time, directions, batch, size], DType::F32, device)?;
    let mut hidden = duplicate(&contiguous(hidden)?)?;
    let mut cell = cell.map(|cell| duplicate(&contiguous(cell)?)).transpose()?;
    if outputs.numel() > 0 {
        let states = hidden.fresh_ptr().cast::<f32>();
        let cells = cell.as_mut().map_or(states, |cell| cell.fresh_ptr().cast());
        let job = RecurrentJob {
            kind,
            time,
            batch,
            hidden: size,
            outputs: outputs.fresh_ptr().cast(),
            directions: (gates.iter().zip(reverse).enumerate())
                .map(|(at, (gates, &reverse))| DirectionJob {
                    gates: gates.as_ptr().cast(),
                    weight: weight.as_ptr().cast::<f32>().wrapping_add(at * rows * size),
                    bias: bias
                        .as_ref()
                        .map(|bias| bias.as_ptr().cast::<f32>().wrapping_add(at * rows)),
                    hidden: states.wrapping_add(product([at, batch, size])),
                    cell: cells.wrapping_add(product([at, batch, size])),
                    reverse,
                })
                .collect(),
        };
        // SAFETY: the sizes were checked; the operands are row-major and outlive the call, the results are fresh.
        if !unsafe { backend(OP, device)?.recurrent(&job)? } {
            return Ok(None);
        }
    }
    Ok(Some(RecurrentOutputs {
        outputs,
        hidden,
        cell,
    }))
}

#[cold]
fn refuse<'a>(operands: impl Iterator<Item = &'a Raw>, what: &str) -> Error {
    let error = Error::new(ErrorKind::Shape, OP, what)
        .hint("gates are steps, batch, gates times elements; a weight is directions, gates times elements, elements");
    operands.fold(error, |error, x| {
        error.operand(&Names::default(), x.shape())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(shape: &[usize], seed: usize) -> Raw {
        let count: usize = shape.iter().product();
        let data = (0..count).map(|i| ((i * 7919 + seed * 104_729) % 101) as f32 / 60.0 - 0.8);
        Raw::from_vec(data.collect(), shape).unwrap()
    }

    #[test]
    fn steps_are_the_definition() {
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let (time, batch, size, reverse) = (3, 2, 5, [false, true]);
        for kind in [RecurrentKind::Lstm, RecurrentKind::Gru] {
            let (rows, is_lstm) = (kind.gates() * size, kind == RecurrentKind::Lstm);
            let gates = [0, 1].map(|seed| numbers(&[time, batch, rows], seed));
            let (weight, bias) = (numbers(&[2, rows, size], 2), numbers(&[2, rows], 3));
            let states = [4, 5].map(|seed| numbers(&[2, batch, size], seed));
            let results = recurrent(
                kind,
                &[&gates[0], &gates[1]],
                [&weight, &states[0]],
                Some(&bias),
                is_lstm.then_some(&states[1]),
                &reverse,
            );
            let results = results.unwrap().unwrap();
            for (d, row) in (0..2).flat_map(|d| (0..batch).map(move |row| (d, row))) {
                let state = |at: usize| -> Vec<f32> {
                    let part = (0..size).map(|i| states[at].get::<f32>(&[d, row, i]).unwrap());
                    part.collect()
                };
                let (mut h, mut c) = (state(0), state(1));
                for step in 0..time {
                    let t = if reverse[d] { time - 1 - step } else { step };
                    let x = |at: usize| gates[d].get::<f32>(&[t, row, at]).unwrap();
                    let own: Vec<f32> = (0..rows)
                        .map(|at| {
                            let w = |i: usize| weight.get::<f32>(&[d, at, i]).unwrap();
                            let sum: f32 = (0..size).map(|i| w(i) * h[i]).sum();
                            sum + bias.get::<f32>(&[d, at]).unwrap()
                        })
                        .collect();
                    for i in 0..size {
                        let gate = |at: usize| x(at * size + i) + own[at * size + i];
                        if is_lstm {
                            c[i] = sigmoid(gate(2)) * c[i] + sigmoid(gate(0)) * gate(3).tanh();
                            h[i] = sigmoid(gate(1)) * c[i].tanh();
                        } else {
                            let inner = sigmoid(gate(1)) * own[2 * size + i];
                            let candidate = (x(2 * size + i) + inner).tanh();
                            h[i] = candidate + sigmoid(gate(0)) * (h[i] - candidate);
                        }
                        let got = results.outputs.get::<f32>(&[t, d, row, i]).unwrap();
                        assert!((got - h[i]).abs() < 1e-5, "{kind:?} {d} {row} {t} {i}");
                    }
                }
                let last = results.hidden.get::<f32>(&[d, row, 0]).unwrap();
                assert!((last - h[0]).abs() < 1e-5, "{kind:?}");
                if let Some(cell) = &results.cell {
                    assert!((cell.get::<f32>(&[d, row, 0]).unwrap() - c[0]).abs() < 1e-5);
                }
            }
            // One direction more than the weight has.
            let operands = [&weight, &states[0]];
            let wrong = recurrent(kind, &[&gates[0]], operands, None, None, &[false]);
            assert!(wrong.is_err());
        }
    }
}
