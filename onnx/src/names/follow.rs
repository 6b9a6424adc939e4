//! The dims of an operator's outputs, by its rule.

use super::classes::{Dim, Size};
use super::flow::Flow;
use super::trace::Trace;
use crate::graph::{Attribute, Node, ValueId};

pub(super) fn int(node: &Node, name: &str, default: i64) -> i64 {
    match node.attribute(name) {
        Some(Attribute::Int(value)) => *value,
        _ => default,
    }
}

pub(super) fn ints(node: &Node, name: &str) -> Option<Vec<i64>> {
    match node.attribute(name) {
        Some(Attribute::Ints(values)) => Some(values.clone()),
        _ => None,
    }
}

pub(super) fn place(axis: i64, rank: usize) -> Option<usize> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    usize::try_from(at).ok().filter(|&at| at < rank)
}

impl Trace<'_> {
    /// Returns the dims of the outputs of `node`, or `None` for an output of unknown rank.
    pub fn flow(&mut self, node: &Node, flow: Flow) -> Vec<Option<Vec<Dim>>> {
        let count = node.outputs.len();
        let first = node.inputs.first().copied().flatten();
        let x = first.and_then(|id| self.dims[id].clone());
        let one = |dims: Option<Vec<Dim>>| {
            let mut all = vec![None; count];
            if let Some(place) = all.first_mut() {
                *place = dims;
            }
            all
        };
        match flow {
            Flow::Same => vec![x; count],
            Flow::First => one(x),
            Flow::FirstAndScalars => {
                let mut all = vec![Some(Vec::new()); count];
                if let Some(place) = all.first_mut() {
                    *place = x;
                }
                all
            }
            Flow::Fresh | Flow::Shape => vec![None; count],
            Flow::Broadcast => one(self.broadcast(&node.inputs)),
            Flow::Resized => one(x.map(|x| self.resized(&x, 0))),
            Flow::LastDims => {
                let beside = node
                    .inputs
                    .iter()
                    .skip(1)
                    .flatten()
                    .filter_map(|&id| self.dims[id].clone());
                for vector in beside.collect::<Vec<_>>() {
                    let last = x.iter().flat_map(|x| x.iter().rev());
                    for (own, dim) in vector.iter().rev().zip(last) {
                        self.classes.join(own.class, dim.class);
                    }
                }
                vec![x; count]
            }
            Flow::Slice => one(x.map(|x| self.slice(node, x))),
            Flow::Normalized => {
                let channel = x.as_ref().and_then(|x| x.get(1)).cloned();
                for &input in node.inputs.iter().skip(1) {
                    self.join_vector(input, channel.as_ref());
                }
                one(x)
            }
            Flow::Shaped => one(self.sizes_of(first).map(|sizes| self.fresh_dims(sizes))),
            Flow::Expand => {
                let dims = self
                    .sizes_of(node.inputs.get(1).copied().flatten())
                    .map(|sizes| self.fresh_dims(sizes));
                one(match (x, dims) {
                    (Some(x), Some(y)) => Some(self.broadcast_dims(&[x, y])),
                    _ => None,
                })
            }
            Flow::Reshape => one(self.reshape(node, x)),
            Flow::Squeeze | Flow::Unsqueeze => one(self.squeeze(node, x, flow == Flow::Squeeze)),
            Flow::Transpose => one(x.map(|x| {
                let perm =
                    ints(node, "perm").unwrap_or_else(|| (0..x.len() as i64).rev().collect());
                perm.iter()
                    .filter_map(|&p| place(p, x.len()).map(|p| x[p].clone()))
                    .collect()
            })),
            Flow::Concat => one(self.concat(node)),
            Flow::Split => {
                let axis = int(node, "axis", 0);
                (0..count)
                    .map(|_| x.as_ref().map(|x| self.changed(x, axis)))
                    .collect()
            }
            Flow::Gather => {
                if let Some(last) = x.as_ref().and_then(|x| x.last().cloned()) {
                    self.hint_parameter(node, 0, &last);
                }
                let index = node
                    .inputs
                    .get(1)
                    .copied()
                    .flatten()
                    .and_then(|id| self.dims[id].clone());
                if let (Some(x), Some(index)) = (&x, &index) {
                    self.name_embedding(node, x, index);
                }
                one(match (x, index) {
                    (Some(x), Some(index)) => place(int(node, "axis", 0), x.len()).map(|axis| {
                        let mut y = x;
                        y.splice(axis..=axis, index);
                        y
                    }),
                    _ => None,
                })
            }
            Flow::Reduce => one(self.reduce(node, x)),
            Flow::MatMul => one(self.matmul(node)),
            Flow::Gemm => one(self.gemm(node)),
            Flow::Linear => one(x.and_then(|mut x| {
                let weight = self.operand(node, 1)?;
                *x.last_mut()? = weight.first()?.clone();
                Some(x)
            })),
            Flow::Conv | Flow::ConvTranspose => one(self.conv(node, flow == Flow::ConvTranspose)),
            Flow::Pool => {
                let kernel = ints(node, "kernel_shape").unwrap_or_default();
                one(x.map(|x| {
                    self.name_image(node, &x);
                    self.windowed(node, &x, &kernel)
                }))
            }
            Flow::TopK => {
                let axis = int(node, "axis", -1);
                vec![x.map(|x| self.changed(&x, axis)); count]
            }
            Flow::Rnn => self.rnn(node, count),
        }
    }

    /// Dims of the same classes, whose sizes from `from` on are unknown.
    pub(super) fn resized(&mut self, x: &[Dim], from: usize) -> Vec<Dim> {
        let resize = |(at, dim): (usize, &Dim)| {
            let size = if at < from {
                dim.size.clone()
            } else {
                self.classes.unknown()
            };
            Dim {
                class: dim.class,
                size,
            }
        };
        x.iter().enumerate().map(resize).collect()
    }

    /// Dims of the same classes, one of them with another size.
    fn changed(&mut self, x: &[Dim], axis: i64) -> Vec<Dim> {
        let mut y = x.to_vec();
        if let Some(at) = place(axis, y.len()) {
            y[at].size = self.classes.unknown();
        }
        y
    }

    fn fresh_dims(&mut self, sizes: Vec<Size>) -> Vec<Dim> {
        sizes
            .into_iter()
            .map(|size| self.classes.dim(size))
            .collect()
    }

    pub(super) fn join_vector(&mut self, input: Option<ValueId>, dim: Option<&Dim>) {
        let vector = input.and_then(|id| self.dims[id].clone());
        if let (Some([own]), Some(dim)) = (vector.as_deref(), dim) {
            self.classes.join(own.class, dim.class);
        }
    }

    fn broadcast(&mut self, inputs: &[Option<ValueId>]) -> Option<Vec<Dim>> {
        let all: Option<Vec<_>> = inputs
            .iter()
            .flatten()
            .map(|&id| self.dims[id].clone())
            .collect();
        Some(self.broadcast_dims(&all?))
    }

    /// Unifies dims from the right, without those of size 1.
    pub(super) fn broadcast_dims(&mut self, all: &[Vec<Dim>]) -> Vec<Dim> {
        let rank = all.iter().map(Vec::len).max().unwrap_or(0);
        let mut result = Vec::with_capacity(rank);
        for back in (1..=rank).rev() {
            let here: Vec<&Dim> = all
                .iter()
                .filter_map(|dims| dims.len().checked_sub(back).map(|at| &dims[at]))
                .collect();
            let wide: Vec<&Dim> = here
                .iter()
                .copied()
                .filter(|dim| dim.size.known() != Some(1))
                .collect();
            let wide = if wide.is_empty() { here } else { wide };
            let chosen = wide
                .iter()
                .find(|dim| dim.size.known().is_some())
                .unwrap_or(&wide[0]);
            let result_dim = (*chosen).clone();
            wide.iter()
                .for_each(|dim| self.classes.join(dim.class, result_dim.class));
            result.push(result_dim);
        }
        result
    }

    fn squeeze(&mut self, node: &Node, x: Option<Vec<Dim>>, removes: bool) -> Option<Vec<Dim>> {
        let x = x?;
        let axes = match ints(node, "axes") {
            Some(axes) => Some(axes),
            None => match node.inputs.get(1).copied().flatten() {
                Some(id) => Some(
                    self.sizes_of(Some(id))?
                        .iter()
                        .map(Size::known)
                        .collect::<Option<Vec<_>>>()?,
                ),
                None => None,
            },
        };
        if removes {
            let gone: Vec<usize> = match axes {
                Some(axes) => axes
                    .iter()
                    .filter_map(|&axis| place(axis, x.len()))
                    .collect(),
                None if x.iter().all(|dim| dim.size.known().is_some()) => (0..x.len())
                    .filter(|&at| x[at].size.known() == Some(1))
                    .collect(),
                None => return None,
            };
            return Some(
                (0..x.len())
                    .filter(|at| !gone.contains(at))
                    .map(|at| x[at].clone())
                    .collect(),
            );
        }
        let axes = axes?;
        let rank = x.len() + axes.len();
        let new: Vec<usize> = axes.iter().filter_map(|&axis| place(axis, rank)).collect();
        let mut own = x.into_iter();
        (0..rank)
            .map(|at| {
                if new.contains(&at) {
                    Some(self.classes.dim(Size::fixed(1)))
                } else {
                    own.next()
                }
            })
            .collect()
    }

    fn concat(&mut self, node: &Node) -> Option<Vec<Dim>> {
        let all: Option<Vec<_>> = node
            .inputs
            .iter()
            .flatten()
            .map(|&id| self.dims[id].clone())
            .collect();
        let all = all?;
        let first = all.first()?;
        let axis = place(int(node, "axis", 1), first.len())?;
        for dims in &all[1..] {
            for (a, b) in dims.iter().zip(first) {
                self.classes.join(a.class, b.class);
            }
        }
        let sum = all.iter().try_fold(0i64, |sum, dims| {
            sum.checked_add(dims.get(axis)?.size.known()?)
        });
        let mut y = first.clone();
        y[axis].size = sum.map_or_else(|| self.classes.unknown(), Size::fixed);
        Some(y)
    }

    fn reduce(&mut self, node: &Node, x: Option<Vec<Dim>>) -> Option<Vec<Dim>> {
        let x = x?;
        let axes = if node.op.starts_with("Arg") {
            vec![int(node, "axis", 0)]
        } else {
            match (ints(node, "axes"), node.inputs.get(1).copied().flatten()) {
                (Some(axes), _) => axes,
                (None, Some(id)) => self
                    .sizes_of(Some(id))?
                    .iter()
                    .map(Size::known)
                    .collect::<Option<Vec<_>>>()?,
                (None, None) => Vec::new(),
            }
        };
        let mut gone: Vec<usize> = axes
            .iter()
            .filter_map(|&axis| place(axis, x.len()))
            .collect();
        if gone.is_empty() && int(node, "noop_with_empty_axes", 0) == 0 {
            gone = (0..x.len()).collect();
        }
        let keep = int(node, "keepdims", 1) != 0;
        let mut y = Vec::new();
        for (at, dim) in x.into_iter().enumerate() {
            if !gone.contains(&at) {
                y.push(dim);
            } else if keep {
                y.push(Dim {
                    class: dim.class,
                    size: Size::fixed(1),
                });
            }
        }
        Some(y)
    }
}
