//! The interpreter.

use nomina::Device;
use nomina_core::{Error, ErrorKind, Result};

use crate::graph::{Graph, Node, Placement, ValueId};
use crate::proto::READ;
use crate::value::{Value, Values};

/// Runs a graph: `given` are its inputs, by index, and captured values are in `outer`.
///
/// # Errors
/// The first error of a node, which names the node and its operator.
pub fn run(graph: &Graph, given: Vec<(ValueId, Value)>, outer: &Values) -> Result<Vec<Value>> {
    let mut values = graph.spare.take().unwrap_or_else(|| constants(graph));
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
    let outputs = outputs.collect();
    let inside = graph.captures.iter().map(|capture| &capture.1);
    for id in graph.inputs.iter().chain(&graph.outputs).chain(inside) {
        let constant = graph.constants.get(id);
        values[*id] = constant.cloned().map(Value::Tensor);
    }
    graph.spare.put(values);
    outputs
}

/// Returns the values before a run: the constants.
fn constants(graph: &Graph) -> Values {
    let mut values = vec![None; graph.values.len()];
    for (&id, tensor) in &graph.constants {
        values[id] = Some(Value::Tensor(tensor.clone()));
    }
    values
}

/// Calls the operator of a node where it can run.
///
/// # Errors
/// If it fails on the host, too.
pub fn call(node: &Node, values: &Values) -> Result<Vec<Value>> {
    let given: Vec<Option<&Value>> = node
        .inputs
        .iter()
        .map(|id| id.and_then(|id| values[id].as_ref()))
        .collect();
    let device = given
        .iter()
        .flatten()
        .filter_map(|value| Some(value.tensor()?.device()))
        .find(|device| device.is_cuda());
    let Some(device) = device else {
        return call_with(node, given, values);
    };
    let first = node.placement.get();
    for placement in first..Placement::ON_HOST {
        let results = match placement {
            Placement::AS_GIVEN => call_with(node, given.clone(), values),
            Placement::ON_DEVICE => call_at(node, &given, values, device),
            _ => break,
        };
        let Ok(results) = results else { continue };
        // An operator that reads elements on the host has its results there.
        let is_host = |value: &Value| {
            let tensor = value.tensor().filter(|tensor| tensor.dtype().is_float());
            tensor.is_some_and(|tensor| !tensor.device().is_cuda())
        };
        let found = if results.iter().any(is_host) {
            Placement::ON_HOST
        } else {
            placement
        };
        node.placement.set(found);
        return on_device(results, device);
    }
    let results = call_at(node, &given, values, Device::Cpu)?;
    node.placement.set(Placement::ON_HOST);
    on_device(results, device)
}

/// Moves the floats among results to a device.
fn on_device(results: Vec<Value>, device: Device) -> Result<Vec<Value>> {
    let moved = |value: Value| match value {
        Value::Tensor(tensor) if tensor.dtype().is_float() => {
            tensor.to_device(device).map(Value::Tensor)
        }
        value => Ok(value),
    };
    results.into_iter().map(moved).collect()
}

/// Calls the operator on copies of its operands.
fn call_at(
    node: &Node,
    given: &[Option<&Value>],
    values: &Values,
    device: Device,
) -> Result<Vec<Value>> {
    let moved = |value: &Option<&Value>| match value {
        Some(Value::Tensor(tensor)) => Ok(Some(Value::Tensor(tensor.to_device(device)?))),
        other => Ok(other.cloned()),
    };
    let all = given.iter().map(moved).collect::<Result<Vec<_>>>()?;
    call_with(node, all.iter().map(Option::as_ref).collect(), values)
}

/// Calls the operator of a node on operands.
///
/// # Errors
/// If the operator fails or has too few results.
fn call_with<'a>(
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
    let fail = |what: &str| Err(Error::new(ErrorKind::Argument, row.name(), what.to_owned()));
    let missing =
        (node.inputs.iter().zip(&inputs)).any(|(id, value)| id.is_some() && value.is_none());
    let results = if missing {
        fail("an input has no value")
    } else {
        row.run(node, inputs, values)
    };
    let needed = (node.outputs.iter().rposition(Option::is_some)).map_or(0, |last| last + 1);
    let results = match results {
        Ok(results) if results.len() < needed => {
            fail("an output that is asked for is not supported")
        }
        results => results,
    };
    results.map_err(|error| {
        error
            .in_op(row.name())
            .within(format!("{node} (opset {})", node.opset))
    })
}
