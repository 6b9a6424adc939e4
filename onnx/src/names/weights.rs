//! How dims flow through operators with weights.

use super::classes::{Dim, Source, camel};
use super::flow::int;
use super::trace::Trace;
use crate::graph::Node;

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
        let kernel = ["KH", "KW"];
        for (dim, name) in w[2..].iter().zip(if w.len() == 4 {
            &kernel[..]
        } else {
            &["K", "KH", "KW"]
        }) {
            self.classes
                .hint(dim.class, Source::Position, (*name).into());
        }
        self.hint_parameter(node, 1, &out);
        self.join_vector(node.inputs.get(2).copied().flatten(), Some(&out));
        let mut y = self.resized(&x, 2);
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
        let ([a, b, input], [direction, _, from], [_, _, hidden]) = (&x[..], &w[..], &r[..]) else {
            return all;
        };
        self.classes.join(input.class, from.class);
        self.classes
            .hint(hidden.class, Source::Position, "Hidden".into());
        self.classes
            .hint(direction.class, Source::Position, "Direction".into());
        let (direction, hidden) = (direction.clone(), hidden.clone());
        let swapped = int(node, "layout", 0) != 0;
        let (time, batch) = if swapped {
            (b.clone(), a.clone())
        } else {
            (a.clone(), b.clone())
        };
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

    /// Proposes the name of a weight's path for the dim that it makes.
    fn hint_parameter(&mut self, node: &Node, input: usize, dim: &Dim) {
        let Some(id) = node.inputs.get(input).copied().flatten() else {
            return;
        };
        if !self.graph.constants.contains_key(&id) {
            return;
        }
        let noise = |part: &&str| {
            let lower = part.to_ascii_lowercase();
            let plain =
                lower.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':' || c == '_');
            !matches!(
                plain,
                "" | "weight"
                    | "kernel"
                    | "w"
                    | "bias"
                    | "readvariableop"
                    | "onnx"
                    | "matmul"
                    | "conv"
                    | "resource"
            )
        };
        let name = &self.graph.values[id];
        let parts: Vec<&str> = name.split(['.', '/', ':']).filter(noise).collect();
        let Some(last) = parts.last() else { return };
        let digits = |text: &str| text.chars().all(|c| c.is_ascii_digit());
        let text = if digits(last) && parts.len() > 1 {
            parts[parts.len() - 2..].join("_")
        } else {
            (*last).to_owned()
        };
        if !digits(&text) && text.len() < 40 {
            self.classes
                .hint(dim.class, Source::Parameter, camel(&text));
        }
    }
}
