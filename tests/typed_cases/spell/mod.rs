//! The typed spelling of each operator: from its row, or from the file of its family if its method differs.

mod activation;
mod attribute;
mod conv;
mod einsum;
mod gather;
mod loss;
mod norm;
mod page;
mod parametric;
mod random;
mod shape;
mod sort;
pub mod sparse;
mod stat;

use nomina_by_name::Value;
use nomina_core::op::{self, Class, ParamKind};

use crate::translate::{Call, Words, inexpressible, missing};

/// Writes the call and the conversion of its result.
pub fn call(call: &Call<'_>) -> Words {
    let row = call.op.row();
    let own = matches!(call.bound.get("self"), Some(Value::Tensor(_)) | None);
    if !own {
        return inexpressible("a number on the left");
    }
    let by_hand = "another spelling in types: tests/typed_*.rs";
    if BY_HAND.contains(&row.name) {
        return inexpressible(by_hand);
    }
    let family = op::families().find(|(_, rows)| rows.iter().any(|r| r.name == row.name));
    let family = family.map(|(family, _)| family);
    let options = OPTIONS_BY_HAND.contains(&row.name) || matches!(family, Some("loss" | "norm"));
    let reduced = matches!(row.name, "mse_loss" | "l1_loss");
    if options && !reduced && has_options(call) {
        return inexpressible(by_hand);
    }
    let own = match family {
        Some("activation") => activation::call(call),
        Some("attribute") => attribute::call(call),
        Some("conv") => conv::call(call),
        Some("einsum") => einsum::call(call),
        Some("gather") => gather::call(call),
        Some("loss") => loss::call(call),
        Some("norm") => norm::call(call),
        Some("parametric") => parametric::call(call),
        Some("random") => random::call(call),
        Some("shape") => shape::call(call),
        Some("sort") => sort::call(call),
        Some("sparse") => sparse::call(call),
        Some("stat") => stat::call(call),
        _ => match shape::call(call)? {
            Some(own) => Ok(Some(own)),
            None => page::call(call),
        },
    };
    match own? {
        Some(own) => Ok(own),
        None if row.class == Class::Query => Ok(format!("give(x0.{}())", row.name)),
        None => by_row(call),
    }
}

/// Operators beyond PyTorch's page whose typed form takes different arguments: an order of dims by name, a range, a
/// macro. `tests/typed_*.rs` test them.
const BY_HAND: &[&str] = &[
    "arange",
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "bilinear",
    "cartesian_prod",
    "column_stack",
    "combinations",
    "contract",
    "diag",
    "diag_embed",
    "diagflat",
    "dsplit",
    "dstack",
    "einsum",
    "eye",
    "fliplr",
    "flipud",
    "hsplit",
    "hstack",
    "linear",
    "linspace",
    "logspace",
    "meshgrid",
    "movedim",
    "multi_dot",
    "permute",
    "randint",
    "randperm",
    "ravel",
    "repeat",
    "repeat_interleave",
    "reshape",
    "reshape_as",
    "roll",
    "rot90",
    "scaled_dot_product_attention",
    "stack",
    "tensor_split",
    "tensordot",
    "tile",
    "unfold",
    "unsqueeze",
    "normal",
    "cross_entropy",
    "nll_loss",
    "layer_norm",
    "rms_norm",
    "normalize",
    "group_norm",
    "batch_norm",
    "instance_norm",
    "local_response_norm",
    "gaussian_nll_loss",
    "vander",
    "view",
    "view_as",
    "view_as_complex",
    "view_as_real",
    "vsplit",
    "vstack",
];

/// Operators with an options struct whose name or fields differ from PyTorch's keywords; without options they are
/// called as their row says. `tests/typed_*.rs` test the options.
const OPTIONS_BY_HAND: &[&str] = &[
    "argsort",
    "bucketize",
    "corrcoef",
    "cov",
    "cumulative_trapezoid",
    "nanquantile",
    "normal",
    "quantile",
    "searchsorted",
    "sort",
    "trapezoid",
    "unique",
    "unique_consecutive",
];

/// Returns whether an optional argument is given.
fn has_options(call: &Call<'_>) -> bool {
    let given = |name| call.given(name).is_some();
    let mut optional = call.op.row().params().filter(|p| p.default.is_some());
    optional.any(|p| p.name != "dim" && p.name != "keepdim" && given(p.name))
}

