//! Sequences and optional values.

use nomina::{DType, DynTensor};
use nomina_core::Result;

use super::shape::full;
use crate::call::{Call, Value, ints};
use crate::names::flow::Flow::Fresh;
use crate::table::Row;
use crate::table::Run::{Single, Values};

pub const ROWS: &[Row] = &[
    Row::new(
        "SequenceConstruct",
        11,
        Fresh,
        Values(|c| {
            Ok(vec![Value::Sequence(
                c.all()?.into_iter().map(|x| x.clone().into()).collect(),
            )])
        }),
    ),
    Row::new(
        "SequenceEmpty",
        11,
        Fresh,
        Values(|_| Ok(vec![Value::Sequence(Vec::new())])),
    ),
    Row::new(
        "SequenceAt",
        11,
        Fresh,
        Values(|c| Ok(vec![sequence(c)?[place(c, 1, sequence(c)?.len())?].clone()])),
    ),
    Row::new(
        "SequenceLength",
        11,
        Fresh,
        Single(|c| DynTensor::from_vec(vec![sequence(c)?.len() as i64], &[], ())),
    ),
    Row::new("SequenceInsert", 11, Fresh, Values(insert)),
    Row::new("SequenceErase", 11, Fresh, Values(erase)),
    Row::new("ConcatFromSequence", 11, Fresh, Single(concat)),
    Row::new("SplitToSequence", 11, Fresh, Values(split)),
    Row::new(
        "Optional",
        15,
        Fresh,
        Values(|c| {
            Ok(vec![Value::Optional(
                c.inputs
                    .first()
                    .copied()
                    .flatten()
                    .map(|value| Box::new(value.clone())),
            )])
        }),
    ),
    Row::new("OptionalHasElement", 15, Fresh, Single(has_element)),
    Row::new("OptionalGetElement", 15, Fresh, Values(get_element)),
];

fn sequence<'a>(c: &Call<'a>) -> Result<&'a [Value]> {
    match c.value(0)? {
        Value::Sequence(all) => Ok(all),
        _ => Err(c.fail("the input is no sequence")),
    }
}

/// The position in input `at`, from the end if it is negative.
fn place(c: &Call<'_>, at: usize, length: usize) -> Result<usize> {
    let place = ints(c.x(at)?)?
        .first()
        .copied()
        .ok_or_else(|| c.fail("the position is missing"))?;
    let from_end = if place < 0 {
        place + length as i64
    } else {
        place
    };
    usize::try_from(from_end)
        .ok()
        .filter(|&at| at < length)
        .ok_or_else(|| c.fail(format!("position {place} is out of range")))
}

fn insert(c: &Call<'_>) -> Result<Vec<Value>> {
    let mut all = sequence(c)?.to_vec();
    let at = if c.maybe(2)?.is_some() && ints(c.x(2)?)?.first() != Some(&(all.len() as i64)) {
        place(c, 2, all.len())?
    } else {
        all.len()
    };
    all.insert(at, c.value(1)?.clone());
    Ok(vec![Value::Sequence(all)])
}

fn erase(c: &Call<'_>) -> Result<Vec<Value>> {
    let mut all = sequence(c)?.to_vec();
    c.require(!all.is_empty(), "the sequence is empty")?;
    let at = if c.maybe(1)?.is_some() {
        place(c, 1, all.len())?
    } else {
        all.len() - 1
    };
    all.remove(at);
    Ok(vec![Value::Sequence(all)])
}

fn concat(c: &Call<'_>) -> Result<DynTensor> {
    let all: Option<Vec<&DynTensor>> = sequence(c)?.iter().map(Value::tensor).collect();
    let all = all
        .filter(|all| !all.is_empty())
        .ok_or_else(|| c.fail("the sequence has no tensors"))?;
    let new = c.flag("new_axis", false)?;
    let axis = c.axis(c.int("axis", 0)?, all[0].rank() + usize::from(new))? as i64;
    if new {
        DynTensor::stack(&all, axis, None)
    } else {
        DynTensor::cat(&all, axis)
    }
}

fn split(c: &Call<'_>) -> Result<Vec<Value>> {
    let x = c.x(0)?;
    let axis = c.axis(c.int("axis", 0)?, x.rank())?;
    let size = x.shape()[axis] as i64;
    let lengths = match c.maybe(1)? {
        None => vec![1; size as usize],
        Some(each) if each.rank() == 0 => {
            let each = ints(each)?[0];
            c.require(each > 0, "the length is not positive")?;
            (0..size)
                .step_by(each as usize)
                .map(|from| each.min(size - from))
                .collect()
        }
        Some(all) => ints(all)?,
    };
    c.require(
        lengths.iter().all(|n| (0..=size).contains(n)) && lengths.iter().sum::<i64>() == size,
        "the pieces do not add up to the dim",
    )?;
    let keep = c.maybe(1)?.is_some() || c.flag("keepdims", true)?;
    let (mut all, mut from) = (Vec::new(), 0);
    for length in lengths {
        let piece = x.narrow(axis as i64, from, length as usize)?;
        all.push(
            if keep {
                piece
            } else {
                piece.squeeze(axis as i64)?
            }
            .into(),
        );
        from += length;
    }
    Ok(vec![Value::Sequence(all)])
}

fn has_element(c: &Call<'_>) -> Result<DynTensor> {
    let value = c.inputs.first().copied().flatten();
    full(
        &[],
        !matches!(value, None | Some(Value::Optional(None))),
        DType::Bool,
    )
}

fn get_element(c: &Call<'_>) -> Result<Vec<Value>> {
    match c.value(0)? {
        Value::Optional(Some(value)) => Ok(vec![(**value).clone()]),
        Value::Optional(None) => Err(c.fail("the optional value is empty")),
        other => Ok(vec![other.clone()]),
    }
}
