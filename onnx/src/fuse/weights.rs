//! Layers with constant weights: factors, biases, norms and activations beside them.

use nomina::DynTensor;
use nomina_core::Result;

use super::{Fusion, Operand, View, rows};
use crate::call::{floats, from_floats, reshape};
use crate::graph::{Attribute, ValueId};

/// `y * factor + shift` for each channel.
struct Affine {
    factor: Vec<f64>,
    shift: Vec<f64>,
}

/// The numbers of a constant that has one for each channel, dim 1 of `rank`, or one for all.
fn by_channel(constant: &DynTensor, channels: usize, rank: usize) -> Option<Vec<f64>> {
    let shape = constant.shape();
    let along = rank.checked_sub(shape.len())?;
    let is_channel = |at: usize| along + at == 1;
    let fits = shape
        .iter()
        .enumerate()
        .all(|(at, &size)| size == 1 || is_channel(at) && size == channels);
    let values = floats(constant).ok().filter(|_| fits)?;
    Some(if values.len() == channels {
        values
    } else {
        vec![*values.first()?; channels]
    })
}

/// The factor and the shift of a node after a layer, and the layer's result.
fn affine(view: &View<'_>, at: usize, channels: usize, y: ValueId) -> Option<Affine> {
    let (node, rank) = (&view.graph.nodes[at], view.rank(y)?);
    let ones = || vec![1.0; channels];
    let zeros = || vec![0.0; channels];
    if node.op == "BatchNormalization" {
        let on = |name: &str| matches!(node.attribute(name), Some(Attribute::Int(n)) if *n != 0);
        if on("training_mode") || node.opset < 7 || node.attribute("spatial").is_some() {
            return None;
        }
        let eps = match node.attribute("epsilon") {
            Some(Attribute::Float(eps)) => f64::from(*eps),
            _ => 1e-5,
        };
        let vector = |at: usize| {
            let id = node.inputs.get(at).copied().flatten()?;
            floats(view.constant(id)?)
                .ok()
                .filter(|all| all.len() == channels)
        };
        let (weight, bias, mean, variance) = (vector(1)?, vector(2)?, vector(3)?, vector(4)?);
        let factor: Vec<f64> = weight
            .iter()
            .zip(&variance)
            .map(|(w, v)| w / (v + eps).sqrt())
            .collect();
        let shift = (0..channels)
            .map(|c| bias[c] - mean[c] * factor[c])
            .collect();
        return Some(Affine { factor, shift });
    }
    let [a, b] = view.two(at)?;
    let other = if a == y { b } else { a };
    if a == b || node.opset < 7 {
        return None;
    }
    let values = by_channel(view.constant(other)?, channels, rank)?;
    let negated = || values.iter().map(|v| -v).collect();
    Some(match &node.op[..] {
        "Mul" => Affine {
            factor: values,
            shift: zeros(),
        },
        "Div" if other == b => Affine {
            factor: values.iter().map(|v| 1.0 / v).collect(),
            shift: zeros(),
        },
        "Add" => Affine {
            factor: ones(),
            shift: values,
        },
        "Sub" if other == b => Affine {
            factor: ones(),
            shift: negated(),
        },
        _ => return None,
    })
}

/// Finds a factor, a shift or a batch norm after a convolution, which its weight and bias take.
pub fn match_affine(view: &View<'_>, root: usize) -> Option<Fusion> {
    if !["BatchNormalization", "Mul", "Div", "Add", "Sub"].contains(&&view.graph.nodes[root].op[..])
        || !view.is_f32(view.result(root)?)
    {
        return None;
    }
    let candidates = view.graph.nodes[root].inputs.iter().take(2).flatten();
    let found = candidates.filter_map(|&id| {
        let layer = view.maker(id)?;
        let op = &view.graph.nodes[layer].op[..];
        matches!(
            op,
            "Conv" | "ConvActivation" | "ConvTranspose" | "ConvTransposeActivation"
        )
        .then_some((id, layer))
    });
    let (y, layer) = found.last()?;
    let node = &view.graph.nodes[layer];
    let turned = node.op.starts_with("ConvTranspose");
    let is_grouped = matches!(node.attribute("group"), Some(Attribute::Int(n)) if *n != 1);
    if node.attribute("activation").is_some() || turned && is_grouped {
        return None;
    }
    let weight = view
        .input(layer, 1)
        .and_then(|id| view.constant(id))
        .filter(|w| w.dtype() == nomina::DType::F32)?;
    let out = usize::from(turned);
    let channels = *weight.shape().get(out)?;
    let affine = affine(view, root, channels, y)?;
    let bias = match view.input(layer, 2) {
        Some(id) => Some(
            floats(view.constant(id)?)
                .ok()
                .filter(|all| all.len() == channels)?,
        ),
        None => None,
    };
    let (weight, bias) = scaled(weight, out, bias, &affine).ok()?;
    Some(Fusion {
        kind: if view.graph.nodes[root].op == "BatchNormalization" {
            "batch norm in a convolution"
        } else {
            "factor or bias in a convolution"
        },
        nodes: vec![root, layer],
        op: if turned {
            "ConvTransposeActivation"
        } else {
            "ConvActivation"
        },
        inputs: vec![
            Operand::Value(view.input(layer, 0)?),
            Operand::Constant(weight),
            Operand::Constant(bias),
        ],
        attributes: node.attributes.clone(),
    })
}

