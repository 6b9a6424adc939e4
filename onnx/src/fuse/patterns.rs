//! Layer norms, activations and attention that exporters write as several nodes.

use super::{Fusion, Operand, View};
use crate::graph::{Attribute, ValueId};

/// The square root of 2, and the factors of the approximation of gelu by tanh.
const ROOT_2: f64 = std::f64::consts::SQRT_2;
const TANH_FACTOR: f64 = 0.797_884_560_802_865_4;
const CUBE_FACTOR: f64 = 0.044_715;

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-5 * b.abs()
}

/// The operand that is a number, and the other.
fn with_number(view: &View<'_>, node: usize) -> Option<(ValueId, f64)> {
    let [a, b] = view.two(node)?;
    (view.number(b, a).map(|n| (a, n))).or_else(|| view.number(a, b).map(|n| (b, n)))
}

/// A product of values and numbers, over several nodes.
#[derive(Default)]
struct Product {
    nodes: Vec<usize>,
    values: Vec<ValueId>,
    number: f64,
}

/// Collects the factors of a product, with divisions by numbers; `keep` are values that are not taken apart.
fn product(view: &View<'_>, root: usize, keep: &[ValueId]) -> Product {
    let mut all = Product {
        number: 1.0,
        ..Default::default()
    };
    let mut open = vec![root];
    while let Some(at) = open.pop() {
        all.nodes.push(at);
        let Some([a, b]) = view.two(at) else { continue };
        let is_division = view.graph.nodes[at].op == "Div";
        for (id, beside) in [(a, b), (b, a)] {
            let number = view.number(id, beside);
            match number {
                Some(number) if is_division && id == b => all.number /= number,
                Some(number) if !is_division => all.number *= number,
                _ => {
                    let maker = view
                        .maker(id)
                        .filter(|&at| is_factor(view, at) && !keep.contains(&id));
                    match maker.filter(|at| {
                        all.nodes.len() < 8
                            && view.is_closed(&[&all.nodes[..], &open[..], &[*at]].concat())
                    }) {
                        Some(at) if !all.nodes.contains(&at) => open.push(at),
                        _ => all.values.push(id),
                    }
                }
            }
        }
    }
    all
}

/// A product, or a quotient by a number.
fn is_factor(view: &View<'_>, at: usize) -> bool {
    let node = &view.graph.nodes[at];
    let Some([a, b]) = view.two(at) else {
        return false;
    };
    node.opset >= 7 && (node.op == "Mul" || node.op == "Div" && view.number(b, a).is_some())
}

fn unary(kind: &'static str, op: &'static str, nodes: Vec<usize>, x: ValueId) -> Fusion {
    Fusion {
        kind,
        nodes,
        op,
        inputs: vec![Operand::Value(x)],
        attributes: Vec::new(),
    }
}

/// Finds silu, hard swish and gelu that end at a node.
pub fn match_activation(view: &View<'_>, root: usize) -> Option<Fusion> {
    if !is_factor(view, root) || !view.is_f32(view.result(root)?) {
        return None;
    }
    let all = product(view, root, &[]);
    let [a, b] = all.values[..] else { return None };
    [(a, b), (b, a)]
        .into_iter()
        .find_map(|(x, gate)| gated(view, &all, x, gate))
}

