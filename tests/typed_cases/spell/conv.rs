//! Convolution, pooling, padding.

use nomina_by_name::Value;

use super::camel;
use crate::translate::{Call, Own, Words, inexpressible, missing};
use crate::words::{number, tuple};

/// Returns the typed form, if it does not follow from the row.
pub fn call(call: &Call<'_>) -> Own {
    let name = call.op.name();
    let words = match name
        .strip_suffix('d')
        .and_then(|name| name.split_at_checked(name.len() - 1))
    {
        Some((kind, count @ ("1" | "2" | "3"))) => {
            let count = if count == "1" {
                1
            } else {
                2 + usize::from(count == "3")
            };
            slides(call, kind, count)
        }
        _ => match name {
            "pad" | "constant_pad_nd" => pad(call),
            "interpolate" => interpolate(call),
            "im2col" | "fold" => inexpressible("new dims that PyTorch gives no names"),
            "pixel_shuffle" | "pixel_unshuffle" => {
                let Some(rank) = call.own().map(|x| x.rank()).filter(|rank| *rank >= 3) else {
                    return inexpressible("too few dims");
                };
                let at = [rank - 3, rank - 2, rank - 1].map(|at| call.dim(&Value::Int(at as i64)));
                let [channel, h, w] = at;
                let factor = if name == "pixel_shuffle" {
                    "upscale_factor"
                } else {
                    "downscale_factor"
                };
                call.method(name, &[channel?, tuple([h?, w?]), whole(call, factor)?])
            }
            _ => {
                let channel = call.dim(&Value::Int(1))?;
                call.method(name, &[channel, whole(call, "groups")?])
            }
        },
    };
    words.map(Some)
}

/// Writes the call of a window along the last `count` dims.
fn slides(call: &Call<'_>, kind: &str, count: usize) -> Words {
    let name = call.op.name();
    let Some(rank) = call.own().map(|x| x.rank()) else {
        return missing("no tensor to slide along");
    };
    if rank != count + 1 && rank != count + 2 {
        return inexpressible("a position that does not exist");
    }
    let at = |at: usize| call.dim(&Value::Int(at as i64));
    let dims = (rank - count..rank)
        .map(at)
        .collect::<Result<Vec<_>, _>>()?;
    let dims = tuple(dims);
    // The stride of a pool may be omitted.
    let pools = kind.ends_with("pool");
    let lists = |names: &[&str]| -> Words {
        let mut fields = String::new();
        for name in names {
            if call.given(name).is_some() {
                let sizes = sizes(call, name, count)?;
                fields += &match *name {
                    "stride" if pools => format!("stride: Some({sizes}), "),
                    name => format!("{name}: {sizes}, "),
                };
            }
        }
        Ok(fields)
    };
    let plain = |names: &[&str]| -> Words {
        let mut fields = String::new();
        for name in names {
            match call.given(name) {
                Some(Value::Int(v)) if *name == "groups" => fields += &format!("{name}: {v}, "),
                Some(Value::Int(v)) => fields += &format!("{name}: Some({v}), "),
                Some(Value::Bool(v)) => fields += &format!("{name}: {v}, "),
                _ => {}
            }
        }
        Ok(fields)
    };
    let options = |fields: String| format!("{}Options {{ {fields}..default() }}", camel(kind));
    match kind {
        "conv" | "conv_transpose" => {
            let mut fields = lists(&["stride", "dilation", "output_padding"])?;
            fields += &plain(&["groups"])?;
            fields += &match call.given("padding") {
                None => String::new(),
                Some(Value::Str(text)) if text == "same" => "padding: Padding::Same, ".into(),
                Some(Value::Str(_)) => String::new(),
                Some(_) if kind == "conv" => {
                    format!(
                        "padding: Padding::Zeros({}), ",
                        sizes(call, "padding", count)?
                    )
                }
                Some(_) => format!("padding: {}, ", sizes(call, "padding", count)?),
            };
            let bias = match call.given("bias") {
                Some(bias) => format!("Some({})", call.operand(bias)?),
                None => "None".into(),
            };
            let weight = super::value(call, "weight")?;
            let arguments = [at(rank - count - 1)?, dims, weight, bias, options(fields)];
            call.method(&format!("{name}_with"), &arguments)
        }
        "max_pool" => {
            let mut fields = lists(&["stride", "padding", "dilation"])?;
            fields += &plain(&["ceil_mode"])?;
            let arguments = [dims, sizes(call, "kernel_size", count)?, options(fields)];
            call.method(
                &format!("{name}_{}", with_indices(call, "with")),
                &arguments,
            )
        }
        "avg_pool" => {
            let mut fields = lists(&["stride", "padding"])?;
            fields += &plain(&["ceil_mode", "count_include_pad", "divisor_override"])?;
            let arguments = [dims, sizes(call, "kernel_size", count)?, options(fields)];
            call.method(&format!("{name}_with"), &arguments)
        }
        "lp_pool" => {
            let fields = lists(&["stride"])? + &plain(&["ceil_mode"])?;
            let order = call.given("norm_type").and_then(number).unwrap_or_default();
            let kernel = sizes(call, "kernel_size", count)?;
            let order = format!("({order}) as f64");
            call.method(
                &format!("{name}_with"),
                &[dims, order, kernel, options(fields)],
            )
        }
        "adaptive_avg_pool" => call.method(name, &[dims, sizes(call, "output_size", count)?]),
        "adaptive_max_pool" => {
            let method = match with_indices(call, "") {
                "" => name.to_owned(),
                with => format!("{name}_{with}"),
            };
            call.method(&method, &[dims, sizes(call, "output_size", count)?])
        }
        _ => match call.given("output_size") {
            Some(_) => {
                let sizes = sizes(call, "output_size", count)?;
                call.method(name, &["&x1".into(), dims, sizes])
            }
            None => inexpressible("a result whose size follows from a window"),
        },
    }
}

