//! Products other than matrix products: outer, inner, Kronecker, over several dims, of chains.

use alloc::format;

use super::arg::DimArg;
use super::item::distinct;
use super::lookup::DimRef;
use super::{Positions, Shape, bmm, unify};
use crate::error::{Error, ErrorKind, Result};
use crate::name::{Name, Names};

/// Returns the names of an outer product: both dims.
///
/// # Errors
/// [`ErrorKind::Rank`], or [`ErrorKind::DuplicateNames`] if both dims have the same name.
pub fn outer(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    if a.len() != 1 || b.len() != 1 {
        return Err(super::matmul::wrong_ranks(op, 1, 1, a.len(), b.len())
            .operand(a, &[])
            .operand(b, &[]));
    }
    joined(op, a, b, [a[0].clone(), b[0].clone()].into_iter().collect())
}

/// Returns the shape of [`outer`].
///
/// # Errors
/// [`ErrorKind::Rank`].
pub fn outer_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    if let ([m], [n]) = (a, b) {
        return Ok(Shape::from_slice(&[*m, *n]));
    }
    let none = Names::default();
    Err(super::matmul::wrong_ranks(op, 1, 1, a.len(), b.len())
        .operand(&none, a)
        .operand(&none, b))
}

/// Returns the names of an inner product: the last dims of both are contracted; a number
/// multiplies.
///
/// # Errors
/// [`ErrorKind::DuplicateNames`] if the remaining dims repeat a name.
pub fn inner(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    if a.is_empty() || b.is_empty() {
        return unify(op, a, b);
    }
    let left = &a[..a.len() - 1];
    let right = &b[..b.len() - 1];
    joined(op, a, b, left.iter().chain(right).cloned().collect())
}

/// Returns the shape of [`inner`].
///
/// # Errors
/// [`ErrorKind::Shape`] if the last sizes differ.
pub fn inner_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    let (Some((k, left)), Some((l, right))) = (a.split_last(), b.split_last()) else {
        return Ok(a.iter().chain(b).copied().collect());
    };
    if k != l {
        return Err(
            Error::sizes(op, [a, b], [(0, a.len() - 1), (1, b.len() - 1)])
                .hint("the last dim of both is summed over"),
        );
    }
    Ok(left.iter().chain(right).copied().collect())
}

/// Returns the names of a sum of matrix products over the batch, plus a bias: the batch dim is
/// dropped.
///
/// # Errors
/// The errors of [`bmm`] and [`unify`].
pub fn addbmm(op: &'static str, bias: &Names, a: &Names, b: &Names) -> Result<Names> {
    let mut names = bmm(op, a, b)?;
    names.remove(0);
    unify(op, &names, bias)
}

/// Returns the names of an outer product plus a bias.
///
/// # Errors
/// The errors of [`outer`] and [`unify`].
pub fn addr(op: &'static str, bias: &Names, a: &Names, b: &Names) -> Result<Names> {
    unify(op, &outer(op, a, b)?, bias)
}

/// Returns the names of a chain of matrices: the rows of the first, the columns of the last. A
/// vector at an end contributes no dim.
///
/// # Errors
/// [`ErrorKind::Argument`] for an empty chain, [`ErrorKind::Rank`] for a tensor that is neither a
/// matrix nor a vector at an end, [`ErrorKind::DuplicateNames`].
pub fn multi_dot(op: &'static str, chain: &[&Names]) -> Result<Names> {
    let (Some(&first), Some(&last)) = (chain.first(), chain.last()) else {
        return Err(Error::new(ErrorKind::Argument, op, "no tensor is given").hint("give one"));
    };
    for (at, names) in chain.iter().enumerate() {
        let end = chain.len() > 1 && (at == 0 || at + 1 == chain.len());
        if names.len() != 2 && !(names.len() == 1 && end) {
            let what = format!("tensor {at} of the chain has {} dims", names.len());
            let error = Error::new(ErrorKind::Rank, op, what)
                .hint("every tensor has 2 dims; the first and the last may have 1");
            return Err(chain.iter().fold(error, |e, names| e.operand(names, &[])));
        }
    }
    let mut names = Names::default();
    if first.len() == 2 {
        names.push(first[0].clone());
    }
    if last.len() == 2 {
        names.push(last[1].clone());
    }
    joined(op, first, last, names)
}

/// Returns the names of a trace, a number: none.
///
/// # Errors
/// [`ErrorKind::Rank`].
pub fn trace(op: &'static str, x: &Names) -> Result<Names> {
    if x.len() == 2 {
        return Ok(Names::default());
    }
    let what = format!("takes a matrix, not a tensor with {} dims", x.len());
    Err(Error::new(ErrorKind::Rank, op, what)
        .operand(x, &[])
        .hint("`diagonal` and `sum` do it for more dims"))
}