/// Finds a batch norm that no convolution takes, and factors and shifts after it: one factor and one shift for each channel.
pub fn match_scale(view: &View<'_>, root: usize) -> Option<Fusion> {
    let node = &view.graph.nodes[root];
    let result = view.result(root).filter(|&id| view.is_f32(id))?;
    let rank = view.rank(result)?;
    if node.op == "BatchNormalization" {
        let x = view.input(root, 0)?;
        let channels = view.constant(view.input(root, 1)?)?.numel();
        let own = affine(view, root, channels, x)?;
        return scale(vec![root], x, rank, own);
    }
    if !["Mul", "Div", "Add", "Sub"].contains(&&node.op[..]) {
        return None;
    }
    let mut inputs = node.inputs.iter().flatten();
    let y = *inputs.find(|&&id| view.made_by(id, "Affine").is_some())?;
    let before = view.maker(y)?;
    let numbers = |at: usize| floats(view.constant(view.input(before, at)?)?).ok();
    let (factor, shift) = (numbers(1)?, numbers(2)?);
    let own = affine(view, root, factor.len(), y).filter(|_| view.rank(y) == Some(rank))?;
    let both = Affine {
        shift: (shift.iter().zip(&own.factor).zip(&own.shift))
            .map(|((a, factor), b)| a * factor + b)
            .collect(),
        factor: (factor.iter().zip(&own.factor))
            .map(|(a, b)| a * b)
            .collect(),
    };
    scale(vec![root, before], view.input(before, 0)?, rank, both)
}

/// Creates the node of a factor and a shift for each channel, dim 1 of `rank`.
fn scale(nodes: Vec<usize>, x: ValueId, rank: usize, affine: Affine) -> Option<Fusion> {
    let mut shape = vec![1; rank.checked_sub(1)?];
    *shape.first_mut()? = affine.factor.len();
    let constant = |numbers| from_floats(numbers, &shape, nomina::DType::F32).ok();
    Some(Fusion {
        kind: "factor and shift of channels",
        nodes,
        op: "Affine",
        inputs: vec![
            Operand::Value(x),
            Operand::Constant(constant(affine.factor)?),
            Operand::Constant(constant(affine.shift)?),
        ],
        attributes: Vec::new(),
    })
}

/// The weight and bias of a layer whose result is scaled and shifted; the dim `out` of the weight has the channels.
fn scaled(
    weight: &DynTensor,
    out: usize,
    bias: Option<Vec<f64>>,
    affine: &Affine,
) -> Result<(DynTensor, DynTensor)> {
    let count = affine.factor.len();
    let shifted = (0..count)
        .map(|c| bias.as_ref().map_or(0.0, |b| b[c]) * affine.factor[c] + affine.shift[c])
        .collect();
    let mut shape = vec![1; weight.rank()];
    shape[out] = count;
    let weight = if affine.factor.iter().all(|&f| f == 1.0) {
        weight.clone()
    } else {
        let factor = from_floats(affine.factor.clone(), &[count], weight.dtype())?;
        weight.mul(&reshape(&factor, &shape)?)?
    };
    Ok((weight, from_floats(shifted, &[count], nomina::DType::F32)?))
}

/// Finds a sum of a convolution and another value of its sizes.
pub fn match_residual(view: &View<'_>, root: usize) -> Option<Fusion> {
    let [a, b] = view
        .two(root)
        .filter(|_| matches!(&view.graph.nodes[root].op[..], "Add" | "Sum"))?;
    let result = view.result(root).filter(|&id| view.is_f32(id))?;
    // Doubled sums have no other value.
    let fits = a != b && view.is_f32(a) && view.is_f32(b) && view.have_same_sizes(a, b);
    let layer = |id: ValueId| {
        let layer = view.maker(id)?;
        let node = &view.graph.nodes[layer];
        let is_plain = node.attribute("activation").is_none() && node.inputs.len() < 4;
        let is_conv = matches!(&node.op[..], "Conv" | "ConvActivation");
        (is_conv && is_plain && view.is_closed(&[root, layer])).then_some(layer)
    };
    // The other value is computed before the sum; of two convolutions, the last one adds.
    let (layer, other) = layer(a).map(|at| (at, b)).max(layer(b).map(|at| (at, a)))?;
    let constant = view.constant(other).is_some();
    let input = |at: usize| view.input(layer, at).map_or(Operand::None, Operand::Value);
    (fits && !constant && view.have_same_sizes(a, result)).then(|| Fusion {
        kind: "sum with a convolution",
        nodes: vec![root, layer],
        op: "ConvActivation",
        inputs: vec![input(0), input(1), input(2), Operand::Value(other)],
        attributes: view.graph.nodes[layer].attributes.clone(),
    })
}

