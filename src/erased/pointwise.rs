//! Elementwise operators.

use nomina_core::op::Op;
use nomina_core::{Error, Names, Result, Scalar, rule};
use nomina_runtime::call::{self, Arg};
use smallvec::SmallVec;

use super::{
    Blamed, Dest, Erased, ErasedRef, MaybeOwned, OperandRef, Static, Wilds, done, explain,
    explain_with, names, ok, typed, wilds,
};

type Args<'a> = SmallVec<[Arg<'a>; 3]>;

/// Computes an operator on all its operands.
pub(crate) fn new(op: Op, sides: &[OperandRef<'_>], out: &'static Static) -> Result<Erased> {
    if let [x, y] = sides
        && let Some(erased) = fast_binary(op, x, y)
    {
        return Ok(erased);
    }
    general(op, sides, out)
}

/// Like [`new`], but panics at the caller's line.
#[track_caller]
pub(crate) fn new_or_panic(op: Op, sides: &[OperandRef<'_>], out: &'static Static) -> Erased {
    if let [x, y] = sides {
        if let Some(erased) = fast_same_shape(op, x, y) {
            return erased;
        }
        if let Some(erased) = fast_broadcast(op, x, y) {
            return erased;
        }
    }
    done(general(op, sides, out))
}

/// Computes an operator on two operands whose names are all in their types, if [`call::small_binary`]
/// supports them.
#[inline(always)]
fn fast_binary(op: Op, x: &OperandRef<'_>, y: &OperandRef<'_>) -> Option<Erased> {
    fast_same_shape(op, x, y).or_else(|| fast_broadcast(op, x, y))
}

/// Like [`fast_binary`], but for tensors of one shape. Inlined into callers, so that the result is
/// constructed in place.
#[inline(always)]
fn fast_same_shape(op: Op, x: &OperandRef<'_>, y: &OperandRef<'_>) -> Option<Erased> {
    match (x, y) {
        (OperandRef::Tensor(x), OperandRef::Tensor(y)) if !x.of.wild && !y.of.wild => {
            call::small_same_shape(op, x.raw, y.raw).map(Erased::new)
        }
        _ => None,
    }
}

/// Like [`fast_binary`], but for numbers and tensors of different shapes.
#[inline(never)]
fn fast_broadcast(op: Op, x: &OperandRef<'_>, y: &OperandRef<'_>) -> Option<Erased> {
    if x.is_wild() || y.is_wild() {
        return None;
    }
    call::small_repeating(op, x.arg(), y.arg()).map(Erased::new)
}

/// Like [`new`], but for operands that [`fast_binary`] does not support.
#[inline(never)]
fn general(op: Op, sides: &[OperandRef<'_>], out: &'static Static) -> Result<Erased> {
    let wild = unify(op, sides, out)?;
    // Two operands are most frequent and are not pushed one by one.
    let raw = match sides {
        [first, second] => typed(|| call::pointwise_unlike(op, &[first.arg(), second.arg()])),
        _ => {
            let args: Args<'_> = sides.iter().map(OperandRef::arg).collect();
            typed(|| call::pointwise(op, &args))
        }
    };
    match raw {
        Ok(raw) => Ok(Erased { raw, wild }),
        Err(error) => Err(blame(error, sides)),
    }
}

/// Computes an operator on one operand, whose names stay.
pub(crate) fn unary(op: Op, x: ErasedRef<'_>) -> Result<Erased> {
    match fast_unary(op, x) {
        Some(erased) => Ok(erased),
        None => general_unary(op, x),
    }
}

/// Like [`unary`], but panics at the caller's line.
#[track_caller]
pub(crate) fn unary_or_panic(op: Op, x: ErasedRef<'_>) -> Erased {
    match fast_unary(op, x) {
        Some(erased) => erased,
        None => done(general_unary(op, x)),
    }
}

/// Computes an operator on one operand without run-time names, if [`call::small_unary`] supports it.
#[inline(always)]
fn fast_unary(op: Op, x: ErasedRef<'_>) -> Option<Erased> {
    match x.wild {
        None => call::small_unary(op, x.raw).map(Erased::new),
        Some(_) => None,
    }
}

/// Like [`unary`], but for an operand that [`fast_unary`] does not support.
#[inline(never)]
fn general_unary(op: Op, x: ErasedRef<'_>) -> Result<Erased> {
    let raw = typed(|| call::pointwise(op, &[Arg::Tensor(x.raw)]));
    Ok(Erased {
        raw: raw.map_err(|error| x.blame(error))?,
        wild: x.wild(),
    })
}

/// Computes an operator on one operand and numbers.
pub(crate) fn with(op: Op, x: ErasedRef<'_>, numbers: &[f64]) -> Result<Erased> {
    let args: Args<'_> = std::iter::once(Arg::Tensor(x.raw))
        .chain(numbers.iter().map(|&number| Arg::Scalar(number.into())))
        .collect();
    let raw = typed(|| call::pointwise(op, &args));
    Ok(Erased {
        raw: raw.map_err(|error| x.blame(error))?,
        wild: x.wild(),
    })
}

/// Like [`with`], but in place.
pub(crate) fn with_in_place(op: Op, dest: Result<Dest<'_>>, numbers: &[f64]) -> Result<()> {
    let sides: SmallVec<[OperandRef<'_>; 3]> = numbers
        .iter()
        .map(|&number| OperandRef::Scalar(number.into()))
        .collect();
    in_place(op, dest, &sides)
}

/// Computes an operator on two operands like [`new`], but reuses the buffer of one that is passed
/// by value if it is not shared and the result has the same strides. Panics at the caller's line on
/// an error.
#[track_caller]
pub(crate) fn operator(
    op: Op,
    mut left: MaybeOwned<'_>,
    mut right: MaybeOwned<'_>,
    out: &'static Static,
) -> Erased {
    if let (MaybeOwned::Lent(x), MaybeOwned::Lent(y)) = (&left, &right) {
        if let Some(erased) = fast_same_shape(op, x, y) {
            return erased;
        }
        if x.is_recorded() || y.is_recorded() {
            return done(general(op, &[*x, *y], out));
        }
        if let Some(erased) = fast_broadcast(op, x, y) {
            return erased;
        }
    }
    if let MaybeOwned::Own(own, of) = &mut left
        && into_own(op, own, of, &right.as_operand(), false)
        && let MaybeOwned::Own(own, _) = left
    {
        return own;
    }
    if let MaybeOwned::Own(own, of) = &mut right
        && into_own(op, own, of, &left.as_operand(), true)
        && let MaybeOwned::Own(own, _) = right
    {
        return own;
    }
    if let MaybeOwned::Own(own, of) = &mut left
        && let Some(wild) = ok(reuse(op, &[], own, of, &[right.as_operand()], out))
        && let MaybeOwned::Own(own, _) = left
    {
        return Erased { wild, ..own };
    }
    if let MaybeOwned::Own(own, of) = &mut right
        && let Some(wild) = ok(reuse(op, &[left.as_operand()], own, of, &[], out))
        && let MaybeOwned::Own(own, _) = right
    {
        return Erased { wild, ..own };
    }
    done(general(op, &[left.as_operand(), right.as_operand()], out))
}

/// Computes an operator on two operands whose names are all in their types, into the buffer of one
/// of them, if [`call::small_binary_in_place`] supports it.
#[inline(always)]
fn into_own(op: Op, own: &mut Erased, of: &Static, other: &OperandRef<'_>, behind: bool) -> bool {
    !of.wild
        && !other.is_wild()
        && call::small_binary_in_place(op, &mut own.raw, other.arg(), behind)
}

/// Like [`unary`], but of a tensor passed by value; panics at the caller's line on an error.
#[track_caller]
pub(crate) fn owned(op: Op, mut own: Erased, of: &'static Static) -> Erased {
    if call::small_unary_in_place(op, &mut own.raw) {
        return own;
    }
    match ok(reuse(op, &[], &mut own, of, &[], of)) {
        Some(wild) => Erased { wild, ..own },
        None => unary_or_panic(op, own.erased(of)),
    }
}

/// Like [`in_place`], but with one other operand, into a whole tensor.
pub(crate) fn assign(
    op: Op,
    own: &mut Erased,
    of: &'static Static,
    other: OperandRef<'_>,
) -> Result<()> {
    if into_own(op, own, of, &other, false) {
        return Ok(());
    }
    in_place(op, own.dest(of), &[other])
}

/// Computes into `own`, which is after one operand, before one, or alone. Returns the run-time
/// names of the result, or `None` if `own` cannot be reused.
fn reuse(
    op: Op,
    before: &[OperandRef<'_>],
    own: &mut Erased,
    of: &'static Static,
    after: &[OperandRef<'_>],
    out: &'static Static,
) -> Result<Option<Wilds>> {
    let wilds = if of.wild || wild_among(before) || wild_among(after) {
        let middle = [own.as_operand(of)];
        let sides: SmallVec<[OperandRef<'_>; 3]> =
            before.iter().chain(&middle).chain(after).copied().collect();
        unify(op, &sides, out)?
    } else {
        None
    };
    let (first, last) = (
        before.first().map(OperandRef::arg),
        after.first().map(OperandRef::arg),
    );
    let (first, last) = (first.as_slice(), last.as_slice());
    match typed(|| call::pointwise_reusing(op, first, &mut own.raw, last)) {
        Ok(done) => Ok(done.then_some(wilds)),
        Err(error) => {
            let middle = [own.as_operand(of)];
            let sides: Vec<OperandRef<'_>> =
                before.iter().chain(&middle).chain(after).copied().collect();
            Err(blame(error, &sides))
        }
    }
}

/// Computes an operator in place: `dest` is the first operand and receives the result.
pub(crate) fn in_place(op: Op, dest: Result<Dest<'_>>, rest: &[OperandRef<'_>]) -> Result<()> {
    let dest = dest?;
    let now = if dest.of.wild || wild_among(rest) {
        named_in_place(op, &dest, rest)?
    } else {
        None
    };
    let others = rest.iter().filter_map(OperandRef::erased);
    dest.write(others, now, |raw| match rest {
        [] => typed(|| call::pointwise_in_place(op, raw, &[])),
        [one] => typed(|| call::pointwise_in_place(op, raw, &[one.arg()])),
        _ => {
            let args: Args<'_> = rest.iter().map(OperandRef::arg).collect();
            typed(|| call::pointwise_in_place(op, raw, &args))
        }
    })
}

/// Returns the run-time names of `dest` after an operator.
#[cold]
fn named_in_place(op: Op, dest: &Dest<'_>, rest: &[OperandRef<'_>]) -> Result<Wilds> {
    let operands = operands(rest);
    let own = dest.names();
    let others: SmallVec<[Names; 2]> = operands.iter().map(|x| x.names()).collect();
    let computed = rule::unify_all(op.name(), std::iter::once(&own).chain(&others));
    let computed = computed.and_then(|computed| {
        // Checks sizes before names, like the dynamic call.
        operands
            .iter()
            .try_for_each(|x| rule::broadcast_into(op.name(), dest.raw.shape(), x.raw.shape()))?;
        rule::in_place(op.name(), &own, &computed)
    });
    let computed = computed.map_err(|error| dest.blame(error, &operands))?;
    Ok(wilds(computed, dest.of))
}

fn operands<'a>(sides: &[OperandRef<'a>]) -> SmallVec<[ErasedRef<'a>; 2]> {
    sides.iter().filter_map(OperandRef::erased).collect()
}

/// Computes an operator into an out tensor.
pub(crate) fn into(
    op: Op,
    sides: &[OperandRef<'_>],
    computed: &'static Static,
    out: &mut Erased,
    of: &'static Static,
) -> Result<()> {
    let name = op.name();
    let shapes = sides
        .iter()
        .filter_map(OperandRef::erased)
        .map(|x| x.raw.shape());
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
        let explained = |error| {
            let result = Blamed {
                names: result.clone(),
                shape: &shape,
                made: None,
            };
            explain_with(error, [out.erased(of).blamed(), result])
        };
        rule::out_shape(name, &own, out.raw.shape(), &shape).map_err(explained)?;
        wild = wilds(rule::out(name, &own, &result).map_err(explained)?, of);
    }
    let args: Args<'_> = sides.iter().map(OperandRef::arg).collect();
    if fits {
        let dest = out.raw.as_mut()?;
        typed(|| call::pointwise_into(op, dest, &args)).map_err(|error| blame(error, sides))?;
    } else {
        // An unnamed out tensor of another size takes the size of the result.
        let result = typed(|| call::pointwise(op, &args)).map_err(|error| blame(error, sides))?;
        rule::dtype::cast_to(name, result.dtype(), out.raw.dtype())?;
        call::fits_device(name, out.raw.device(), result.device())?;
        out.replace_elements(call::to_dtype(&result, out.raw.dtype())?);
    }
    if of.wild {
        out.wild = wild;
    }
    Ok(())
}

/// Adds `other` times `alpha`.
pub(crate) fn add_scaled(
    op: Op,
    x: ErasedRef<'_>,
    other: OperandRef<'_>,
    alpha: Scalar,
    out: &'static Static,
) -> Result<Erased> {
    let alpha = match (op, alpha) {
        (Op::Sub, Scalar::Int(value)) => Scalar::Int(value.wrapping_neg()),
        (Op::Sub, Scalar::Complex(value)) => Scalar::Complex(-value),
        (Op::Sub, other) => Scalar::Float(-other.to_f64()),
        (_, alpha) => alpha,
    };
    let sides = [OperandRef::Tensor(x), other, OperandRef::Scalar(alpha)];
    new(Op::Addcmul, &sides, out).map_err(|error| error.in_op(op.name()))
}

/// Clamps to between `min` and `max`.
pub(crate) fn clamp(
    x: ErasedRef<'_>,
    min: Option<OperandRef<'_>>,
    max: Option<OperandRef<'_>>,
    out: &'static Static,
) -> Result<Erased> {
    let mut sides: SmallVec<[OperandRef<'_>; 3]> = smallvec::smallvec![OperandRef::Tensor(x)];
    sides.extend(min.into_iter().chain(max));
    let wild = unify(Op::Clamp, &sides, out)?;
    let (min, max) = (
        min.as_ref().map(OperandRef::arg),
        max.as_ref().map(OperandRef::arg),
    );
    let raw = typed(|| call::clamp(x.raw, min, max)).map_err(|error| blame(error, &sides))?;
    Ok(Erased { raw, wild })
}

/// Converts the result to the dtype of its type: with three operands, promotion in pairs may differ
/// from promotion of all at once.
pub(crate) fn in_dtype(result: Result<Erased>, dtype: nomina_core::DType) -> Result<Erased> {
    let Erased { raw, wild } = result?;
    Ok(Erased {
        raw: call::to_dtype(&raw, dtype)?,
        wild,
    })
}

pub(super) fn wild_among(sides: &[OperandRef<'_>]) -> bool {
    sides.iter().any(OperandRef::is_wild)
}

/// Returns the run-time names of the result; does nothing if types know all names.
pub(super) fn unify(op: Op, sides: &[OperandRef<'_>], out: &Static) -> Result<Wilds> {
    if !wild_among(sides) {
        return Ok(None);
    }
    Ok(wilds(unified(op, sides)?, out))
}

fn unified(op: Op, sides: &[OperandRef<'_>]) -> Result<Names> {
    let operands: SmallVec<[Names; 3]> = sides
        .iter()
        .filter_map(OperandRef::erased)
        .map(|x| x.names())
        .collect();
    rule::unify_all(op.name(), &operands).map_err(|error| blame(error, sides))
}

#[cold]
pub(super) fn blame(error: Error, sides: &[OperandRef<'_>]) -> Error {
    let operands: Vec<ErasedRef<'_>> = sides.iter().filter_map(OperandRef::erased).collect();
    explain(error, &operands)
}
