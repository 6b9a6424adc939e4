//! The interpreter.

use nomina::DynTensor;
use nomina_core::{Error, ErrorKind, Result};

use crate::call::{Call, Value, Values, reshape};
use crate::graph::{Graph, Node, ValueId};
pub use crate::placement::call;
use crate::proto::READ;
use crate::table::Run;

/// Runs a graph: `given` are its inputs, by index, and captured values are in `outer`.
///
/// # Errors
/// The first error of a node, which names the node and its operator.
pub fn run(graph: &Graph, given: Vec<(ValueId, Value)>, outer: &Values) -> Result<Vec<Value>> {
    let mut values: Values = vec![None; graph.values.len()];
    for (&id, tensor) in &graph.constants {
        values[id] = Some(Value::Tensor(tensor.clone()));
    }
    for &(outside, inside) in &graph.captures {
        values[inside] = outer.get(outside).cloned().flatten();
    }
    for (id, value) in given {
        values[id] = Some(value);
    }
    for (node, unused) in graph.nodes.iter().zip(&graph.unused_after) {
        let results = call(node, &values)?;
        for (output, value) in node.outputs.iter().zip(results) {
            if let Some(id) = output {
                values[*id] = Some(value);
            }
        }
        for &id in unused {
            values[id] = None;
        }
    }
    let outputs = graph.outputs.iter().map(|&id| {
        values[id].clone().ok_or_else(|| {
            let what = format!("the output `{}` has no value", graph.values[id]);
            Error::new(ErrorKind::Argument, READ, what)
        })
    });
    outputs.collect()
}

/// Calls the operator of a node on operands.
///
/// # Errors
/// If the operator fails or has too few results.
pub fn call_with<'a>(
    node: &'a Node,
    inputs: Vec<Option<&'a Value>>,
    values: &'a Values,
) -> Result<Vec<Value>> {
    let Some(row) = node.row else {
        let what = format!(
            "the operator `{}` of opset {} is not supported",
            node.op, node.opset
        );
        return Err(Error::new(ErrorKind::Argument, READ, what));
    };
    let call = Call {
        node,
        op: row.name,
        inputs,
        values,
    };
    let missing = node
        .inputs
        .iter()
        .zip(&call.inputs)
        .any(|(id, value)| id.is_some() && value.is_none());
    let results = if missing {
        Err(call.fail("an input has no value"))
    } else {
        match row.run {
            Run::Unary(run) => call.x(0).and_then(run).map(single),
            Run::Binary(run) => binary(&call, run).map(single),
            Run::Single(run) => run(&call).map(single),
            Run::Tensors(run) => run(&call).map(|all| all.into_iter().map(Value::Tensor).collect()),
            Run::Values(run) => run(&call),
        }
    };
    let results = results.and_then(|results| {
        let needed = node
            .outputs
            .iter()
            .rposition(Option::is_some)
            .map_or(0, |last| last + 1);
        call.require(
            results.len() >= needed,
            "an output that is asked for is not supported",
        )?;
        Ok(results)
    });
    results.map_err(|error| {
        error
            .in_op(row.name)
            .within(format!("{node} (opset {})", node.opset))
    })
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
