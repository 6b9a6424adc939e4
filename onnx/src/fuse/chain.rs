//! Chains of elementwise operators, which one pass over the elements computes.

use nomina_core::DType;
use nomina_core::op::Op;

use super::program::Program;
use super::{Fusion, Operand, View};
use crate::graph::{Attribute, Node, ValueId};

/// The most nodes of a chain.
const MOST_NODES: usize = 12;

/// The operator of a node of one or two operands, without attributes.
fn plain(op: &str) -> Option<Op> {
    Some(match op {
        "Add" => Op::Add,
        "Sub" => Op::Sub,
        "Mul" => Op::Mul,
        "Div" => Op::Div,
        "Relu" => Op::Relu,
        "Sigmoid" => Op::Sigmoid,
        "Tanh" => Op::Tanh,
        "Exp" => Op::Exp,
        "Log" => Op::Log,
        "Sqrt" => Op::Sqrt,
        "Neg" => Op::Neg,
        "Abs" => Op::Abs,
        "Erf" => Op::Erf,
        "Reciprocal" => Op::Reciprocal,
        "Silu" => Op::Silu,
        "HardSwish" => Op::Hardswish,
        _ => return None,
    })
}

fn float(node: &Node, name: &str, default: f64) -> f64 {
    match node.attribute(name) {
        Some(Attribute::Float(value)) => f64::from(*value),
        _ => default,
    }
}

/// Returns whether a chain may have a node: elementwise, of `f32` or a conversion to it, and with its bounds constant.
fn fits(view: &View<'_>, at: usize) -> bool {
    let node = &view.graph.nodes[at];
    let (Some(result), Some(first)) = (view.result(at), view.input(at, 0)) else {
        return false;
    };
    if node.opset < 7 || node.row.is_none() || !view.is_f32(result) {
        return false;
    }
    let all_f32 = node.inputs.iter().flatten().all(|&id| view.is_f32(id));
    match &node.op[..] {
        "Cast" => node.attribute("round_mode").is_none(),
        "HardSigmoid" | "LeakyRelu" | "Affine" => all_f32,
        "Sum" => all_f32 && node.inputs.len() > 1 && node.inputs.iter().all(Option::is_some),
        // Only squares.
        "Pow" => all_f32 && (view.input(at, 1)).and_then(|id| view.number(id, first)) == Some(2.0),
        "Clip" => {
            node.opset >= 11
                && node
                    .inputs
                    .iter()
                    .skip(1)
                    .flatten()
                    .all(|&id| view.number(id, first).is_some())
        }
        op => plain(op).is_some() && all_f32 && node.inputs.iter().all(Option::is_some),
    }
}

/// Finds a chain that ends at a node.
pub fn match_chain(view: &View<'_>, root: usize) -> Option<Fusion> {
    if !fits(view, root) {
        return None;
    }
    let result = view.result(root)?;
    let mut nodes = vec![root];
    let mut grows = true;
    while grows {
        grows = false;
        let inputs: Vec<ValueId> = nodes
            .iter()
            .flat_map(|&at| view.graph.nodes[at].inputs.iter().flatten().copied())
            .collect();
        for id in inputs {
            let Some(at) = view.maker(id).filter(|at| !nodes.contains(at)) else {
                continue;
            };
            nodes.push(at);
            let fits = nodes.len() <= MOST_NODES && fits(view, at) && view.is_closed(&nodes);
            // A smaller operand is computed once, and not for each element.
            if fits && view.have_same_sizes(id, result) {
                grows = true;
            } else {
                nodes.pop();
            }
        }
    }
    if nodes.len() < 2 {
        return None;
    }
    let (mut program, mut inputs) = (Program::default(), Vec::<ValueId>::new());
    let mut steps = Vec::<(ValueId, usize)>::new();
    let mut order = nodes.clone();
    order.sort_unstable();
    for &at in &order {
        let node = &view.graph.nodes[at];
        let count = if matches!(&node.op[..], "Clip" | "Pow") {
            1
        } else {
            node.inputs.len()
        };
        let mut operands = Vec::with_capacity(count);
        for &id in node.inputs.iter().take(count).flatten() {
            let known = steps.iter().find(|step| step.0 == id).map(|step| step.1);
            let step = match (known, view.number(id, result)) {
                (Some(step), _) => step,
                (None, Some(number)) => program.number(number),
                (None, None) => {
                    inputs.push(id);
                    program.operand()
                }
            };
            if known.is_none() {
                steps.push((id, step));
            }
            operands.push(step);
        }
        let step = step_of(view, node, &operands, &mut program)?;
        steps.push((view.result(at)?, step));
    }
    if inputs.is_empty() {
        return None;
    }
    Some(Fusion {
        kind: "elementwise",
        nodes,
        op: "Chain",
        inputs: inputs.into_iter().map(Operand::Value).collect(),
        attributes: vec![("program".into(), Attribute::Program(Box::new(program)))],
    })
}

fn step_of(
    view: &View<'_>,
    node: &Node,
    operands: &[usize],
    program: &mut Program,
) -> Option<usize> {
    let x = *operands.first()?;
    Some(match &node.op[..] {
        "Sum" => {
            let rest = &operands[1..];
            rest.iter()
                .fold(x, |sum, &y| program.apply(Op::Add, &[sum, y]))
        }
        "Affine" => {
            let &[_, factor, shift] = operands else {
                return None;
            };
            let scaled = program.apply(Op::Mul, &[x, factor]);
            program.apply(Op::Add, &[scaled, shift])
        }
        "Pow" => program.apply(Op::Mul, &[x, x]),
        "Cast" => program.to(DType::F32, x),
        "LeakyRelu" => {
            let slope = program.number(float(node, "alpha", 0.01));
            program.apply(Op::LeakyRelu, &[x, slope])
        }
        "HardSigmoid" => {
            let (alpha, beta) = (
                program.number(float(node, "alpha", 0.2)),
                program.number(float(node, "beta", 0.5)),
            );
            let (zero, one) = (program.number(0.0), program.number(1.0));
            let y = program.apply(Op::Mul, &[x, alpha]);
            let y = program.apply(Op::Add, &[y, beta]);
            let y = program.apply(Op::ClampMin, &[y, zero]);
            program.apply(Op::ClampMax, &[y, one])
        }
        "Clip" => {
            let (mut y, first) = (x, node.inputs.first().copied().flatten()?);
            for (at, op) in [(1, Op::ClampMin), (2, Op::ClampMax)] {
                if let Some(id) = node.inputs.get(at).copied().flatten() {
                    let bound = program.number(view.number(id, first)?);
                    y = program.apply(op, &[y, bound]);
                }
            }
            y
        }
        op => program.apply(plain(op)?, operands),
    })
}
