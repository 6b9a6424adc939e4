//! Random programs of operators on tensors of any layout. Each call runs twice, on the program's views and on row-major
//! copies of them, and simple operators are also computed element by element. The results must agree, and no operand
//! may change.

mod args;
mod empty;
mod naive;
mod operand;
mod same;

use std::fmt::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use nomina::DynTensor;
use nomina_by_name::{Value, call};
use nomina_core::op::{Forms, Op};

use super::bytes::Bytes;
pub use empty::endless;

/// The outcomes of a program's calls.
#[derive(Default)]
pub struct Counts {
    /// Calls that gave a result.
    pub results: usize,
    /// Calls that gave an error.
    pub errors: usize,
    /// Results that were compared with the definition.
    pub defined: usize,
}

/// Runs the program that the bytes encode.
///
/// # Errors
/// Returns the program, and the failure of its last call.
pub fn run(bytes: &mut Bytes<'_>, counts: &mut Counts) -> Result<(), String> {
    let operators = args::operators();
    let mut pool: Vec<DynTensor> = (0..1 + bytes.below(3))
        .map(|_| operand::any(bytes))
        .collect();
    let mut program = String::new();
    for _ in 0..1 + bytes.below(4) {
        let op = bytes.pick(operators);
        if let Err(wrong) = step(op, bytes, &mut pool, &mut program, counts) {
            return Err(format!("{program}{wrong}"));
        }
    }
    Ok(())
}

fn step(
    op: Op,
    bytes: &mut Bytes<'_>,
    pool: &mut Vec<DynTensor>,
    program: &mut String,
    counts: &mut Counts,
) -> Result<(), String> {
    let in_place = op.row().forms.contains(Forms::IN_PLACE) && bytes.once_in(5);
    let given = args::given(op, bytes, pool);
    let _ = writeln!(program, "{} of", spelled(op, in_place));
    for (name, value) in &given {
        let _ = writeln!(program, "    {name} = {}", args::shown(value));
    }
    let before: Vec<Value> = given.iter().map(|(_, value)| same::copied(value)).collect();
    let seed = bytes.word();
    let made = |values: Vec<Value>| {
        nomina_runtime::manual_seed(seed);
        let given = given.iter().map(|(name, _)| *name).zip(values);
        let (spelling, args, kwargs) = as_call(op, in_place, given);
        catch_unwind(AssertUnwindSafe(|| call(&spelling, args, kwargs)))
            .map_err(|_| "panicked".to_owned())
    };
    let of_views = made(given.iter().map(|(_, value)| value.clone()).collect())?;
    let of_copies = made(before.iter().map(same::copied).collect())?;
    for ((name, value), before) in given.iter().zip(&before) {
        same::equal(value, before, 0.0)
            .map_err(|what| format!("operand {name} changed: {what}"))?;
    }
    match (of_views, of_copies) {
        (Ok(of_views), Ok(of_copies)) => {
            counts.results += 1;
            if !args::depends_on_layout(op) {
                same::equal(&of_views, &of_copies, args::tolerance(op))
                    .map_err(|what| format!("of views and of copies: {what}"))?;
            }
            if !in_place && let Some(expected) = naive::result(op, &given) {
                counts.defined += 1;
                naive::agrees(&of_views, &expected)
                    .map_err(|what| format!("by definition: {what}"))?;
            }
            keep(of_views, pool);
        }
        (Err(error), Err(other)) => {
            counts.errors += 1;
            if error.kind() != other.kind() && !args::depends_on_layout(op) {
                return Err(format!("views: {error}\ncopies: {other}"));
            }
        }
        (Ok(value), Err(error)) | (Err(error), Ok(value)) if !args::depends_on_layout(op) => {
            return Err(format!(
                "of one {}, of the other {error}",
                args::shown(&value)
            ));
        }
        _ => counts.errors += 1,
    }
    Ok(())
}

fn spelled(op: Op, in_place: bool) -> String {
    let row = op.row();
    match in_place || !row.forms.contains(Forms::FUNCTION) {
        true if in_place => format!("torch.Tensor.{}_", row.name.trim_end_matches('_')),
        true => format!("torch.Tensor.{}", row.name),
        false => format!("torch.{}", row.name),
    }
}

/// Converts a call to PyTorch's form: all arguments by keyword except the first, which is `self` of a method.
fn as_call(
    op: Op,
    in_place: bool,
    given: impl IntoIterator<Item = (&'static str, Value)>,
) -> (String, Vec<Value>, Vec<(String, Value)>) {
    let mut given = given.into_iter();
    let first = given.next().map(|(_, value)| value);
    let rest = given.map(|(name, value)| (name.to_owned(), value));
    (
        spelled(op, in_place),
        first.into_iter().collect(),
        rest.collect(),
    )
}

/// Makes results operands of later calls, unless they are too large.
fn keep(value: Value, pool: &mut Vec<DynTensor>) {
    match value {
        Value::Tensor(tensor) if tensor.numel() <= 4096 && tensor.rank() <= 8 => pool.push(tensor),
        Value::List(items) => items.into_iter().take(4).for_each(|item| keep(item, pool)),
        _ => {}
    }
    let more = pool.len().saturating_sub(6);
    pool.drain(..more);
}
