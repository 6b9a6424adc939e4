//! Generates arguments for any operator of the table from its signature, mostly valid ones.

use std::sync::LazyLock;

use nomina::{DType, DynTensor};
use nomina_by_name::Value;
use nomina_core::op::{Class, Op, ParamKind, Status};

use super::super::bytes::Bytes;
use super::operand;

/// Operators that are not called: their result is uninitialized, they wait for a device, or they print.
const LEFT_OUT: [&str; 10] = [
    "seed",
    "initial_seed",
    "cuda",
    "empty",
    "empty_like",
    "empty_strided",
    "new_empty",
    "is_pinned",
    "data_ptr",
    "pin_memory",
];

/// Operators that query or preserve the layout.
const LAYOUT: [&str; 15] = [
    "contiguous",
    "as_strided",
    "view",
    "view_as",
    "stride",
    "strides",
    "storage_offset",
    "is_contiguous",
    "resize",
    "resize_",
    "resize_as",
    "resize_as_",
    "view_as_complex",
    "suggest_memory_format",
    "set_",
];

/// Returns the operators that programs call.
pub fn operators() -> &'static [Op] {
    static ALL: LazyLock<Vec<Op>> = LazyLock::new(|| {
        let called = |op: &Op| {
            let row = op.row();
            row.status == Status::Built && !LEFT_OUT.contains(&row.name)
        };
        Op::ALL.iter().copied().filter(called).collect()
    });
    &ALL
}

/// Returns whether a result may depend on the layout of its operands.
pub fn depends_on_layout(op: Op) -> bool {
    // Random numbers are assigned in memory order.
    LAYOUT.contains(&op.row().name) || matches!(op.row().class, Class::Random)
}

/// Returns by how many units in the last place a result may differ between layouts: sums are added in another order,
/// and vector and scalar versions of functions differ in their last bits.
pub fn tolerance(op: Op) -> f64 {
    match op.row().class {
        Class::View | Class::Index | Class::Copy | Class::Names | Class::Fill => 0.0,
        _ => 64.0,
    }
}

/// Returns a value for each given parameter, in order.
pub fn given(op: Op, bytes: &mut Bytes<'_>, pool: &[DynTensor]) -> Vec<(&'static str, Value)> {
    let tensor = |bytes: &mut Bytes<'_>| {
        let at = bytes.below(pool.len() + 1);
        pool.get(at).cloned().unwrap_or_else(|| operand::any(bytes))
    };
    let first = tensor(bytes);
    let mut is_first = true;
    let mut all = Vec::new();
    for param in op.row().params() {
        if param.default.is_some() && bytes.below(3) > 0 {
            continue;
        }
        let value = match param.kind {
            ParamKind::Tensor if std::mem::take(&mut is_first) => Value::Tensor(first.clone()),
            // A second operand often fits the first: it is the same tensor, or has the same sizes.
            ParamKind::Tensor | ParamKind::Operand => match bytes.below(4) {
                0 => Value::Tensor(tensor(bytes)),
                1 => Value::Tensor(operand::of(bytes, first.shape())),
                2 if param.kind == ParamKind::Operand => scalar(bytes),
                _ => Value::Tensor(first.clone()),
            },
            ParamKind::Tensors => {
                let count = bytes.below(4);
                Value::List(
                    (0..count)
                        .map(|at| {
                            Value::Tensor(if at == 0 {
                                first.clone()
                            } else {
                                tensor(bytes)
                            })
                        })
                        .collect(),
                )
            }
            ParamKind::Scalar => scalar(bytes),
            ParamKind::Dim => dim(bytes, &first),
            ParamKind::Dims | ParamKind::Order => match bytes.below(4) {
                0 => dim(bytes, &first),
                1 => Value::None,
                _ => Value::List(
                    (0..bytes.below(first.rank() + 2))
                        .map(|_| dim(bytes, &first))
                        .collect(),
                ),
            },
            ParamKind::Names => Value::List((0..first.rank()).map(|_| name(bytes)).collect()),
            ParamKind::Int => Value::Int(int(bytes)),
            ParamKind::Sizes => match bytes.below(3) {
                0 => Value::Int(int(bytes)),
                1 => Value::List(
                    first
                        .shape()
                        .iter()
                        .map(|&size| Value::Int(size as i64))
                        .collect(),
                ),
                _ => Value::List(
                    (0..bytes.below(4))
                        .map(|_| Value::Int(int(bytes)))
                        .collect(),
                ),
            },
            ParamKind::Bool => Value::Bool(bytes.below(2) == 0),
            ParamKind::Str | ParamKind::Text | ParamKind::Word | ParamKind::Mode => {
                word(bytes, param.default)
            }
            ParamKind::DType => Value::DType(bytes.pick(&DType::ALL)),
            ParamKind::Device => Value::Device(nomina::Device::Cpu),
            ParamKind::Format => {
                Value::from(bytes.pick(&["contiguous_format", "preserve_format", "channels_last"]))
            }
            ParamKind::Data => Value::List((0..bytes.below(4)).map(|_| scalar(bytes)).collect()),
            ParamKind::Pair => match bytes.below(2) {
                0 => Value::Int(int(bytes)),
                _ => Value::List(vec![
                    Value::List(vec![dim(bytes, &first)]),
                    Value::List(vec![dim(bytes, &first)]),
                ]),
            },
        };
        all.push((param.name, value));
    }
    all
}