/// Finds an activation that multiplies `x` by a function of it.
fn gated(view: &View<'_>, all: &Product, x: ValueId, gate: ValueId) -> Option<Fusion> {
    let with = |nodes: &[usize]| [&all.nodes, nodes].concat();
    let maker = view.maker(gate)?;
    match &view.graph.nodes[maker].op[..] {
        "Sigmoid" => {
            let fits = is_near(all.number, 1.0) && view.input(maker, 0) == Some(x);
            fits.then(|| unary("silu", "Silu", with(&[maker]), x))
        }
        "Clip" => {
            let sum = view.made_by(view.input(maker, 0)?, "Add")?;
            let bound = |at: usize| view.number(view.input(maker, at)?, x);
            let fits = is_near(all.number * 6.0, 1.0)
                && (bound(1)?, bound(2)?) == (0.0, 6.0)
                && with_number(view, sum) == Some((x, 3.0));
            fits.then(|| unary("hard swish", "HardSwish", with(&[maker, sum]), x))
        }
        // Half of x times one plus a function of x.
        "Add" if is_near(all.number, 0.5) => {
            let (inner, one) = with_number(view, maker)?;
            let inner_maker = view.maker(inner).filter(|_| one == 1.0)?;
            let scaled = view.maker(view.input(inner_maker, 0)?)?;
            let scaled = product(view, Some(scaled).filter(|&at| is_factor(view, at))?, &[x]);
            let nodes = with(&[maker, inner_maker]);
            match &view.graph.nodes[inner_maker].op[..] {
                "Erf" => {
                    let fits = scaled.values == [x] && is_near(scaled.number * ROOT_2, 1.0);
                    fits.then(|| unary("gelu", "Gelu", [nodes, scaled.nodes].concat(), x))
                }
                "Tanh" => {
                    let [sum] = scaled.values[..] else {
                        return None;
                    };
                    let cube = x_plus_cube(view, sum, x)
                        .filter(|_| is_near(scaled.number, TANH_FACTOR))?;
                    let mut fusion = unary("gelu", "Gelu", [nodes, scaled.nodes, cube].concat(), x);
                    fusion
                        .attributes
                        .push(("approximate".into(), Attribute::Text("tanh".into())));
                    Some(fusion)
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// Returns the nodes of `x + 0.044715 * x * x * x`, with a power or products.
fn x_plus_cube(view: &View<'_>, sum: ValueId, x: ValueId) -> Option<Vec<usize>> {
    let add = view.made_by(sum, "Add")?;
    let operands = view.two(add).filter(|operands| operands.contains(&x))?;
    let cube = view.maker(operands.into_iter().find(|&id| id != x)?)?;
    let cube = product(view, Some(cube).filter(|&at| is_factor(view, at))?, &[x]);
    let mut nodes = [vec![add], cube.nodes].concat();
    match cube.values[..] {
        [a, b, c] if [a, b, c] == [x; 3] => {}
        [power] => {
            let at = view.made_by(power, "Pow")?;
            let (base, exponent) = (view.input(at, 0)?, view.input(at, 1)?);
            if base != x || view.number(exponent, x) != Some(3.0) {
                return None;
            }
            nodes.push(at);
        }
        _ => return None,
    }
    is_near(cube.number, CUBE_FACTOR).then_some(nodes)
}

/// Returns the operand of a mean over the last dim that is kept.
fn mean_of(view: &View<'_>, id: ValueId) -> Option<(usize, ValueId)> {
    let at = view.made_by(id, "ReduceMean")?;
    let (node, x) = (&view.graph.nodes[at], view.input(at, 0)?);
    let axes = match (node.attribute("axes"), view.input(at, 1)) {
        (Some(Attribute::Ints(axes)), _) => axes.clone(),
        (None, Some(axes)) => view.known_ints(axes)?,
        _ => return None,
    };
    let last = view.rank(x)? as i64 - 1;
    let keeps = !matches!(node.attribute("keepdims"), Some(Attribute::Int(0)));
    (keeps && last >= 0 && (axes == [-1] || axes == [last])).then_some((at, x))
}

/// Finds a layer norm over the last dim that ends at a node: with weight and bias, with a weight, or with neither.
pub fn match_norm(view: &View<'_>, root: usize) -> Option<Fusion> {
    let result = view.result(root).filter(|&id| view.is_f32(id))?;
    let vector = |id: ValueId| {
        view.constant(id)
            .is_some_and(|c| c.rank() == 1 && view.is_f32(id))
    };
    // The operand that is a vector, and the other.
    let split = |at: usize| {
        let [a, b] = view.two(at)?;
        if vector(b) {
            Some((a, b))
        } else {
            vector(a).then_some((b, a))
        }
    };
    let (mut at, mut nodes) = (root, vec![root]);
    let (mut weight, mut bias) = (None, None);
    let op = |at: usize| &view.graph.nodes[at].op[..];
    if op(at) == "Add" {
        let (inner, vector) = split(at)?;
        bias = Some(vector);
        at = view.maker(inner)?;
        nodes.push(at);
    }
    if op(at) == "Mul" {
        let (inner, vector) = split(at)?;
        weight = Some(vector);
        at = view.maker(inner)?;
        nodes.push(at);
    }
    if op(at) != "Div" || bias.is_some() && weight.is_none() {
        return None;
    }
    let [centred, deviation] = view.two(at)?;
    let root_of = view.made_by(deviation, "Sqrt")?;
    let sum = view.made_by(view.input(root_of, 0)?, "Add")?;
    let (variance, eps) = with_number(view, sum)?;
    let (mean_square, square) = mean_of(view, variance)?;
    let square = view.maker(square)?;
    let is_square = match (op(square), view.two(square)?) {
        ("Pow", [base, two]) => base == centred && view.number(two, base) == Some(2.0),
        ("Mul", operands) => operands == [centred; 2],
        _ => false,
    };
    let sub = view.made_by(centred, "Sub")?;
    let [x, mean] = view.two(sub)?;
    let (mean, of) = mean_of(view, mean)?;
    if !is_square || of != x || view.rank(x) != view.rank(result) {
        return None;
    }
    nodes.extend([root_of, sum, mean_square, square, sub, mean]);
    let operand = |id: Option<ValueId>| id.map_or(Operand::None, Operand::Value);
    Some(Fusion {
        kind: "layer norm",
        nodes,
        op: "LayerNorm",
        inputs: vec![Operand::Value(x), operand(weight), operand(bias)],
        attributes: vec![("epsilon".into(), Attribute::Float(eps as f32))],
    })
}

/// Finds attention that ends at a node: the softmax of scaled products of queries and keys, plus a mask, times the values.
pub fn match_attention(view: &View<'_>, root: usize) -> Option<Fusion> {
    if view.graph.nodes[root].op != "MatMul" || !view.is_f32(view.result(root)?) {
        return None;
    }
    let [weights, v] = view.two(root)?;
    let softmax = view.made_by(weights, "Softmax")?;
    let rank = view.rank(weights)?;
    let axis = match view.graph.nodes[softmax].attribute("axis") {
        Some(Attribute::Int(axis)) => *axis,
        // Dim 1 in older opsets.
        _ if view.graph.nodes[softmax].opset < 13 => return None,
        _ => -1,
    };
    if axis != -1 && axis != rank as i64 - 1 {
        return None;
    }
    let (mut nodes, mut scores) = (vec![root, softmax], view.input(softmax, 0)?);
    let (mut scale, mut mask) = (1.0, None);
    if let Some(add) = view.made_by(scores, "Add") {
        let [a, b] = view.two(add)?;
        let is_scores = |id: ValueId| {
            view.maker(id)
                .is_some_and(|at| view.graph.nodes[at].op == "MatMul" || is_factor(view, at))
        };
        let (inner, added) = if is_scores(a) { (a, b) } else { (b, a) };
        nodes.push(add);
        scores = inner;
        mask = Some(added);
        // The mask must not be wider than the scores.
        if view.rank(added)? > rank {
            return None;
        }
    }
    if let Some(at) = view.maker(scores).filter(|&at| is_factor(view, at)) {
        let (x, number) = with_number(view, at)?;
        scale = if view.graph.nodes[at].op == "Div" {
            1.0 / number
        } else {
            number
        };
        nodes.push(at);
        scores = x;
    }
    let product = view.made_by(scores, "MatMul")?;
    let [q, k] = view.two(product)?;
    nodes.push(product);
    if !(3..=4).contains(&rank) || [q, k, v].iter().any(|&id| view.rank(id) != Some(rank)) {
        return None;
    }
    let mask = mask.map_or(Operand::None, Operand::Value);
    Some(Fusion {
        kind: "attention",
        nodes,
        op: "Attention",
        inputs: vec![
            Operand::Value(q),
            Operand::Value(k),
            Operand::Value(v),
            mask,
        ],
        attributes: vec![("scale".into(), Attribute::Float(scale as f32))],
    })
}
