//! The checks of one call in one dtype.

use nomina::{DType, DynTensor, ErrorKind, Names};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::{Class, Forms, NameRule, Op};
use nomina_core::rule;

use crate::inputs::{Inputs, emptied, extreme, principal, strided};
use crate::near::{same, tolerance};
use crate::recorded::Call;

/// Operators that depend on the buffer: the layout is part of their input.
const OF_MEMORY: &[&str] = &[
    "view",
    "view_as",
    "view_as_complex",
    "as_strided",
    "resize",
    "resize_as",
    "stride",
    "is_contiguous",
];

type Checked = Result<(), String>;

fn run(op: Op, form: Form, inputs: &Inputs) -> nomina::Result<Value> {
    let bound = Bound::new(op, inputs.args.clone(), inputs.kwargs.clone())?;
    invoke(op, form, bound)
}

fn is_random(op: Op, call: &Call) -> bool {
    call.random || op.row().class == Class::Random
}

/// Converts an error to a failure, with the name of the check.
fn at<V>(what: &str, result: nomina::Result<V>) -> Result<V, String> {
    result.map_err(|error| format!("{what}: {error:?}"))
}

/// Checks a dtype that the row lists.
pub fn taken(op: Op, call: &Call, dtype: DType) -> Checked {
    let Some(principal) = principal(call) else {
        return Ok(());
    };
    let inputs = at("conversion", Inputs::of(call).in_dtype(principal, dtype))?;
    let computed = match run(op, call.form, &inputs) {
        Ok(computed) => computed,
        // Converted numbers may be outside a function's domain: an index, a size, a divisor.
        Err(error) if !dtype.is_float() && error.kind() != ErrorKind::DType => return Ok(()),
        // Integers cannot be multiplied by a fraction.
        Err(_)
            if !dtype.is_float()
                && !dtype.is_complex()
                && has_number(&inputs, dtype != DType::Bool) =>
        {
            return Ok(());
        }
        Err(error) => return Err(format!("{error:?}")),
    };
    names(op, call, &inputs, &computed)?;
    if !is_random(op, call) {
        values(op, call, &inputs, &computed, dtype)?;
        forms(op, call, &inputs, &computed, dtype)?;
        if !OF_MEMORY.contains(&op.name()) {
            let apart = at("strides", inputs.map(&mut strided))?;
            let other = at("strided", run(op, call.form, &apart))?;
            same(&other, &computed, tolerance(dtype), true).map_err(|e| format!("strided: {e}"))?;
        }
    }
    nothing(op, call, &inputs)?;
    odd(op, call, &inputs, dtype)?;
    wrong_names(op, call, &inputs)
}

/// Returns whether a number is among the arguments; with `float`, whether a fraction is.
fn has_number(inputs: &Inputs, float: bool) -> bool {
    let kwargs = inputs.kwargs.iter().map(|(_, arg)| arg);
    inputs.args.iter().chain(kwargs).any(|arg| match arg {
        Value::Float(_) | Value::Complex(_) => true,
        Value::Int(_) => !float,
        _ => false,
    })
}

/// Returns whether an error names the operator.
fn is_of(error: &nomina::Error, op: Op) -> bool {
    error.op().trim_end_matches('_') == op.name()
}

/// Checks a dtype that the row does not list: the operator must refuse it.
pub fn refused(op: Op, call: &Call, dtype: DType) -> Checked {
    let Some(principal) = principal(call) else {
        return Ok(());
    };
    if !op.row().dtypes.contains(principal) {
        return Ok(());
    }
    let inputs = at("conversion", Inputs::of(call).in_dtype(principal, dtype))?;
    // Calls that promote compute in another dtype.
    let promotes =
        has_number(&inputs, true) || (dtype == DType::Bool && has_number(&inputs, false));
    if promotes || inputs.tensors().iter().any(|x| x.dtype() != dtype) {
        return Ok(());
    }
    match run(op, call.form, &inputs) {
        Err(error) if is_of(&error, op) => Ok(()),
        Err(error) => Err(format!("refused by another operator: {error:?}")),
        Ok(_) => Err("the row does not list the dtype, and the operator takes it".into()),
    }
}

fn tensors(value: &Value) -> Vec<&DynTensor> {
    let mut found = Vec::new();
    crate::inputs::tensors_in(value, &mut found);
    found
}

fn texts(names: &Names) -> Vec<Option<String>> {
    let text = |name: &Option<nomina::Name>| name.as_ref().map(ToString::to_string);
    names.iter().map(text).collect()
}

