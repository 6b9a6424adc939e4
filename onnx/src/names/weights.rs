//! How dims flow through operators with weights.

use super::classes::{Dim, Size, Source};
use super::follow::{int, ints, place};
use super::trace::Trace;
use crate::graph::{Attribute, Node, ValueId};
use crate::ops::slice_range;

impl Trace<'_> {
    pub(super) fn operand(&self, node: &Node, at: usize) -> Option<Vec<Dim>> {
        self.dims[(*node.inputs.get(at)?)?].clone()
    }

    pub(super) fn matmul(&mut self, node: &Node) -> Option<Vec<Dim>> {
        let (x, w) = (self.operand(node, 0)?, self.operand(node, 1)?);
        let inner = if w.len() > 1 {
            &w[w.len() - 2]
        } else {
            w.last()?
        };
        self.classes.join(x.last()?.class, inner.class);
        self.name_rows(node, &x, &w);
        let batch = |dims: &[Dim]| dims[..dims.len().saturating_sub(2)].to_vec();
        let mut y = self.broadcast_dims(&[batch(&x), batch(&w)]);
        if x.len() > 1 {
            y.push(x[x.len() - 2].clone());
        }
        if w.len() > 1 {
            let out = w[w.len() - 1].clone();
            self.hint_parameter(node, 1, &out);
            y.push(out);
        }
        Some(y)
    }

    pub(super) fn gemm(&mut self, node: &Node) -> Option<Vec<Dim>> {
        let (x, w) = (self.operand(node, 0)?, self.operand(node, 1)?);
        let ([x0, x1], [w0, w1]) = (&x[..], &w[..]) else {
            return None;
        };
        let (row, inner) = if int(node, "transA", 0) != 0 {
            (x1, x0)
        } else {
            (x0, x1)
        };
        let (other, column) = if int(node, "transB", 0) != 0 {
            (w1, w0)
        } else {
            (w0, w1)
        };
        self.classes.join(inner.class, other.class);
        self.name_rows(node, &[row.clone(), inner.clone()], &w);
        self.hint_parameter(node, 1, column);
        let y = vec![row.clone(), column.clone()];
        if let Some(bias) = self.operand(node, 2) {
            self.broadcast_dims(&[y.clone(), bias]);
        }
        Some(y)
    }

    pub(super) fn conv(&mut self, node: &Node, transposed: bool) -> Option<Vec<Dim>> {
        let (x, w) = (self.operand(node, 0)?, self.operand(node, 1)?);
        if x.len() != w.len() || x.len() < 3 {
            return None;
        }
        let group = int(node, "group", 1);
        let out = if transposed {
            self.classes.join(w[0].class, x[1].class);
            if group == 1 {
                w[1].clone()
            } else {
                self.classes.unknown_dim()
            }
        } else {
            if group == 1 {
                self.classes.join(w[1].class, x[1].class);
            } else if x[1].size.known() == Some(group) && w[0].size.known() == Some(group) {
                self.classes.join(w[0].class, x[1].class);
            }
            w[0].clone()
        };
        self.name_kernel(node, &w);
        self.name_image(node, &x);
        self.hint_parameter(node, 1, &out);
        self.join_vector(node.inputs.get(2).copied().flatten(), Some(&out));
        let kernel: Option<Vec<i64>> = w[2..].iter().map(|dim| dim.size.known()).collect();
        let mut y = match kernel {
            Some(kernel) if !transposed => self.windowed(node, &x, &kernel),
            _ => self.resized(&x, 2),
        };
        y[1] = out;
        Some(y)
    }

    pub(super) fn rnn(&mut self, node: &Node, count: usize) -> Vec<Option<Vec<Dim>>> {
        let mut all = vec![None; count];
        let (Some(x), Some(w), Some(r)) = (
            self.operand(node, 0),
            self.operand(node, 1),
            self.operand(node, 2),
        ) else {
            return all;
        };
        let ([a, b, input], [direction, gate, from], [other, gates, hidden]) =
            (&x[..], &w[..], &r[..])
        else {
            return all;
        };
        self.classes.join(input.class, from.class);
        self.classes.join(other.class, direction.class);
        self.classes.join(gates.class, gate.class);
        for (dim, name) in [(hidden, "Hidden"), (direction, "Direction"), (gate, "Gate")] {
            self.role(node, dim, Source::Role, name);
        }
        if let Some([from, both]) = self.operand(node, 3).as_deref() {
            self.classes.join(from.class, direction.class);
            self.role(node, both, Source::Role, "GateBias");
        }
        let (direction, hidden) = (direction.clone(), hidden.clone());
        let swapped = int(node, "layout", 0) != 0;
        let (time, batch) = if swapped {
            (b.clone(), a.clone())
        } else {
            (a.clone(), b.clone())
        };
        self.role(node, &time, Source::Role, "Time");
        self.role(node, &batch, Source::Role, "Batch");
        self.role(node, input, Source::Position, "Feature");
        let states = if swapped {
            [&batch, &direction, &hidden]
        } else {
            [&direction, &batch, &hidden]
        };
        let whole = if swapped {
            [&batch, &time, &direction, &hidden]
        } else {
            [&time, &direction, &batch, &hidden]
        };
        for (at, place) in all.iter_mut().enumerate() {
            let dims = if at == 0 { &whole[..] } else { &states[..] };
            *place = Some(dims.iter().map(|&dim| dim.clone()).collect());
        }
        for at in 5..7 {
            if let Some(state) = self.operand(node, at) {
                for (own, dim) in state.iter().zip(states) {
                    self.classes.join(own.class, dim.class);
                }
            }
        }
        all
    }

    /// The dims of a convolution or pool, with the sizes after the channels where they are known.
    pub(super) fn windowed(&mut self, node: &Node, x: &[Dim], kernel: &[i64]) -> Vec<Dim> {
        let mut y = self.resized(x, 2);
        let count = kernel.len();
        let same = match node.attribute("auto_pad") {
            Some(Attribute::Text(mode)) => mode.starts_with("SAME"),
            _ => false,
        };
        if int(node, "ceil_mode", 0) != 0 || x.len() != count + 2 {
            return y;
        }
        let all =
            |name: &str, default: i64| ints(node, name).unwrap_or_else(|| vec![default; 2 * count]);
        let (strides, dilations, pads) = (all("strides", 1), all("dilations", 1), all("pads", 0));
        for dim in 0..count {
            let (Some(size), Some(&stride), Some(&dilation)) = (
                x[dim + 2].size.known(),
                strides.get(dim),
                dilations.get(dim),
            ) else {
                continue;
            };
            let free = if same {
                Some(size.saturating_sub(1))
            } else {
                let padding = pads.get(dim).zip(pads.get(count + dim));
                padding.and_then(|(a, b)| {
                    let span = (kernel[dim].checked_sub(1)?)
                        .checked_mul(dilation)?
                        .checked_add(1)?;
                    size.checked_add(*a)?.checked_add(*b)?.checked_sub(span)
                })
            };
            if let Some(free) = free.filter(|&free| free >= 0 && stride > 0) {
                y[dim + 2].size = Size::fixed(free / stride + 1);
            }
        }
        y
    }

    /// The dims of a slice: only those of its axes change in size.
    pub(super) fn slice(&mut self, node: &Node, x: Vec<Dim>) -> Vec<Dim> {
        let numbers = |trace: &Self, name: &str, at: usize| -> Option<Vec<Option<i64>>> {
            match ints(node, name) {
                Some(all) => Some(all.into_iter().map(Some).collect()),
                None => {
                    let sizes = trace.sizes_of(node.inputs.get(at).copied().flatten())?;
                    Some(sizes.iter().map(Size::known).collect())
                }
            }
        };
        let starts = numbers(self, "starts", 1);
        let ends = numbers(self, "ends", 2);
        let steps = numbers(self, "steps", 4);
        let has_axes =
            node.attribute("axes").is_some() || node.inputs.get(3).is_some_and(Option::is_some);
        let axes = match (numbers(self, "axes", 3), &starts) {
            (Some(axes), _) => axes,
            (None, Some(starts)) if !has_axes => (0..starts.len() as i64).map(Some).collect(),
            _ => return self.resized(&x, 0),
        };
        let mut y = x;
        for (at, axis) in axes.into_iter().enumerate() {
            let Some(dim) = axis.and_then(|axis| place(axis, y.len())) else {
                return self.resized(&y, 0);
            };
            let number =
                |all: &Option<Vec<Option<i64>>>| all.as_ref().and_then(|all| *all.get(at)?);
            let step = if steps.is_some() {
                number(&steps)
            } else {
                Some(1)
            };
            let range = number(&starts).zip(number(&ends)).zip(step);
            if range == Some(((0, i64::MAX), 1)) {
                continue;
            }
            let size = y[dim].size.known().zip(range);
            let count = size.and_then(|(n, ((start, end), step))| slice_range(n, start, end, step));
            y[dim].size = count.map_or_else(
                || self.classes.unknown(),
                |(_, count)| Size::fixed(count as i64),
            );
        }
        y
    }

    /// Proposes the name of a weight's path, or of the node's, for the dim that it makes.
    pub(super) fn hint_parameter(&mut self, node: &Node, input: usize, dim: &Dim) {
        let Some(id) = node.inputs.get(input).copied().flatten() else {
            return;
        };
        if !self.weights[id] {
            return;
        }
        let value = |id: Option<ValueId>| id.map_or("", |id| &self.graph.values[id][..]);
        let path = match (parameter_path(value(Some(id))), &node.name[..]) {
            (Some(path), _) => path,
            (None, "") => {
                parameter_path(value(node.outputs.first().copied().flatten())).unwrap_or_default()
            }
            (None, name) => parameter_path(name).unwrap_or_default(),
        };
        self.classes.hint_path(dim.class, Source::Parameter, path);
    }
}