/// Writes a method call with all arguments in order, some of them defaults.
pub fn positional(call: &Call<'_>, name: &str, params: &[(&str, &str)]) -> Words {
    let argument = |(param, default): &(&str, &str)| match call.given(param) {
        None => Ok((*default).to_owned()),
        Some(Value::Int(v)) => Ok(format!("{v}.0")),
        Some(value) => call.operand(value),
    };
    let arguments = params.iter().map(argument);
    call.method(name, &arguments.collect::<Result<Vec<_>, _>>()?)
}

/// Writes the method call that follows from the signature.
pub fn by_row(call: &Call<'_>) -> Words {
    let row = call.op.row();
    let keepdim = matches!(call.given("keepdim"), Some(Value::Bool(true)));
    let reduces = row.params().any(|p| p.name == "keepdim");
    let mut arguments = Vec::new();
    let mut options = Vec::new();
    let receiver = call.receiver();
    for param in row.params().filter(|p| Some(p.name) != receiver) {
        let value = call.bound.get(param.name);
        if param.name == "keepdim" {
            continue;
        }
        if param.name == "dim" && reduces {
            // If omitted: all dims, or the default of the row.
            let default = param.default.and_then(|text| text.parse().ok());
            let default = default.map(Value::Int);
            arguments.push(call.dims(value.or(default.as_ref()), keepdim)?);
            continue;
        }
        match (value, param.default) {
            (None, Some(default)) if param.kind == ParamKind::Dim => {
                if let Ok(at) = default.parse() {
                    arguments.push(call.dim(&Value::Int(at))?);
                }
            }
            (None, Some(_)) => {}
            (Some(Value::None), Some(_)) if param.kind != ParamKind::Dim => {}
            (None, None) => return missing(format!("no {}", param.name)),
            (Some(value), None) => arguments.push(call.argument(&param, value)?),
            (Some(value), Some(_)) if matches!(param.kind, ParamKind::Dim | ParamKind::Operand) => {
                arguments.push(call.argument(&param, value)?);
            }
            (Some(value), Some(_)) => options.push((param.name, call.argument(&param, value)?)),
        }
    }
    let along = matches!(row.class, Class::Scan | Class::Softmax | Class::Reduce);
    if let [("dtype", dtype)] = &options[..]
        && along
    {
        arguments.push(format!("ReduceOptions::<{dtype}>::default()"));
        return call.method(&format!("{}_with", row.name), &arguments);
    }
    if options.is_empty() {
        return call.method(row.name, &arguments);
    }
    let fields: Vec<String> = options
        .iter()
        .map(|(name, value)| match *name {
            "dtype" => format!("dtype: Some({value})"),
            name => format!("{name}: opt({value})"),
        })
        .collect();
    let name = match row.name {
        "var" | "std" | "var_mean" | "std_mean" => "VarOptions".to_owned(),
        "addbmm" | "baddbmm" | "addr" => "AddmmOptions".to_owned(),
        name => format!("{}Options", camel(name)),
    };
    arguments.push(format!("{name} {{ {}, ..default() }}", fields.join(", ")));
    call.method(&format!("{}_with", row.name), &arguments)
}

pub fn camel(name: &str) -> String {
    let part = |part: &str| match part.split_at_checked(1) {
        Some((first, rest)) => first.to_uppercase() + rest,
        None => String::new(),
    };
    name.split('_').map(part).collect()
}

/// Writes a method call, with options if one of `names` is given.
pub fn with(call: &Call<'_>, arguments: &[String], options: &str, names: &[&str]) -> Words {
    let mut fields = String::new();
    for name in names {
        if let Some(value) = call.given(name) {
            fields += &format!("{name}: opt({}), ", call.operand(value)?);
        }
    }
    let name = call.op.name();
    if fields.is_empty() {
        return call.method(name, arguments);
    }
    let mut arguments = arguments.to_vec();
    arguments.push(format!("{options} {{ {fields}..default() }}"));
    call.method(&format!("{name}_with"), &arguments)
}

pub fn value(call: &Call<'_>, param: &str) -> Words {
    match call.bound.get(param) {
        Some(value) => call.operand(value),
        None => missing(format!("no {param}")),
    }
}