/// Checks that the names are the recorded ones, and those that the row's rule gives.
fn names(op: Op, call: &Call, inputs: &Inputs, computed: &Value) -> Checked {
    let got: Vec<_> = tensors(computed).iter().map(|x| texts(x.names())).collect();
    if got != call.names {
        return Err(format!("names {got:?}, recorded are {:?}", call.names));
    }
    let operands = inputs.tensors();
    let (Some(first), [result]) = (operands.first(), &tensors(computed)[..]) else {
        return Ok(());
    };
    let follows = match op.row().rule {
        NameRule::Keeps => result.names() == first.names(),
        NameRule::Removes => {
            let mut own = first.names().iter();
            result.names().iter().all(|name| own.any(|n| n == name))
        }
        NameRule::Unifies if op.row().class != Class::Index => {
            let all = rule::unify_all(op.name(), operands.iter().map(|x| x.names()));
            all.is_ok_and(|all| all == *result.names())
        }
        NameRule::Permutes => {
            let mut own = texts(first.names());
            let mut its = texts(result.names());
            // Aligning adds new dims.
            own.retain(|name| !its.contains(name));
            its.retain(|name| name.is_none() || !texts(first.names()).contains(name));
            own.is_empty() && (its.is_empty() || op.name().starts_with("align"))
        }
        _ => true,
    };
    if follows {
        Ok(())
    } else {
        Err(format!(
            "names {} of {} are not the rule's",
            result.names(),
            first.names()
        ))
    }
}

/// Checks the values against the row's reference, or against those in `f64` for the same numbers.
fn values(op: Op, call: &Call, inputs: &Inputs, computed: &Value, dtype: DType) -> Checked {
    if !op.row().reference.is_empty() {
        let wide = at(
            "conversion",
            inputs.in_dtype(dtype, dtype.to_float(DType::F64)),
        )?;
        let want = at("reference", crate::reference::of(op, &wide))?;
        return same(computed, &want, 4.0 * tolerance(dtype), true)
            .map_err(|e| format!("against its reference: {e}"));
    }
    if !matches!(dtype, DType::F16 | DType::BF16 | DType::F32) {
        return Ok(());
    }
    let wide = at("conversion", inputs.in_dtype(dtype, DType::F64))?;
    let wide = at("in f64", run(op, call.form, &wide))?;
    // If a result contains indices, ties may be resolved differently.
    let (Value::Tensor(_), Value::Tensor(_)) = (computed, &wide) else {
        return Ok(());
    };
    same(computed, &wide, 4.0 * tolerance(dtype), true).map_err(|e| format!("against f64: {e}"))
}

/// Checks that the result in place and with an out tensor is the same.
fn forms(op: Op, call: &Call, inputs: &Inputs, computed: &Value, dtype: DType) -> Checked {
    let within = tolerance(dtype);
    let own = inputs
        .tensors()
        .first()
        .map(|x| (x.dtype(), x.shape().to_vec()));
    let first_is_self = op.row().params().next().is_some_and(|p| p.name == "self");
    if let (Value::Tensor(result), Some((own, shape))) = (computed, own)
        && op.row().forms.contains(Forms::IN_PLACE)
        && call.form != Form::InPlace
        && first_is_self
        && result.dtype() == own
        && result.shape() == shape
        && inputs.tensors()[0].names() == result.names()
    {
        let written = at("in place", run(op, Form::InPlace, inputs))?;
        same(&written, computed, within, true).map_err(|e| format!("in place: {e}"))?;
    }
    if op.row().forms.contains(Forms::OUT) && call.form != Form::InPlace {
        let fresh = |x: &DynTensor| x.zeros_like();
        let out = match computed {
            Value::Tensor(x) => Value::Tensor(at("out", fresh(x))?),
            Value::List(_) => {
                let outs: nomina::Result<Vec<Value>> = tensors(computed)
                    .into_iter()
                    .map(|x| fresh(x).map(Value::Tensor))
                    .collect();
                Value::List(at("out", outs)?)
            }
            _ => return Ok(()),
        };
        let mut with_out = inputs.clone();
        with_out.kwargs.push(("out".into(), out));
        let written = at("out=", run(op, Form::Out, &with_out))?;
        same(&written, computed, within, true).map_err(|e| format!("out=: {e}"))?;
    }
    Ok(())
}