/// The dims that [`tensordot`] sums over.
// An argument that lives for one call: boxing it would cost an allocation.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PairArg<'a> {
    /// A number of the last dims of the left operand, and of the first dims of the right one.
    Count(i64),
    /// These dims of both, by name; or by position, the same in each operand.
    Both(DimArg<'a>),
    /// These dims of the left operand, and these of the right one.
    Each(DimArg<'a>, DimArg<'a>),
}

impl From<i64> for PairArg<'_> {
    fn from(count: i64) -> Self {
        Self::Count(count)
    }
}

impl From<i32> for PairArg<'_> {
    fn from(count: i32) -> Self {
        Self::Count(count.into())
    }
}

impl<'a> From<&'a str> for PairArg<'a> {
    fn from(name: &'a str) -> Self {
        Self::Both(name.into())
    }
}

impl<'a> From<DimArg<'a>> for PairArg<'a> {
    fn from(dims: DimArg<'a>) -> Self {
        Self::Both(dims)
    }
}

impl<'a, const K: usize> From<[&'a str; K]> for PairArg<'a> {
    fn from(names: [&'a str; K]) -> Self {
        Self::Both(names.into())
    }
}

impl<'a, L: Into<DimArg<'a>>, R: Into<DimArg<'a>>> From<(L, R)> for PairArg<'a> {
    fn from((left, right): (L, R)) -> Self {
        Self::Each(left.into(), right.into())
    }
}

/// The plan of [`tensordot`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tensordot {
    /// The pairs of dims that are summed over, in the left and in the right operand.
    pub sum: super::Pairs,
    /// The names of the result: the remaining dims of the left operand, then of the right one.
    pub names: Names,
}

/// Sums over pairs of dims; all other dims remain, those of `a` first.
///
/// ```
/// use nomina_core::{Names, rule};
/// let a = Names::from_static(&[Some("N"), Some("C"), Some("K")]);
/// let b = Names::from_static(&[Some("K"), Some("C"), Some("M")]);
/// let dims = rule::PairArg::Both(["C", "K"].into());
/// let plan = rule::tensordot("tensordot", &a, &b, &dims)?;
/// assert_eq!(plan.sum.as_slice(), [(1, 1), (2, 0)]);
/// assert_eq!(plan.names, Names::from_static(&[Some("N"), Some("M")]));
/// # Ok::<(), nomina_core::Error>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Argument`] for a count out of range or lists of different lengths, the errors of
/// [`DimArg::positions`], [`ErrorKind::DuplicateNames`].
pub fn tensordot(op: &'static str, a: &Names, b: &Names, dims: &PairArg<'_>) -> Result<Tensordot> {
    let both = |e: Error| match e.operands() {
        [one] if one.names == *a => e.operand(b, &[]),
        _ => e.operand(a, &[]),
    };
    let (left, right): (Positions, Positions) = match dims {
        PairArg::Count(count) => {
            let most = a.len().min(b.len());
            let count = usize::try_from(*count)
                .ok()
                .filter(|&count| count <= most)
                .ok_or_else(|| {
                    let what = format!("cannot sum over {count} dims, only 0 to {most}");
                    Error::new(ErrorKind::Argument, op, what)
                        .operand(a, &[])
                        .operand(b, &[])
                        .hint("give the number of dims to contract")
                })?;
            ((a.len() - count..a.len()).collect(), (0..count).collect())
        }
        PairArg::Both(dims) => (listed(op, a, dims)?, listed(op, b, dims).map_err(both)?),
        PairArg::Each(left, right) => (
            listed(op, a, left).map_err(both)?,
            listed(op, b, right).map_err(both)?,
        ),
    };
    if left.len() != right.len() {
        let what = format!("{} dims and {}", left.len(), right.len());
        return Err(Error::new(ErrorKind::Argument, op, what)
            .operand(a, &[])
            .operand(b, &[])
            .hint("give equally many dims of both"));
    }
    let stay = |names: &Names, gone: &Positions| -> Names {
        let kept = names.iter().enumerate().filter(|(i, _)| !gone.contains(i));
        kept.map(|(_, name)| name.clone()).collect()
    };
    let mut names = stay(a, &left);
    names = names
        .iter()
        .chain(stay(b, &right).iter())
        .cloned()
        .collect();
    Ok(Tensordot {
        sum: left.into_iter().zip(right).collect(),
        names: joined(op, a, b, names)?,
    })
}

/// Like [`DimArg::listed`], but a zero-dim tensor has no dim 0.
fn listed(op: &'static str, names: &Names, dims: &DimArg<'_>) -> Result<Positions> {
    if names.is_empty()
        && let Some(dim @ DimRef::Index(_)) = dims.items().first()
    {
        return Err(dim.position(op, names).map_or_else(
            |e| e,
            |_| Error::new(ErrorKind::Index, op, "a zero-dim tensor has no dims"),
        ));
    }
    dims.listed(op, names)
}

