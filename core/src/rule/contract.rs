//! Contraction by name.

use alloc::format;

use smallvec::SmallVec;

use super::arg::DimArg;
use super::item::distinct;
use super::lookup::{DimRef, find};
use super::{Positions, Shape};
use crate::error::{Error, ErrorKind, Result};
use crate::name::Names;

/// Pairs of positions, in the left and in the right operand.
pub type Pairs = SmallVec<[(usize, usize); 8]>;

/// The plan of a contraction by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contraction {
    /// Dims that both operands have and the result keeps.
    pub batch: Pairs,
    /// Dims that are summed over.
    pub sum: Pairs,
    /// Positions of the dims that only the left operand has.
    pub left: Positions,
    /// Positions of the dims that only the right operand has.
    pub right: Positions,
    /// A batched product has the dims batch, left, right; output dim `i` is its dim `order[i]`.
    pub order: Positions,
    /// The names of the result: the left operand's without the contracted ones, then those that
    /// only the right operand has.
    pub names: Names,
}

/// Contracts `a` and `b` over `dims`, which both must have; other names that both have are batch
/// dims.
///
/// ```
/// use nomina_core::{Names, rule};
/// let x = Names::from_static(&[Some("N"), Some("K")]);
/// let w = Names::from_static(&[Some("K"), Some("M")]);
/// let plan = rule::contract("contract", &x, &w, &"K".into())?;
/// assert_eq!(plan.names, Names::from_static(&[Some("N"), Some("M")]));
/// assert_eq!(plan.sum.as_slice(), [(1, 0)]);
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::UnnamedDim`] if a dim of an operand is unnamed, [`ErrorKind::NameNotFound`] if an
/// operand lacks one of `dims`, [`ErrorKind::Argument`] if a dim is not given by name,
/// [`ErrorKind::DuplicateNames`] if one is given twice.
pub fn contract(op: &'static str, a: &Names, b: &Names, dims: &DimArg<'_>) -> Result<Contraction> {
    all_named(op, a, b)?;
    if dims.items().is_empty() || dims.items().iter().any(|d| !matches!(d, DimRef::Name(_))) {
        return Err(
            Error::new(ErrorKind::Argument, op, "the dims are not given by name")
                .operand(a, &[])
                .operand(b, &[])
                .hint(
                    "name the dims to contract: `x.contract(&w, K)`, or use `matmul` for positions",
                ),
        );
    }
    let in_a = dims.listed(op, a).map_err(|e| e.operand(b, &[]))?;
    let in_b = dims.listed(op, b).map_err(|e| e.operand(a, &[]))?;
    let mut plan = Contraction {
        batch: Pairs::new(),
        sum: in_a.iter().copied().zip(in_b.iter().copied()).collect(),
        left: Positions::new(),
        right: Positions::new(),
        order: Positions::new(),
        names: Names::default(),
    };
    for (i, name) in a.iter().enumerate().filter(|(i, _)| !in_a.contains(i)) {
        match name.as_ref().and_then(|name| find(b, name.as_str())) {
            Some(j) => plan.batch.push((i, j)),
            None => plan.left.push(i),
        }
        plan.names.push(name.clone());
    }
    for (j, name) in b.iter().enumerate().filter(|(j, _)| !in_b.contains(j)) {
        if !plan.batch.iter().any(|(_, batch)| *batch == j) {
            plan.right.push(j);
            plan.names.push(name.clone());
        }
    }
    plan.order = order(&plan, &in_a, a.len());
    plan.names = distinct(op, plan.names)?;
    Ok(plan)
}

/// Checks that every dim is named, for operators that match dims by name only.
pub(super) fn all_named(op: &'static str, a: &Names, b: &Names) -> Result<()> {
    for (which, names) in [("first", a), ("second", b)] {
        if let Some(i) = names.iter().position(Option::is_none) {
            let what = format!("dim {i} of the {which} tensor has no name");
            return Err(Error::new(ErrorKind::UnnamedDim, op, what)
                .operand(a, &[])
                .operand(b, &[])
                .hint("name every dim first: `x.refine_names(..)`"));
        }
    }
    Ok(())
}

/// Computes [`Contraction::order`]. The left operand's dims keep their order, so batch and left
/// dims may interleave.
fn order(plan: &Contraction, in_a: &[usize], rank_a: usize) -> Positions {
    let (mut batch, mut left) = (0, plan.batch.len());
    let mut order = Positions::new();
    for i in (0..rank_a).filter(|i| !in_a.contains(i)) {
        let next = if plan.left.contains(&i) {
            &mut left
        } else {
            &mut batch
        };
        order.push(*next);
        *next += 1;
    }
    order.extend(left..left + plan.right.len());
    order
}

/// Returns the shape of the contraction.
///
/// # Errors
/// [`ErrorKind::Shape`] if a dim that both have differs in size.
pub fn contract_shape(
    op: &'static str,
    a: (&Names, &[usize]),
    b: (&Names, &[usize]),
    plan: &Contraction,
) -> Result<Shape> {
    for &(i, j) in plan.sum.iter().chain(&plan.batch) {
        let (x, y) = (a.1[i], b.1[j]);
        if x != y {
            return Err(Error::sizes(op, [a.1, b.1], [(0, i), (1, j)])
                .with_names([a.0, b.0])
                .hint("a shared dim has one size in both operands"));
        }
    }
    let natural: Shape = plan
        .batch
        .iter()
        .map(|&(i, _)| a.1[i])
        .chain(plan.left.iter().map(|&i| a.1[i]))
        .chain(plan.right.iter().map(|&j| b.1[j]))
        .collect();
    Ok(plan.order.iter().map(|&i| natural[i]).collect())
}
