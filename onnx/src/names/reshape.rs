//! Dims through a reshape: kept, merged or split.

use super::classes::{Dim, Size};
use super::follow::{int, ints};
use super::trace::Trace;
use crate::graph::Node;

impl Trace<'_> {
    pub(super) fn reshape(&mut self, node: &Node, x: Option<Vec<Dim>>) -> Option<Vec<Dim>> {
        let x = x?;
        let total = x
            .iter()
            .try_fold(Size::fixed(1), |all, dim| all.times(&dim.size));
        let mut sizes = if node.op == "Flatten" {
            let axis = int(node, "axis", 1);
            let axis = if axis < 0 {
                axis + x.len() as i64
            } else {
                axis
            };
            let (a, b) = x.split_at_checked(usize::try_from(axis).ok()?)?;
            let product = |dims: &[Dim]| {
                dims.iter()
                    .try_fold(Size::fixed(1), |all, dim| all.times(&dim.size))
            };
            vec![product(a)?, product(b)?]
        } else {
            let given = node.inputs.get(1).copied().flatten();
            match ints(node, "shape") {
                Some(shape) => shape.into_iter().map(Size::fixed).collect(),
                None => self.sizes_of(given)?,
            }
        };
        if int(node, "allowzero", 0) == 0 {
            for (at, size) in sizes.iter_mut().enumerate() {
                if size.known() == Some(0) {
                    *size = x.get(at)?.size.clone();
                }
            }
        }
        if let Some(at) = sizes.iter().position(|size| size.known() == Some(-1)) {
            let others = sizes.iter().enumerate().filter(|s| s.0 != at);
            let others = others
                .map(|s| s.1)
                .try_fold(Size::fixed(1), |all, size| all.times(size));
            let quotient = total
                .zip(others)
                .and_then(|(total, others)| total.over(&others));
            sizes[at] = quotient.unwrap_or_else(|| self.classes.unknown());
        }
        Some(self.regroup(node, &x, sizes))
    }

    /// Pairs the shortest groups of dims and sizes with equal products. A dim that is neither merged nor split keeps its class.
    fn regroup(&mut self, node: &Node, x: &[Dim], sizes: Vec<Size>) -> Vec<Dim> {
        let mut result: Vec<Dim> = Vec::with_capacity(sizes.len());
        let (mut front, mut at) = (0, 0);
        while at < sizes.len() {
            let Some((more, count)) = group(&x[front..], &sizes[at..]) else {
                break;
            };
            self.regroup_one(
                node,
                &x[front..front + more],
                &sizes[at..at + count],
                sizes.len(),
                &mut result,
            );
            (front, at) = (front + more, at + count);
        }
        let mut back = 0;
        while back < x.len().min(sizes.len() - at).saturating_sub(front)
            && x[x.len() - 1 - back].size == sizes[sizes.len() - 1 - back]
        {
            back += 1;
        }
        let end = sizes.len() - back;
        for (place, size) in sizes.into_iter().enumerate().skip(at) {
            result.push(if place >= end {
                x[x.len() - back + place - end].clone()
            } else {
                self.classes.dim(size)
            });
        }
        result
    }

    /// Adds the dims of a group: with those of size 1 aside, a single one keeps its class, and several make a product.
    fn regroup_one(
        &mut self,
        node: &Node,
        x: &[Dim],
        sizes: &[Size],
        rank: usize,
        result: &mut Vec<Dim>,
    ) {
        let one = Size::fixed(1);
        let wide: Vec<&Dim> = x.iter().filter(|dim| dim.size != one).collect();
        let count = sizes.iter().filter(|size| **size != one).count();
        let mut ones = x.iter().filter(|dim| dim.size == one);
        for size in sizes {
            let dim = match (&wide[..], count) {
                _ if *size == one => match ones.next() {
                    Some(dim) if x.len() == sizes.len() => dim.clone(),
                    _ => self.classes.dim(one.clone()),
                },
                ([dim], 1) => (*dim).clone(),
                (parts, 1) => {
                    let dim = self.classes.dim(size.clone());
                    self.classes
                        .merge(dim.class, parts.iter().map(|part| part.class).collect());
                    dim
                }
                _ => self.classes.dim(size.clone()),
            };
            result.push(dim);
        }
        if let ([_], 2, [.., heads, size]) = (&wide[..], count, &result[..]) {
            let (heads, size) = (heads.clone(), size.clone());
            self.name_heads(node, rank, &heads, &size);
        }
    }
}

/// Returns how many dims and sizes from the front have the same product: as few as possible, and at least one of each.
fn group(x: &[Dim], sizes: &[Size]) -> Option<(usize, usize)> {
    let (mut a, mut b) = (x.first()?.size.clone(), sizes.first()?.clone());
    let (mut more, mut count) = (1, 1);
    while a != b {
        let is_smaller = match (a.known(), b.known()) {
            (Some(a), Some(b)) => a < b,
            _ if b.over(&a).is_some() => true,
            _ if a.over(&b).is_some() => false,
            _ => return None,
        };
        if is_smaller {
            a = a.times(&x.get(more)?.size)?;
            more += 1;
        } else {
            b = b.times(sizes.get(count)?)?;
            count += 1;
        }
    }
    // Dims of size 1 at the end belong to the last group.
    if count == sizes.len() {
        more += x[more..]
            .iter()
            .take_while(|dim| dim.size.known() == Some(1))
            .count();
    } else if more == x.len() {
        count += sizes[count..]
            .iter()
            .take_while(|size| size.known() == Some(1))
            .count();
    }
    Some((more, count))
}