/// Checks that empty inputs give a result or an error, never a panic.
fn nothing(op: Op, call: &Call, inputs: &Inputs) -> Checked {
    let named: Vec<String> = inputs
        .tensors()
        .iter()
        .flat_map(|x| x.names().iter().flatten().map(ToString::to_string))
        .collect();
    for name in named {
        let Ok(empty) = inputs.map(&mut |x| emptied(x, &name)) else {
            continue;
        };
        match run(op, call.form, &empty) {
            Ok(result) => {
                // An empty operand has no elements along the dim, and neither has the result.
                for x in tensors(&result) {
                    let count = x.raw().scalars().count();
                    if count != x.numel() {
                        return Err(format!("{count} elements for sizes {:?}", x.shape()));
                    }
                }
            }
            Err(error) if !is_of(&error, op) => {
                return Err(format!("without elements: {error:?}"));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// Checks that NaN and infinities do not panic, and give the same in every form and layout.
fn odd(op: Op, call: &Call, inputs: &Inputs, dtype: DType) -> Checked {
    if !dtype.is_float() || is_random(op, call) || OF_MEMORY.contains(&op.name()) {
        return Ok(());
    }
    let strange = at("conversion", inputs.map(&mut extreme))?;
    let Ok(computed) = run(op, call.form, &strange) else {
        return Ok(());
    };
    let apart = at("strides", strange.map(&mut strided))?;
    let other = at("odd, strided", run(op, call.form, &apart))?;
    same(&other, &computed, tolerance(dtype), true).map_err(|e| format!("odd, strided: {e}"))?;
    forms(op, call, &strange, &computed, dtype).map_err(|e| format!("odd: {e}"))
}

/// Checks names that do not match, and dims that do not exist.
fn wrong_names(op: Op, call: &Call, inputs: &Inputs) -> Checked {
    let operands = inputs.tensors();
    let named = |x: &DynTensor| x.names().fully_named() && x.rank() > 0;
    if op.row().rule == NameRule::Unifies && operands.len() > 1 && operands.iter().all(|x| named(x))
    {
        let mut at_second = 0;
        let other = inputs.map(&mut |x| {
            at_second += 1;
            if at_second != 2 {
                return Ok(x.clone());
            }
            let mut names = texts(x.names());
            names.pop();
            names.push(Some("Elsewhere".into()));
            let names: nomina::Result<Names> = names
                .iter()
                .map(|name| name.as_deref().map(nomina::Name::new).transpose())
                .collect();
            DynTensor::from_parts(x.raw().clone(), names?)
        });
        let error = match run(op, call.form, &at("renaming", other)?) {
            Ok(_) => return Err("names that do not unify are accepted".into()),
            Err(error) => error,
        };
        if !error.to_string().contains("Elsewhere") || !is_of(&error, op) {
            return Err(format!("an error that does not name the dim: {error}"));
        }
    }
    let mut renamed = false;
    let unknown = inputs.texts(&mut |text| {
        let is_dim = operands
            .iter()
            .any(|x| x.names().iter().flatten().any(|name| name.as_str() == text));
        if is_dim {
            renamed = true;
            "Nowhere".into()
        } else {
            text.to_owned()
        }
    });
    twice(op, call, inputs)?;
    // An order of names may contain new ones.
    let looks_up = matches!(op.row().rule, NameRule::Removes | NameRule::Keeps);
    if renamed && looks_up {
        match run(op, call.form, &unknown) {
            Ok(_) => return Err("a dim that is not there is accepted".into()),
            Err(error) if error.kind() != ErrorKind::NameNotFound => {
                return Err(format!("a dim that is not there: {error:?}"));
            }
            Err(error) if !error.to_string().contains("Nowhere") => {
                return Err(format!("an error that does not name the dim: {error}"));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// Checks a dim that is listed twice.
fn twice(op: Op, call: &Call, inputs: &Inputs) -> Checked {
    let reduces = op.row().rule == NameRule::Removes;
    let dims = inputs.args.iter().position(|arg| match arg {
        Value::List(items) => matches!(&items[..], [Value::Str(_), ..]),
        _ => false,
    });
    let (true, Some(at)) = (reduces, dims) else {
        return Ok(());
    };
    let mut doubled = inputs.clone();
    if let Value::List(items) = &mut doubled.args[at] {
        let first = items[0].clone();
        items.push(first);
    }
    match run(op, call.form, &doubled) {
        Ok(_) => Err("a dim that is repeated is accepted".into()),
        Err(_) => Ok(()),
    }
}