fn scalar(bytes: &mut Bytes<'_>) -> Value {
    match bytes.below(6) {
        0 => Value::Float(bytes.pick(&[0.5, -1.5, 0.0, 2.0, f64::NAN, f64::INFINITY, 1e300])),
        1 => Value::Bool(true),
        2 => Value::Int(bytes.pick(&[i64::MIN, i64::MAX, 1 << 40, -(1 << 40)])),
        _ => Value::Int(int(bytes)),
    }
}

fn int(bytes: &mut Bytes<'_>) -> i64 {
    match bytes.below(40) {
        39 => bytes.pick(&[i64::MIN, i64::MAX, 1 << 40, -(1 << 40)]),
        small => small as i64 % 7 - 1,
    }
}

fn name(bytes: &mut Bytes<'_>) -> Value {
    match bytes.below(7) {
        0 => Value::None,
        1 => Value::from("..."),
        at => Value::from(["A", "B", "C", "D", "E"][at - 2]),
    }
}

fn dim(bytes: &mut Bytes<'_>, x: &DynTensor) -> Value {
    let rank = x.rank();
    match bytes.below(8) {
        0 => name(bytes),
        1 => Value::Int(int(bytes)),
        2 => Value::Int(-1),
        _ => {
            let at = bytes.below(rank.max(1));
            match x.names().get(at).cloned().flatten() {
                Some(name) if bytes.below(2) == 0 => Value::from(name.as_str()),
                _ => Value::Int(at as i64),
            }
        }
    }
}

fn word(bytes: &mut Bytes<'_>, default: Option<&'static str>) -> Value {
    const WORDS: [&str; 22] = [
        "mean",
        "sum",
        "none",
        "floor",
        "trunc",
        "amax",
        "amin",
        "prod",
        "reflect",
        "replicate",
        "circular",
        "constant",
        "nearest",
        "bilinear",
        "linear",
        "bicubic",
        "lower",
        "higher",
        "ij",
        "xy",
        "ij,jk->ik",
        "tanh",
    ];
    match default {
        Some(word) if bytes.below(2) == 0 => Value::from(word.trim_matches(['"', '\''])),
        _ => Value::from(bytes.pick(&WORDS)),
    }
}

/// Formats a value with its layout.
pub fn shown(value: &Value) -> String {
    match value {
        Value::Tensor(x) => {
            let raw = x.raw();
            let layout = format!(
                "{:?} by {:?} from {}",
                raw.shape(),
                raw.strides(),
                raw.offset()
            );
            let items: Vec<String> = raw
                .try_scalars()
                .into_iter()
                .flatten()
                .take(700)
                .map(|x| x.to_string())
                .collect();
            format!("{} {} {layout}: {}", x.dtype(), x.names(), items.join(" "))
        }
        Value::List(items) => format!(
            "[{}]",
            items.iter().map(shown).collect::<Vec<_>>().join(", ")
        ),
        other => format!("{other:?}"),
    }
}
