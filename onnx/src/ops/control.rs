//! Control flow: graphs inside nodes.

use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::shape::full;
use crate::call::{Call, Value, from_ints};
use crate::emit::ops as spell;
use crate::emit::spell::Emit;
use crate::fold;
use crate::graph::{Graph, ValueId};
use crate::names::flow::Flow::Fresh;
use crate::run::run;
use crate::table::Row;
use crate::table::Run::Values;

pub const ROWS: &[Row] = &[
    Row::new("If", 1, Fresh, Values(branch))
        .emit(Emit::Several(spell::branch::refuse))
        .not_foldable(),
    Row::new("Loop", 1, Fresh, Values(repeat)).not_foldable(),
    Row::new("Scan", 9, Fresh, Values(scan)).not_foldable(),
];

fn truth(c: &Call<'_>, value: &Value) -> Result<bool> {
    let truth = value.tensor().and_then(fold::truth);
    truth.ok_or_else(|| c.fail("a condition has not one element"))
}

fn branch(c: &Call<'_>) -> Result<Vec<Value>> {
    let chosen = if truth(c, c.value(0)?)? {
        "then_branch"
    } else {
        "else_branch"
    };
    run(c.graph(chosen)?, Vec::new(), c.values)
}

fn paired(c: &Call<'_>, graph: &Graph, values: Vec<Value>) -> Result<Vec<(ValueId, Value)>> {
    c.require(
        graph.inputs.len() == values.len(),
        "the graph inside has another number of inputs",
    )?;
    Ok(graph.inputs.iter().copied().zip(values).collect())
}

/// Stacks the results of all steps.
fn stacked(
    c: &Call<'_>,
    graph: &Graph,
    output: usize,
    steps: &[Value],
    axis: i64,
) -> Result<Value> {
    let tensors: Option<Vec<&DynTensor>> = steps.iter().map(Value::tensor).collect();
    let tensors = tensors.ok_or_else(|| c.fail("a collected output is no tensor"))?;
    if !tensors.is_empty() {
        return Ok(DynTensor::stack(&tensors, axis, None)?.into());
    }
    let stated = graph.outputs.get(output).and_then(|id| graph.types.get(id));
    let dtype = stated.and_then(|kind| kind.dtype).unwrap_or(DType::F32);
    let sizes = stated.and_then(|kind| kind.sizes.as_ref());
    let mut shape = vec![0];
    for size in sizes.into_iter().flatten() {
        shape.push(match size {
            crate::graph::StatedSize::Fixed(size) => *size,
            _ => 0,
        });
    }
    Ok(full(&shape, 0.0, dtype)?.into())
}

fn repeat(c: &Call<'_>) -> Result<Vec<Value>> {
    let graph = c.graph("body")?;
    let most = match c.maybe(0)? {
        Some(count) => count
            .to_dtype(DType::I64)?
            .to_vec::<i64>()?
            .first()
            .copied()
            .unwrap_or(0),
        None => i64::MAX,
    };
    let given = c.inputs.get(1).copied().flatten();
    let mut goes_on = given.map_or(Ok(true), |value| truth(c, value))?;
    let mut carried: Vec<Value> = (2..c.inputs.len())
        .map(|at| c.value(at).cloned())
        .collect::<Result<_>>()?;
    let count = carried.len();
    c.require(graph.outputs.len() > count, "the body has too few outputs")?;
    let mut collected = vec![Vec::new(); graph.outputs.len() - 1 - count];
    let mut step = 0;
    while goes_on && step < most {
        let mut inputs = vec![
            from_ints(vec![step], &[])?.into(),
            full(&[], true, DType::Bool)?.into(),
        ];
        inputs.append(&mut carried);
        let mut outputs = run(graph, paired(c, graph, inputs)?, c.values)?;
        for (all, value) in collected.iter_mut().zip(outputs.split_off(1 + count)) {
            all.push(value);
        }
        goes_on = truth(c, &outputs.remove(0))?;
        carried = outputs;
        step += 1;
    }
    for (at, steps) in collected.iter().enumerate() {
        carried.push(stacked(c, graph, 1 + count + at, steps, 0)?);
    }
    Ok(carried)
}

fn scan(c: &Call<'_>) -> Result<Vec<Value>> {
    let graph = c.graph("body")?;
    let scanned = usize::try_from(c.int("num_scan_inputs", 0)?).unwrap_or(0);
    c.require(
        scanned > 0 && scanned <= c.inputs.len(),
        "`num_scan_inputs` is not a number of inputs",
    )?;
    let count = c.inputs.len() - scanned;
    c.require(graph.outputs.len() >= count, "the body has too few outputs")?;
    let results = graph.outputs.len() - count;
    let numbers = |name: &str, n: usize| {
        Ok::<_, nomina_core::Error>(c.ints(name)?.unwrap_or_else(|| vec![0; n]))
    };
    let (axes, out_axes) = (
        numbers("scan_input_axes", scanned)?,
        numbers("scan_output_axes", results)?,
    );
    let (turned, out_turned) = (
        numbers("scan_input_directions", scanned)?,
        numbers("scan_output_directions", results)?,
    );
    c.require(
        axes.len() == scanned
            && turned.len() == scanned
            && out_axes.len() == results
            && out_turned.len() == results,
        "an attribute has not one number per value",
    )?;
    let inputs: Vec<&DynTensor> = (count..c.inputs.len())
        .map(|at| c.x(at))
        .collect::<Result<_>>()?;
    let dims: Vec<usize> = inputs
        .iter()
        .zip(&axes)
        .map(|(x, &axis)| c.axis(axis, x.rank()))
        .collect::<Result<_>>()?;
    let length = inputs[0].shape()[dims[0]];
    c.require(
        inputs
            .iter()
            .zip(&dims)
            .all(|(x, &dim)| x.shape()[dim] == length),
        "scanned inputs differ in length",
    )?;
    let mut carried: Vec<Value> = (0..count)
        .map(|at| c.value(at).cloned())
        .collect::<Result<_>>()?;
    let mut collected = vec![Vec::new(); results];
    for step in 0..length {
        for at in 0..scanned {
            let place = if turned[at] == 0 {
                step
            } else {
                length - 1 - step
            };
            carried.push(inputs[at].select(dims[at] as i64, place as i64)?.into());
        }
        let mut outputs = run(graph, paired(c, graph, carried)?, c.values)?;
        for (all, value) in collected.iter_mut().zip(outputs.split_off(count)) {
            all.push(value);
        }
        carried = outputs;
    }
    for (at, mut steps) in collected.into_iter().enumerate() {
        if out_turned[at] != 0 {
            steps.reverse();
        }
        carried.push(stacked(c, graph, count + at, &steps, out_axes[at])?);
    }
    Ok(carried)
}
