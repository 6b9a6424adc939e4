//! Where a node runs, for values on a device.

use std::sync::atomic::{AtomicU8, Ordering};

use nomina::Device;
use nomina_core::Result;

use crate::call::{Value, Values};
use crate::graph::Node;
use crate::run::call_with;

/// The operands of a node, as its operator takes them: found at the first run, which tries one after another.
#[derive(Debug, Default)]
pub struct Placement(AtomicU8);

impl Clone for Placement {
    fn clone(&self) -> Self {
        Self(AtomicU8::new(self.0.load(Ordering::Relaxed)))
    }
}

/// Operands as they are: sizes and axes stay on the host.
const AS_GIVEN: u8 = 0;
/// All operands on the device: constants and indices that are made on the host are copied.
const ON_DEVICE: u8 = 1;
/// All operands on the host, for operators that have no kernel; floats among the results are copied back.
const ON_HOST: u8 = 2;

impl Placement {
    /// Returns whether the node has run on the host.
    pub fn is_host(&self) -> bool {
        self.0.load(Ordering::Relaxed) == ON_HOST
    }
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
    let first = node.placement.0.load(Ordering::Relaxed);
    for placement in first..ON_HOST {
        let results = match placement {
            AS_GIVEN => call_with(node, given.clone(), values),
            ON_DEVICE => call_at(node, &given, values, device),
            _ => break,
        };
        let Ok(results) = results else { continue };
        // An operator that reads elements on the host has its results there.
        let is_host = |value: &Value| {
            let tensor = value.tensor().filter(|tensor| tensor.dtype().is_float());
            tensor.is_some_and(|tensor| !tensor.device().is_cuda())
        };
        let found = if results.iter().any(is_host) {
            ON_HOST
        } else {
            placement
        };
        node.placement.0.store(found, Ordering::Relaxed);
        return on_device(results, device);
    }
    let results = call_at(node, &given, values, Device::Cpu)?;
    node.placement.0.store(ON_HOST, Ordering::Relaxed);
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