fn with_indices(call: &Call<'_>, otherwise: &'static str) -> &'static str {
    match call.given("return_indices") {
        Some(Value::Bool(true)) => "with_indices",
        _ => otherwise,
    }
}

fn whole(call: &Call<'_>, param: &str) -> Words {
    match call.given(param) {
        Some(Value::Int(v)) => Ok(v.to_string()),
        _ => missing(format!("no {param}")),
    }
}

/// Writes one number for each of the last `count` dims.
fn sizes(call: &Call<'_>, param: &str, count: usize) -> Words {
    let rank = call.own().map_or(0, |x| x.rank());
    let each = match call.given(param) {
        Some(Value::Int(v)) => vec![v.to_string(); count],
        Some(Value::List(items)) if items.len() == 1 && count > 1 => {
            return sizes_of(&vec![items[0].clone(); count]);
        }
        Some(Value::List(items)) => {
            let each = items
                .iter()
                .enumerate()
                .map(|(at, item)| match (item, call.own()) {
                    (Value::None, Some(x)) if items.len() == count => {
                        Value::Int(x.shape()[rank - count + at] as i64)
                    }
                    (other, _) => other.clone(),
                });
            return sizes_of(&each.collect::<Vec<_>>());
        }
        _ => return missing(format!("no {param}")),
    };
    Ok(format!("[{}]", each.join(", ")))
}

fn sizes_of(items: &[Value]) -> Words {
    let each: Option<Vec<String>> = items
        .iter()
        .map(|item| match item {
            Value::Int(v) => Some(v.to_string()),
            _ => None,
        })
        .collect();
    match each {
        Some(each) => Ok(format!("[{}]", each.join(", "))),
        None => inexpressible("sizes that are no numbers"),
    }
}

fn pad(call: &Call<'_>) -> Words {
    let Some(Value::List(items)) = call.bound.get("pad") else {
        return missing("no pad");
    };
    if items.is_empty() {
        return inexpressible("no dims to pad");
    }
    let (mut dims, mut pairs) = (Vec::new(), Vec::new());
    for (at, pair) in items.chunks_exact(2).enumerate() {
        dims.push(call.dim(&Value::Int(-1 - at as i64))?);
        let ends = pair.iter().map(|end| match end {
            Value::Int(v) => Ok(v.to_string()),
            other => missing(format!("{} as a number of elements", other.kind())),
        });
        pairs.push(tuple(ends.collect::<Result<Vec<_>, _>>()?));
    }
    let mut fields = String::new();
    if let Some(Value::Str(mode)) = call.given("mode") {
        fields += &format!("mode: PadMode::{}, ", camel(mode));
    }
    if let Some(value) = call.given("value").and_then(number) {
        fields += &format!("value: ({value}).into(), ");
    }
    let options = format!("PadOptions {{ {fields}..default() }}");
    let pairs = format!("[{}]", pairs.join(", "));
    call.method("pad_with", &[tuple(dims), pairs, options])
}

fn interpolate(call: &Call<'_>) -> Words {
    if call.given("size").is_none() {
        return inexpressible("a factor instead of a size");
    }
    let Some(rank) = call
        .own()
        .map(|x| x.rank())
        .filter(|rank| (3..=5).contains(rank))
    else {
        return inexpressible("a position that does not exist");
    };
    let all = sizes(call, "size", rank - 2)?;
    let all = all.trim_matches(['[', ']']).split(", ");
    let mut each = Vec::new();
    for (at, size) in all.enumerate() {
        let dim = call.dim(&Value::Int(2 + at as i64))?;
        each.push(format!("{dim}.of({size})"));
    }
    let mode = match call.given("mode") {
        Some(Value::Str(mode)) => match mode.as_str() {
            "nearest-exact" => "NearestExact",
            "linear" | "bilinear" | "trilinear" => "Linear",
            "bicubic" => "Cubic",
            "area" => "Area",
            _ => "Nearest",
        },
        _ => "Nearest",
    };
    let corners = matches!(call.given("align_corners"), Some(Value::Bool(true)));
    let options = format!(
        "InterpolateOptions {{ mode: InterpolateMode::{mode}, align_corners: {corners}, ..default() }}"
    );
    call.method("interpolate_with", &[tuple(each), options])
}
