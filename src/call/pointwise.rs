//! Elementwise operators.

use nomina_core::op::Op;
use nomina_core::{Error, Names, Result, Scalar, rule};
use nomina_runtime::call::{self, Arg};
use smallvec::SmallVec;

use super::{Bare, Dest, Given, Look, Side, Static, Wilds, done, explain, names, ok, typed, wilds};

type Args<'a> = SmallVec<[Arg<'a>; 3]>;

/// The operator on all its operands.
pub(crate) fn new(op: Op, sides: &[Side<'_>], out: &'static Static) -> Result<Bare> {
    if let [x, y] = sides
        && let Some(bare) = two(op, x, y)
    {
        return Ok(bare);
    }
    others(op, sides, out)
}

/// [`new`], or a panic at the caller's line.
#[track_caller]
pub(crate) fn made(op: Op, sides: &[Side<'_>], out: &'static Static) -> Bare {
    if let [x, y] = sides {
        if let Some(bare) = alike(op, x, y) {
            return bare;
        }
        if let Some(bare) = unlike(op, x, y) {
            return bare;
        }
    }
    done(others(op, sides, out))
}

/// Two operands whose names are all in their types, where [`call::of_two`] takes them.
#[inline(always)]
fn two(op: Op, x: &Side<'_>, y: &Side<'_>) -> Option<Bare> {
    alike(op, x, y).or_else(|| unlike(op, x, y))
}

/// [`two`] tensors of one shape: compiled into its callers, so that the result is made where they
/// want it.
#[inline(always)]
fn alike(op: Op, x: &Side<'_>, y: &Side<'_>) -> Option<Bare> {
    match (x, y) {
        (Side::Tensor(x), Side::Tensor(y)) if !x.of.wild && !y.of.wild => {
            call::of_alike(op, x.raw, y.raw).map(Bare::new)
        }
        _ => None,
    }
}

/// [`two`] that are not [`alike`].
#[inline(never)]
fn unlike(op: Op, x: &Side<'_>, y: &Side<'_>) -> Option<Bare> {
    if x.is_wild() || y.is_wild() {
        return None;
    }
    call::of_unlike(op, x.arg(), y.arg()).map(Bare::new)
}

/// [`new`] of what is not [`two`].
#[inline(never)]
fn others(op: Op, sides: &[Side<'_>], out: &'static Static) -> Result<Bare> {
    let wild = unify(op, sides, out)?;
    // Two by far most often, and then not pushed one by one.
    let raw = match sides {
        [first, second] => typed(|| call::pointwise_unlike(op, &[first.arg(), second.arg()])),
        _ => {
            let args: Args<'_> = sides.iter().map(Side::arg).collect();
            typed(|| call::pointwise(op, &args))
        }
    };
    match raw {
        Ok(raw) => Ok(Bare { raw, wild }),
        Err(error) => Err(blame(error, sides)),
    }
}

/// One operand, whose names stay.
pub(crate) fn unary(op: Op, x: Look<'_>) -> Result<Bare> {
    match one(op, x) {
        Some(bare) => Ok(bare),
        None => other(op, x),
    }
}

/// [`unary`], or a panic at the caller's line.
#[track_caller]
pub(crate) fn made_unary(op: Op, x: Look<'_>) -> Bare {
    match one(op, x) {
        Some(bare) => bare,
        None => done(other(op, x)),
    }
}

/// One operand without names at run time, where [`call::of_one`] takes it.
#[inline(always)]
fn one(op: Op, x: Look<'_>) -> Option<Bare> {
    match x.wild {
        None => call::of_one(op, x.raw).map(Bare::new),
        Some(_) => None,
    }
}

/// [`unary`] of what is not [`one`].
#[inline(never)]
fn other(op: Op, x: Look<'_>) -> Result<Bare> {
    let raw = typed(|| call::pointwise(op, &[Arg::Tensor(x.raw)]));
    Ok(Bare {
        raw: raw.map_err(|error| x.blame(error))?,
        wild: x.wild(),
    })
}

/// One operand and numbers.
pub(crate) fn with(op: Op, x: Look<'_>, numbers: &[f64]) -> Result<Bare> {
    let args: Args<'_> = std::iter::once(Arg::Tensor(x.raw))
        .chain(numbers.iter().map(|&number| Arg::Scalar(number.into())))
        .collect();
    let raw = typed(|| call::pointwise(op, &args));
    Ok(Bare {
        raw: raw.map_err(|error| x.blame(error))?,
        wild: x.wild(),
    })
}

/// [`with`] in place.
pub(crate) fn with_in_place(op: Op, dest: Result<Dest<'_>>, numbers: &[f64]) -> Result<()> {
    let sides: SmallVec<[Side<'_>; 3]> = numbers
        .iter()
        .map(|&number| Side::Scalar(number.into()))
        .collect();
    in_place(op, dest, &sides)
}

/// As [`new`] of two operands, into the buffer of one that is given away, where nobody else sees
/// that and the result lies as it does; or a panic at the caller's line.
#[track_caller]
pub(crate) fn operator(
    op: Op,
    mut left: Given<'_>,
    mut right: Given<'_>,
    out: &'static Static,
) -> Bare {
    if let (Given::Lent(x), Given::Lent(y)) = (&left, &right) {
        if let Some(bare) = alike(op, x, y) {
            return bare;
        }
        if let Some(bare) = unlike(op, x, y) {
            return bare;
        }
    }
    if let Given::Own(own, of) = &mut left
        && into_own(op, own, of, &right.side(), false)
        && let Given::Own(own, _) = left
    {
        return own;
    }
    if let Given::Own(own, of) = &mut right
        && into_own(op, own, of, &left.side(), true)
        && let Given::Own(own, _) = right
    {
        return own;
    }
    if let Given::Own(own, of) = &mut left
        && let Some(wild) = ok(reuse(op, &[], own, of, &[right.side()], out))
        && let Given::Own(own, _) = left
    {
        return Bare { wild, ..own };
    }
    if let Given::Own(own, of) = &mut right
        && let Some(wild) = ok(reuse(op, &[left.side()], own, of, &[], out))
        && let Given::Own(own, _) = right
    {
        return Bare { wild, ..own };
    }
    done(others(op, &[left.side(), right.side()], out))
}

/// Into the buffer of one of two operands whose names are all in their types, where
/// [`call::into_own`] takes them.
#[inline(always)]
fn into_own(op: Op, own: &mut Bare, of: &Static, other: &Side<'_>, behind: bool) -> bool {
    !of.wild && !other.is_wild() && call::into_own(op, &mut own.raw, other.arg(), behind)
}

/// [`unary`] of a tensor that is given away; or a panic at the caller's line.
#[track_caller]
pub(crate) fn owned(op: Op, mut own: Bare, of: &'static Static) -> Bare {
    if call::into_one(op, &mut own.raw) {
        return own;
    }
    match ok(reuse(op, &[], &mut own, of, &[], of)) {
        Some(wild) => Bare { wild, ..own },
        None => made_unary(op, own.look(of)),
    }
}

/// As [`in_place`] with one other operand, into the whole of a tensor.
pub(crate) fn assign(op: Op, own: &mut Bare, of: &'static Static, other: Side<'_>) -> Result<()> {
    if into_own(op, own, of, &other, false) {
        return Ok(());
    }
    in_place(op, own.dest(of), &[other])
}

/// Computes into `own`, which stands behind one operand, before one, or alone; the run-time names of
/// the result, or `None` where it must go elsewhere.
fn reuse(
    op: Op,
    before: &[Side<'_>],
    own: &mut Bare,
    of: &'static Static,
    after: &[Side<'_>],
    out: &'static Static,
) -> Result<Option<Wilds>> {
    let wilds = if of.wild || wild_among(before) || wild_among(after) {
        let middle = [own.side(of)];
        let sides: SmallVec<[Side<'_>; 3]> =
            before.iter().chain(&middle).chain(after).copied().collect();
        unify(op, &sides, out)?
    } else {
        None
    };
    let (first, last) = (before.first().map(Side::arg), after.first().map(Side::arg));
    let (first, last) = (first.as_slice(), last.as_slice());
    match typed(|| call::pointwise_reusing(op, first, &mut own.raw, last)) {
        Ok(done) => Ok(done.then_some(wilds)),
        Err(error) => {
            let middle = [own.side(of)];
            let sides: Vec<Side<'_>> = before.iter().chain(&middle).chain(after).copied().collect();
            Err(blame(error, &sides))
        }
    }
}

/// The operator in place: `dest` is the first operand and takes the result.
pub(crate) fn in_place(op: Op, dest: Result<Dest<'_>>, rest: &[Side<'_>]) -> Result<()> {
    let dest = dest?;
    let now = if dest.of.wild || wild_among(rest) {
        named_in_place(op, &dest, rest)?
    } else {
        None
    };
    let Dest { raw, wild, of } = dest;
    let done = match rest {
        [] => typed(|| call::pointwise_in_place(op, raw, &[])),
        [one] => typed(|| call::pointwise_in_place(op, raw, &[one.arg()])),
        _ => {
            let args: Args<'_> = rest.iter().map(Side::arg).collect();
            typed(|| call::pointwise_in_place(op, raw, &args))
        }
    };
    done.map_err(|error| {
        let own = names(wild.as_deref(), of);
        let others: Vec<Names> = looks(rest).iter().map(|look| look.names()).collect();
        error.with_names(std::iter::once(&own).chain(&others))
    })?;
    if of.wild {
        *wild = now;
    }
    Ok(())
}

/// The run-time names that `dest` then has.
#[cold]
fn named_in_place(op: Op, dest: &Dest<'_>, rest: &[Side<'_>]) -> Result<Wilds> {
    let looks = looks(rest);
    let own = dest.names();
    let others: SmallVec<[Names; 2]> = looks.iter().map(|look| look.names()).collect();
    let computed = rule::unify_all(op.name(), std::iter::once(&own).chain(&others));
    let computed = computed.and_then(|computed| {
        // Sizes before what self is called, as in the dynamic call.
        looks.iter().try_for_each(|look| {
            rule::broadcast_into(op.name(), dest.raw.shape(), look.raw.shape())
        })?;
        rule::in_place(op.name(), &own, &computed)
    });
    let computed = computed.map_err(|error| dest.blame(error, &looks))?;
    Ok(wilds(computed, dest.of))
}

fn looks<'a>(sides: &[Side<'a>]) -> SmallVec<[Look<'a>; 2]> {
    sides.iter().filter_map(Side::look).collect()
}

/// The operator into an out tensor.
pub(crate) fn into(
    op: Op,
    sides: &[Side<'_>],
    computed: &'static Static,
    out: &mut Bare,
    of: &'static Static,
) -> Result<()> {
    let name = op.name();
    let shapes = sides
        .iter()
        .filter_map(Side::look)
        .map(|look| look.raw.shape());
    let shape = rule::broadcast_all(name, shapes).map_err(|error| blame(error, sides))?;
    let mut wild = None;
    let fits = &*shape == out.raw.shape();
    if of.wild || computed.wild || wild_among(sides) || !fits {
        let own = names(out.wild.as_deref(), of);
        let result = if wild_among(sides) {
            unified(op, sides)?
        } else {
            Names::from_static(computed.names)
        };
        rule::out_shape(name, &own, out.raw.shape(), &shape)?;
        wild = wilds(rule::out(name, &own, &result)?, of);
    }
    let args: Args<'_> = sides.iter().map(Side::arg).collect();
    if fits {
        let dest = out.raw.as_mut()?;
        typed(|| call::pointwise_into(op, dest, &args)).map_err(|error| blame(error, sides))?;
    } else {
        // An unnamed out of another size takes the result's.
        let result = typed(|| call::pointwise(op, &args)).map_err(|error| blame(error, sides))?;
        rule::dtype::cast_to(name, result.dtype(), out.raw.dtype())?;
        call::fits_device(name, out.raw.device(), result.device())?;
        out.raw = call::to_dtype(&result, out.raw.dtype())?;
    }
    if of.wild {
        out.wild = wild;
    }
    Ok(())
}

/// Multiplies `other` by `alpha` and adds it.
pub(crate) fn add_scaled(
    op: Op,
    x: Look<'_>,
    other: Side<'_>,
    alpha: Scalar,
    out: &'static Static,
) -> Result<Bare> {
    let alpha = match (op, alpha) {
        (Op::Sub, Scalar::Int(value)) => Scalar::Int(value.wrapping_neg()),
        (Op::Sub, Scalar::Complex(value)) => Scalar::Complex(-value),
        (Op::Sub, other) => Scalar::Float(-other.to_f64()),
        (_, alpha) => alpha,
    };
    let sides = [Side::Tensor(x), other, Side::Scalar(alpha)];
    new(Op::Addcmul, &sides, out).map_err(|error| error.in_op(op.name()))
}

/// Limits to at least `min` and at most `max`.
pub(crate) fn clamp(
    x: Look<'_>,
    min: Option<Side<'_>>,
    max: Option<Side<'_>>,
    out: &'static Static,
) -> Result<Bare> {
    let mut sides: SmallVec<[Side<'_>; 3]> = smallvec::smallvec![Side::Tensor(x)];
    sides.extend(min.into_iter().chain(max));
    let wild = unify(Op::Clamp, &sides, out)?;
    let (min, max) = (min.as_ref().map(Side::arg), max.as_ref().map(Side::arg));
    let raw = typed(|| call::clamp(x.raw, min, max)).map_err(|error| blame(error, &sides))?;
    Ok(Bare { raw, wild })
}

/// The result in the dtype its type says: with three operands, promotion in pairs may differ
/// from promotion of all at once.
pub(crate) fn in_dtype(result: Result<Bare>, dtype: nomina_core::DType) -> Result<Bare> {
    let Bare { raw, wild } = result?;
    Ok(Bare {
        raw: call::to_dtype(&raw, dtype)?,
        wild,
    })
}

pub(super) fn wild_among(sides: &[Side<'_>]) -> bool {
    sides.iter().any(Side::is_wild)
}

/// The run-time names of the result; nothing happens where types know all names.
pub(super) fn unify(op: Op, sides: &[Side<'_>], out: &Static) -> Result<Wilds> {
    if !wild_among(sides) {
        return Ok(None);
    }
    Ok(wilds(unified(op, sides)?, out))
}

fn unified(op: Op, sides: &[Side<'_>]) -> Result<Names> {
    let looks: SmallVec<[Names; 3]> = sides
        .iter()
        .filter_map(Side::look)
        .map(|look| look.names())
        .collect();
    rule::unify_all(op.name(), &looks).map_err(|error| blame(error, sides))
}

#[cold]
pub(super) fn blame(error: Error, sides: &[Side<'_>]) -> Error {
    let looks: Vec<Look<'_>> = sides.iter().filter_map(Side::look).collect();
    explain(error, &looks)
}