/// Returns the names of a Kronecker product; a dim that only one operand has is taken from it.
///
/// # Errors
/// The errors of [`unify`].
pub fn kron(op: &'static str, a: &Names, b: &Names) -> Result<Names> {
    unify(op, a, b)
}

/// Returns the shape of [`kron`].
///
/// # Errors
/// [`ErrorKind::Shape`] if a size overflows.
pub fn kron_shape(op: &'static str, a: &[usize], b: &[usize]) -> Result<Shape> {
    let rank = a.len().max(b.len());
    let size = |x: &[usize], at: usize| (at + x.len()).checked_sub(rank).map_or(1, |i| x[i]);
    let each = (0..rank).map(|i| size(a, i).checked_mul(size(b, i)));
    let shape: Option<Shape> = each.collect();
    let fits = shape.filter(|shape| super::numel(op, shape).is_ok());
    fits.ok_or_else(|| {
        Error::new(ErrorKind::Shape, op, "the products of the sizes overflow")
            .operand(&Names::default(), a)
            .operand(&Names::default(), b)
            .hint("use smaller sizes")
    })
}

/// Checks `names`, concatenated from both operands, for repetitions.
fn joined(op: &'static str, a: &Names, b: &Names, names: Names) -> Result<Names> {
    distinct(op, names).map_err(|e| {
        e.operand(a, &[])
            .operand(b, &[])
            .hint("rename a dim of one operand first: `x.rename(..)`")
    })
}

/// Returns the names with one of them primed: `N` becomes `N'`.
///
/// # Errors
/// The errors of [`DimRef::position`]; [`ErrorKind::UnnamedDim`] for an unnamed dim,
/// [`ErrorKind::DuplicateNames`] if the primed name exists.
pub fn prime(op: &'static str, names: &Names, dim: DimRef<'_>) -> Result<Names> {
    let at = dim.position(op, names)?;
    let Some(name) = &names[at] else {
        let what = format!("dim {at} has no name to prime");
        return Err(Error::new(ErrorKind::UnnamedDim, op, what)
            .operand(names, &[])
            .hint("name it first: `x.refine_names(..)`"));
    };
    let mut primed = names.clone();
    primed[at] = Some(Name::new(&format!("{name}'"))?);
    distinct(op, primed).map_err(|e| e.operand(names, &[]))
}

/// The plan of [`linear`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearPlan {
    /// The dim of the input that is summed over.
    pub input: usize,
    /// The names of the result: the input's without that dim, then the weight's output dim.
    pub names: Names,
}

/// Plans `x wᵀ + b`: the weight's last dim is summed over. It is looked up in `x` by name. It is
/// the last dim of `x` if it is unnamed in the weight, or if `x` lacks the name and its last dim is
/// unnamed.
///
/// # Errors
/// [`ErrorKind::Rank`], [`ErrorKind::NameNotFound`], [`ErrorKind::DuplicateNames`], and the errors
/// of [`unify`] for the bias.
pub fn linear(op: &'static str, x: &Names, w: &Names, bias: Option<&Names>) -> Result<LinearPlan> {
    let about = |e: Error| {
        let e = e.operand(x, &[]).operand(w, &[]);
        match bias {
            Some(bias) => e.operand(bias, &[]),
            None => e,
        }
    };
    if x.is_empty() || w.is_empty() || w.len() > 2 {
        let what = format!("an input of {} dims and a weight of {}", x.len(), w.len());
        return Err(about(Error::new(ErrorKind::Rank, op, what))
            .hint("the weight's dims are output and input"));
    }
    let own = &w[w.len() - 1];
    let input = match own.as_ref().map(|name| (name, x.position(name))) {
        Some((_, Some(at))) => at,
        Some((name, None)) if x[x.len() - 1].is_some() => {
            let what = format!("dim `{name}` of the weight not found in the input");
            return Err(about(Error::new(ErrorKind::NameNotFound, op, what))
                .hint(format!("rename the input's dim: `x.rename(.., {name})`")));
        }
        _ => x.len() - 1,
    };
    let mut names = x.clone();
    names.remove(input);
    if w.len() == 2 {
        names.push(w[0].clone());
    }
    let mut names = joined(op, x, w, names)?;
    if let Some(bias) = bias {
        if bias.len() + 1 > w.len() {
            let what = format!("the bias has {} dims", bias.len());
            return Err(about(Error::new(ErrorKind::Rank, op, what))
                .hint("its one dim is the weight's output dim"));
        }
        names = unify(op, &names, bias)?;
    }
    Ok(LinearPlan { input, names })
}