/// Words that say how a value was made, and not what it is.
const NOISE: &[&str] = &[
    "",
    "weight",
    "weights",
    "kernel",
    "w",
    "b",
    "bias",
    "biasadd",
    "readvariableop",
    "onnx",
    "resource",
    "output",
    "const",
    "constant",
    "const_fold_opt",
    "transpose",
    "reshape",
    "squeeze",
    "unsqueeze",
    "cast",
    "identity",
    "expanddims",
    "expand_dims",
    "p2o",
    "dequantizelinear",
    "quantized",
    "fusedbatchnormv3",
    "add",
];

/// Kinds of layers, which are names only where there is nothing else.
const KINDS: &[&str] = &[
    "matmul", "conv", "gemm", "einsum", "gather", "conv2d", "conv1d", "dense", "linear", "fc",
];

/// The parts of a parameter's path that are words or numbers; `None` if none of them says something.
pub(super) fn parameter_path(name: &str) -> Option<Vec<String>> {
    if name.starts_with("onnx::") {
        return None;
    }
    let name = name.split(';').next_back().unwrap_or(name);
    let plain = |part: &str| {
        let lower = part.to_ascii_lowercase();
        let lower = lower.split("_output").next().unwrap_or_default();
        lower
            .trim_end_matches(|c: char| c.is_ascii_digit() || c == ':' || c == '_')
            .to_owned()
    };
    let is_digits = |part: &str| part.chars().all(|c| c.is_ascii_digit());
    let mut parts: Vec<&str> = name
        .split(['.', '/', ':'])
        .filter(|part| !part.is_empty())
        .collect();
    while let Some(last) = parts.last() {
        let lower = plain(last);
        let is_number = is_digits(last) && parts.len() > 1 && !name.ends_with(&format!(":{last}"));
        if !NOISE.contains(&&lower[..])
            || is_number
                && parts[..parts.len() - 1]
                    .iter()
                    .any(|p| !NOISE.contains(&&plain(p)[..]))
        {
            break;
        }
        parts.pop();
    }
    // `block.conv` is a block; `conv_3` alone is a name.
    if parts.len() > 1
        && parts
            .last()
            .is_some_and(|last| KINDS.contains(&&last.to_ascii_lowercase()[..]))
    {
        parts.pop();
    }
    let parts: Vec<String> = parts
        .iter()
        .map(|part| {
            let end = ["_weight", "_w_0", "_w", ".w_0", "_b_0"]
                .iter()
                .find_map(|end| part.strip_suffix(end));
            end.unwrap_or(part).to_owned()
        })
        .collect();
    let says = parts
        .last()
        .is_some_and(|last| !is_digits(last) || parts.len() > 1);
    says.then_some(parts)
}