/// Finds a bias and an activation after a product with a constant matrix, and an activation after a convolution.
pub fn match_layer(view: &View<'_>, root: usize) -> Option<Fusion> {
    let result = view.result(root).filter(|&id| view.is_f32(id))?;
    let node = &view.graph.nodes[root];
    match &node.op[..] {
        "MatMul" => product(view, root, Vec::new(), None),
        "Gemm" => gemm(view, root),
        "Add" => {
            let [a, b] = view.two(root)?;
            let (y, bias) = if view.constant(b).is_some() {
                (a, b)
            } else {
                (b, a)
            };
            let layer = view.made_by(y, "MatMul")?;
            product(view, layer, vec![root], Some(bias))
        }
        op if IS_ACTIVATION.contains(&op) => {
            let x = view.input(root, 0)?;
            let layer = view.maker(x)?;
            let before = &view.graph.nodes[layer];
            let tanh = matches!(node.attribute("approximate"), Some(Attribute::Text(text)) if text == "tanh");
            let name = if op == "Gelu" && tanh { "GeluTanh" } else { op };
            if before.attribute("activation").is_some() {
                return None;
            }
            let (fused, known): (_, bool) = match &before.op[..] {
                "Linear" => ("Linear", rows::activation(name).is_some()),
                "Conv" | "ConvActivation" => {
                    ("ConvActivation", rows::AFTER_CONVOLUTION.contains(&name))
                }
                "ConvTransposeActivation" => (
                    "ConvTransposeActivation",
                    rows::AFTER_CONVOLUTION.contains(&name),
                ),
                _ => return None,
            };
            let mut attributes = before.attributes.clone();
            attributes.push(("activation".into(), Attribute::Text(name.into())));
            if let ("LeakyRelu", Some(slope)) = (name, node.attribute("alpha")) {
                attributes.push(("alpha".into(), slope.clone()));
            }
            let inputs = before
                .inputs
                .iter()
                .map(|id| id.map_or(Operand::None, Operand::Value))
                .collect();
            (known && view.rank(result) == view.rank(x)).then_some(Fusion {
                kind: if fused == "Linear" {
                    "activation of a linear layer"
                } else {
                    "activation of a convolution"
                },
                nodes: vec![root, layer],
                op: fused,
                inputs,
                attributes,
            })
        }
        _ => None,
    }
}

const IS_ACTIVATION: &[&str] = &[
    "Relu",
    "Sigmoid",
    "Tanh",
    "Silu",
    "HardSwish",
    "Gelu",
    "LeakyRelu",
];

/// A product with a constant matrix, transposed to the layout of linear layers, with a bias of one number for each column.
fn product(
    view: &View<'_>,
    layer: usize,
    mut nodes: Vec<usize>,
    bias: Option<ValueId>,
) -> Option<Fusion> {
    let [x, w] = view.two(layer)?;
    let weight = view
        .constant(w)
        .filter(|w| w.rank() == 2 && view.is_f32(x) && w.dtype() == nomina::DType::F32)?;
    // A product alone gains nothing.
    let bias = view
        .constant(bias?)
        .filter(|b| b.dtype() == nomina::DType::F32 && b.shape() == [weight.shape()[1]])?;
    nodes.push(layer);
    view.rank(x).filter(|&rank| rank > 0)?;
    Some(Fusion {
        kind: "linear layer",
        nodes,
        op: "Linear",
        inputs: vec![
            Operand::Value(x),
            Operand::Constant(view.turned(weight)?),
            Operand::Constant(bias.clone()),
        ],
        attributes: Vec::new(),
    })
}

fn gemm(view: &View<'_>, root: usize) -> Option<Fusion> {
    let node = &view.graph.nodes[root];
    let flag = |name: &str| matches!(node.attribute(name), Some(Attribute::Int(n)) if *n != 0);
    let is_one =
        |name: &str| !matches!(node.attribute(name), Some(Attribute::Float(f)) if *f != 1.0);
    let x = view.input(root, 0)?;
    let weight = view
        .constant(view.input(root, 1)?)
        .filter(|w| w.rank() == 2)?;
    if flag("transA") || !is_one("alpha") || !is_one("beta") {
        return None;
    }
    let weight = if flag("transB") {
        weight.clone()
    } else {
        view.turned(weight)?
    };
    let bias = match view.input(root, 2) {
        None => Operand::None,
        Some(id) => Operand::Constant(
            view.constant(id)
                .filter(|b| b.shape() == [weight.shape()[0]])?
                .clone(),
        ),
    };
    Some(Fusion {
        kind: "linear layer",
        nodes: vec![root],
        op: "Linear",
        inputs: vec![Operand::Value(x), Operand::Constant(weight), bias],
        attributes: Vec::new(),
    })
}
