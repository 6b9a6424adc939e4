//! Arithmetic on sizes, which exporters write as nodes.

use super::classes::Size;
use super::trace::{MOST_SIZES, Trace};
use crate::call::ints;
use crate::graph::{Attribute, Node};
use crate::ops::slice_range;

/// Computes each element of a result, if it is not too long.
fn each(count: usize, element: impl FnMut(usize) -> Option<Size>) -> Option<Vec<Size>> {
    (count <= MOST_SIZES).then(|| (0..count).map(element).collect())?
}

/// An element of an operand, which is broadcast if it has one.
fn pick(sizes: &[Size], at: usize) -> Option<Size> {
    sizes.get(if sizes.len() == 1 { 0 } else { at }).cloned()
}

impl Trace<'_> {
    /// Computes a node whose result is sizes.
    pub(super) fn arithmetic(&mut self, node: &Node) -> Option<Vec<Size>> {
        let input = |at: usize| node.inputs.get(at).copied().flatten();
        let int = |name: &str, default: i64| match node.attribute(name) {
            Some(Attribute::Int(value)) => *value,
            _ => default,
        };
        let x = self.sizes_of(input(0));
        match &node.op[..] {
            "Shape" => {
                let dims = self.dims[input(0)?].as_ref()?;
                let n = dims.len() as i64;
                let bound =
                    |at: i64| (if at < 0 { at.saturating_add(n) } else { at }).clamp(0, n) as usize;
                let part = dims.get(bound(int("start", 0))..bound(int("end", n)))?;
                Some(part.iter().map(|dim| dim.size.clone()).collect())
            }
            "Size" => {
                let dims = self.dims[input(0)?].as_ref()?;
                dims.iter()
                    .try_fold(Size::fixed(1), |all, dim| all.times(&dim.size))
                    .map(|size| vec![size])
            }
            "Cast" | "Identity" | "Squeeze" | "Unsqueeze" | "Reshape" => x,
            "Concat" => {
                let all: Option<Vec<_>> = node.inputs.iter().map(|&id| self.sizes_of(id)).collect();
                Some(all?.concat()).filter(|all| all.len() <= MOST_SIZES)
            }
            "Gather" => {
                let (x, index) = (x?, self.sizes_of(input(1))?);
                let n = x.len() as i64;
                index
                    .iter()
                    .map(|i| {
                        let i = i.known()?;
                        x.get(usize::try_from(if i < 0 { i + n } else { i }).ok()?)
                            .cloned()
                    })
                    .collect()
            }
            "Slice" => {
                let bound = |trace: &Self, at: usize| {
                    trace.sizes_of(input(at)).and_then(|s| s.first()?.known())
                };
                let (x, start, end) = (x?, bound(self, 1)?, bound(self, 2)?);
                let step = if input(4).is_some() {
                    bound(self, 4)?
                } else {
                    1
                };
                let (from, count) = slice_range(x.len() as i64, start, end, step)?;
                (0..count as i64)
                    .map(|i| x.get(usize::try_from(from + i * step).ok()?).cloned())
                    .collect()
            }
            "ConstantOfShape" => {
                let count = x?
                    .iter()
                    .try_fold(1i64, |n, size| n.checked_mul(size.known()?))?;
                let count = usize::try_from(count).ok().filter(|&n| n <= MOST_SIZES)?;
                let value = match node.attribute("value") {
                    Some(Attribute::Tensor(value)) if value.dtype().is_integral() => {
                        *ints(value).ok()?.first()?
                    }
                    _ => return None,
                };
                Some(vec![Size::fixed(value); count])
            }
            "Equal" => {
                let (a, b) = (x?, self.sizes_of(input(1))?);
                each(a.len().max(b.len()), |at| {
                    let (a, b) = (pick(&a, at)?, pick(&b, at)?);
                    let is_negative = |size: &Size| size.known().is_some_and(|n| n < 0);
                    match (a.known(), b.known()) {
                        (Some(a), Some(b)) => Some(Size::fixed(i64::from(a == b))),
                        _ if a == b => Some(Size::fixed(1)),
                        _ if is_negative(&a) || is_negative(&b) => Some(Size::fixed(0)),
                        _ => None,
                    }
                })
            }
            "Where" => {
                let (condition, a, b) = (x?, self.sizes_of(input(1))?, self.sizes_of(input(2))?);
                each(condition.len().max(a.len()).max(b.len()), |at| {
                    if pick(&condition, at)?.known()? == 0 {
                        pick(&b, at)
                    } else {
                        pick(&a, at)
                    }
                })
            }
            "Mul" | "Div" | "Add" | "Sub" => {
                let (a, b) = (x?, self.sizes_of(input(1))?);
                each(a.len().max(b.len()), |at| {
                    let (a, b) = (pick(&a, at)?, pick(&b, at)?);
                    match (&node.op[..], a.known(), b.known()) {
                        ("Mul", ..) => a.times(&b),
                        ("Div", Some(a), Some(b)) => a.checked_div(b).map(Size::fixed),
                        ("Div", ..) => a.over(&b),
                        ("Add", Some(a), Some(b)) => a.checked_add(b).map(Size::fixed),
                        ("Sub", Some(a), Some(b)) => a.checked_sub(b).map(Size::fixed),
                        ("Add", Some(0), _) => Some(b),
                        ("Add" | "Sub", _, Some(0)) => Some(a),
                        _ => Some(self.classes.unknown()),
                    }
                })
            }
            _ => None,
        }
    }
}
