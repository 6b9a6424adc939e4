//! Computes nodes whose inputs are all constant when a model is opened, and takes the branches of `If` that they choose.

use nomina::DynTensor;

use crate::call::{Value, ints, reshape};
use crate::graph::{Graph, Node};
use crate::proto::MAX_DEPTH;
use crate::run::call;

/// The most elements that opening may compute for a file of no size.
const LEAST_BUDGET: usize = 1 << 16;

/// Replaces nodes by their results while these have together no more elements than `bytes / 8` and a constant. An `If` whose condition
/// is constant is replaced by its branch.
pub fn fold(graph: &mut Graph, bytes: usize) {
    let mut budget = LEAST_BUDGET + bytes / 8;
    for _ in 0..MAX_DEPTH {
        fold_constants(graph, &mut budget);
        let taken = graph.take_branches(|graph, id| graph.constants.get(&id).and_then(truth));
        if taken == 0 {
            break;
        }
    }
    graph.remove_dead();
}

/// Returns the truth of a condition, which has one element.
pub fn truth(condition: &DynTensor) -> Option<bool> {
    let scalar = (condition.numel() == 1).then(|| reshape(condition, &[]).ok()?.item().ok())?;
    Some(scalar?.to_bool())
}

fn fold_constants(graph: &mut Graph, budget: &mut usize) {
    let mut values = vec![None; graph.values.len()];
    for (&id, tensor) in &graph.constants {
        values[id] = Some(Value::Tensor(tensor.clone()));
    }
    let mut nodes = Vec::with_capacity(graph.nodes.len());
    for node in std::mem::take(&mut graph.nodes) {
        let inputs: Option<Vec<&DynTensor>> = node
            .inputs
            .iter()
            .flatten()
            .map(|&id| values[id].as_ref()?.tensor())
            .collect();
        let size = inputs
            .and_then(|inputs| work(&node, &inputs))
            .filter(|&size| size <= *budget);
        let results = match (node.row, size) {
            (Some(row), Some(_)) if row.is_foldable() => call(&node, &values).ok(),
            _ => None,
        };
        let tensors: Option<Vec<DynTensor>> = results.and_then(|all| {
            all.into_iter()
                .map(|value| value.tensor().cloned())
                .collect()
        });
        let Some(tensors) = tensors else {
            nodes.push(node);
            continue;
        };
        *budget -= size.unwrap_or(0).min(*budget);
        for (output, tensor) in node.outputs.iter().zip(tensors) {
            if let Some(id) = *output {
                values[id] = Some(Value::Tensor(tensor.clone()));
                graph.constants.insert(id, tensor);
            }
        }
    }
    graph.nodes = nodes;
}

/// A bound of the elements that a node computes; `None` if there is none.
fn work(node: &Node, inputs: &[&DynTensor]) -> Option<usize> {
    if node.graphs().next().is_some() {
        return None;
    }
    let size = |at: usize| {
        let sizes = ints(inputs.get(at)?).ok()?;
        sizes.iter().try_fold(1usize, |n, &size| {
            n.checked_mul(usize::try_from(size.max(1)).ok()?)
        })
    };
    let all = inputs
        .iter()
        .try_fold(1usize, |n, x| n.checked_mul(x.numel().max(1)));
    match &node.op[..] {
        // Their results share memory with their input.
        "Constant" | "Identity" => Some(1),
        "ConstantOfShape" => size(0),
        "Expand" => size(1)?.checked_mul(inputs.first()?.numel().max(1)),
        "Range" => {
            let [a, b, step] = inputs else { return None };
            let [a, b, step] = [a, b, step].map(|x| x.item().ok().map(|value| value.to_f64()));
            let count = ((b? - a?) / step?).abs();
            (count < 1e9).then_some(count as usize + 1)
        }
        "Tile" | "Pad" | "OneHot" | "Resize" | "Upsample" | "EyeLike" | "CenterCropPad"
        | "Col2Im" | "MaxUnpool" | "ConvTranspose" | "AffineGrid" | "HannWindow"
        | "HammingWindow" | "BlackmanWindow" | "MelWeightMatrix" | "DFT" | "STFT"
        | "ReduceLogSumExp" => None,
        _ => all,
    }
}
