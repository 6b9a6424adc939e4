//! Applies the rules to a recorded call: names and, where sizes follow from sizes, shapes.

use nomina_core::rule::{self, DimRef, NameItem, dtype};
use nomina_core::{DType, Error, ErrorKind, Names, Promoter, Result};
use serde_json::Value;

use super::{Case, Meta, item, sizes};

/// The names of a result, and its shape if it does not depend on values.
pub type Got = (Names, Option<Vec<usize>>);

/// Operators on one tensor whose result keeps its names and shape.
const UNARY: &str = "abs acos asin atan ceil cos cosh acosh deg2rad digamma erf erfc erfinv exp \
    expm1 floor frac log log10 log1p log2 neg rad2deg reciprocal round rsqrt sigmoid sign sgn sin \
    sinh asinh sqrt tan tanh atanh trunc bitwise_not logical_not lgamma relu bool float bfloat16 \
    short int long byte char double half detach contiguous cpu to type_as clone fill_ zero_ \
    empty_like zeros_like ones_like bernoulli requires_grad_ log_normal_ geometric_ exponential_ \
    cauchy_ uniform_ random_ bernoulli_ clamp_ index_fill_";

/// Operators of these lists that convert integers to floats.
const FLOATS: &str = "acos asin atan cos cosh acosh deg2rad digamma erf erfc erfinv exp expm1 log \
    log10 log1p log2 rad2deg reciprocal rsqrt sigmoid sin sinh asinh sqrt tan tanh atanh lgamma \
    div atan2";

const BINARY: &str = "add sub mul div pow atan2 eq ne lt le gt ge floor_divide logical_and \
    logical_or logical_xor addcmul clamp";

const COMPARE: &str = "eq ne lt le gt ge logical_and logical_or logical_xor logical_not";

const REDUCE: &str = "sum mean prod std var std_mean var_mean logsumexp median nanmedian mode min \
    max all any argmax argmin kthvalue";

const ALONG: &str = "cumsum cumprod softmax log_softmax logcumsumexp index_fill";

fn among(list: &str, op: &str) -> bool {
    list.split_ascii_whitespace().any(|other| other == op)
}

fn whole(names: Names, shape: impl AsRef<[usize]>) -> Got {
    (names, Some(shape.as_ref().to_vec()))
}

/// Returns the names and shapes of the results, one per tensor that PyTorch returns, or the error;
/// `None` for an operator whose results do not follow from names and sizes.
pub fn infer(case: &Case<'_>, results: usize) -> Option<Result<Vec<Got>>> {
    let base = case.op.strip_suffix('_').unwrap_or(case.op);
    let got = if among(UNARY, case.op) || among(UNARY, base) || among(BINARY, base) {
        elementwise(case, base)
    } else if among(REDUCE, case.op) {
        reduce(case)
    } else {
        one(case)?
    };
    Some(got.map(|got| vec![got; results]))
}

/// Elementwise operators, also in place and with an out tensor, in the order of PyTorch's checks.
fn elementwise(case: &Case<'_>, base: &str) -> Result<Got> {
    let own = case.tensor(0);
    let others: Vec<Meta> = if among(BINARY, base) {
        (1..case.args.len())
            .filter_map(|i| case.maybe_tensor(i))
            .collect()
    } else {
        Vec::new()
    };
    let all = || std::iter::once(&own).chain(&others);
    let names = rule::unify_all("op", all().map(|t| &t.names))?;
    let shape = rule::broadcast_all("op", all().map(|t| t.shape.as_slice()))?;
    let in_place = case.op.ends_with('_');
    if in_place {
        for other in &others {
            rule::broadcast_into("op", &own.shape, &other.shape)?;
        }
    }
    let mut promoter = Promoter::new(DType::F32);
    all().for_each(|t| promoter.tensor(t.dtype, t.shape.len()));
    let is_bool = |i: usize| case.args.get(i).is_some_and(|v| v.get("bool").is_some());
    if base == "sub" && is_bool(1) {
        dtype::require_sub("sub", own.dtype.category(), nomina_core::Category::Bool)?;
    }
    let computed = match promoter.result() {
        _ if among(COMPARE, base) => dtype::comparison(),
        common if among(FLOATS, base) => dtype::unary_float(common, DType::F32),
        common => common,
    };
    if in_place {
        dtype::cast_to("op", computed, own.dtype)?;
        return Ok(whole(rule::in_place("op", &own.names, &names)?, shape));
    }
    match case.kwargs.get("out").and_then(super::meta) {
        None => Ok(whole(names, shape)),
        Some(out) => {
            dtype::cast_to("op", computed, out.dtype)?;
            rule::out_shape("op", &out.names, &out.shape, &shape)?;
            Ok(whole(rule::out("op", &out.names, &names)?, shape))
        }
    }
}

fn reduce(case: &Case<'_>) -> Result<Got> {
    let x = case.tensor(0);
    if case.op == "mean" {
        dtype::require_float("mean", x.dtype)?;
    }
    let dims = case.dims(if case.op == "kthvalue" { 2 } else { 1 });
    let positions = match case.op {
        "mode" | "kthvalue" => dims.single_or("mode", &x.names, -1)?.into_iter().collect(),
        _ => dims.positions("sum", &x.names)?,
    };
    let keep = dims.keepdim();
    let shape = rule::reduce_shape(&x.shape, &positions, keep);
    Ok(whole(rule::reduce(&x.names, &positions, keep), shape))
}

/// Operators with a single rule each.
fn one(case: &Case<'_>) -> Option<Result<Got>> {
    let product = |names: fn(&'static str, &Names, &Names) -> Result<Names>,
                   shape: fn(&'static str, &[usize], &[usize]) -> Result<rule::Shape>,
                   names_first: bool| {
        let (a, b) = (case.tensor(0), case.tensor(1));
        if names_first {
            names("op", &a.names, &b.names)?;
        }
        let shape = shape("op", &a.shape, &b.shape)?;
        Ok(whole(names("op", &a.names, &b.names)?, shape))
    };
    Some(match case.op {
        "mm" => product(rule::mm, rule::mm_shape, false),
        "mv" => product(rule::mv, rule::mv_shape, false),
        "dot" => product(rule::dot, rule::dot_shape, false),
        "bmm" => product(rule::bmm, rule::bmm_shape, false),
        "matmul" => product(rule::matmul, rule::matmul_shape, true),
        "cdist" => product(rule::cdist, rule::cdist_shape, true),
        "addmm" | "addmm_" | "addmv" | "addmv_" => biased(case),
        "masked_fill" | "masked_fill_" | "masked_select" | "copy_" => masked(case),
        "cat" => cat(case),
        op if among(ALONG, op) => along(case, 1),
        "narrow" => along(case, 1).map(|(names, _)| (names, None)),
        "chunk" | "split" => pieces(case),
        "topk" => along(case, 2)
            .map(|(names, _)| (names, None))
            .and_then(|got| {
                let x = case.tensor(0);
                let dim = case.dim(2).position("topk", &x.names)?;
                let k = case.int(1);
                if usize::try_from(k).is_ok_and(|k| k <= x.shape[dim]) {
                    Ok(got)
                } else {
                    rule::index_in("topk", &x.names, &x.shape, dim, k).map(|_| got)
                }
            }),
        "size" | "stride" if case.args.get(1).is_some_and(|v| v.get("none").is_none()) => {
            let x = case.tensor(0);
            case.dim(1)
                .position("size", &x.names)
                .map(|_| (x.names, None))
        }
        "zeros" | "ones" | "empty" | "rand" | "randn" | "full" | "tensor" => factory(case),
        _ => return views(case),
    })
}

fn along(case: &Case<'_>, dim: usize) -> Result<Got> {
    let x = case.tensor(0);
    case.dims(dim).single("op", &x.names)?;
    Ok(whole(x.names, x.shape))
}

fn pieces(case: &Case<'_>) -> Result<Got> {
    let x = case.tensor(0);
    case.dims(2).single_or("split", &x.names, 0)?;
    Ok((x.names, None))
}

fn biased(case: &Case<'_>) -> Result<Got> {
    let (bias, a, b) = (case.tensor(0), case.tensor(1), case.tensor(2));
    let (names, shape) = if case.op.starts_with("addmm") {
        (
            rule::addmm("addmm", &bias.names, &a.names, &b.names),
            rule::mm_shape("addmm", &a.shape, &b.shape),
        )
    } else {
        (
            rule::addmv("addmv", &bias.names, &a.names, &b.names),
            rule::mv_shape("addmv", &a.shape, &b.shape),
        )
    };
    let (shape, names) = (shape?, names?);
    if case.op.ends_with('_') {
        Ok(whole(rule::in_place("addmm_", &bias.names, &names)?, shape))
    } else {
        Ok(whole(names, shape))
    }
}

fn masked(case: &Case<'_>) -> Result<Got> {
    let (x, mask) = (case.tensor(0), case.tensor(1));
    let names = match case.op {
        "masked_select" => {
            let names = rule::masked_select("masked_select", &x.names, &mask.names)?;
            rule::broadcast_shapes("masked_select", &x.shape, &mask.shape)?;
            return Ok((names, None));
        }
        "masked_fill" => rule::masked_fill("masked_fill", &x.names, &mask.names)?,
        "masked_fill_" => {
            let names = rule::masked_fill_in_place("masked_fill_", &x.names, &mask.names)?;
            rule::broadcast_into("masked_fill_", &x.shape, &mask.shape)?;
            names
        }
        _ => {
            let unified = rule::unify("copy_", &x.names, &mask.names)?;
            rule::broadcast_into("copy_", &x.shape, &mask.shape)?;
            rule::in_place("copy_", &x.names, &unified)?
        }
    };
    let shape = rule::broadcast_shapes("masked_fill", &x.shape, &mask.shape)?;
    Ok(whole(names, shape))
}

fn cat(case: &Case<'_>) -> Result<Got> {
    let list = case.args[0]["list"].as_array().expect("tensors");
    let tensors: Vec<Meta> = list.iter().filter_map(super::meta).collect();
    let operands: Vec<rule::NamedShape<'_>> = tensors
        .iter()
        .map(|t| (&t.names, t.shape.as_slice()))
        .collect();
    let dim = case
        .kwargs
        .get("dim")
        .map_or(DimRef::Index(0), super::dim_ref);
    rule::cat("cat", &operands, dim).map(|cat| whole(cat.names, cat.shape))
}

fn factory(case: &Case<'_>) -> Result<Got> {
    let items: Vec<NameItem<'_>> = case.kwargs["names"]["list"]
        .as_array()
        .expect("names")
        .iter()
        .map(item)
        .collect();
    if case.op == "tensor" {
        // The nesting determines the rank.
        let mut rank = 0;
        let mut value = &case.args[0];
        while let Some(list) = value.get("list").and_then(Value::as_array) {
            rank += 1;
            value = &list[0];
        }
        return rule::names_of("tensor", &items, rank).map(|names| (names, None));
    }
    let shape: Vec<usize> = sizes(&case.args[0]).iter().map(|&n| n as usize).collect();
    Ok(whole(rule::names_of("zeros", &items, shape.len())?, shape))
}

fn views(case: &Case<'_>) -> Option<Result<Got>> {
    let x = case.maybe_tensor(0)?;
    let (names, shape) = (&x.names, &x.shape);
    let at = |positions: &[usize]| {
        whole(
            rule::kept(names, positions),
            positions.iter().map(|&i| shape[i]).collect::<Vec<_>>(),
        )
    };
    let aligned = |aligned: rule::Alignment| {
        let sizes = aligned.positions.iter().map(|p| p.map_or(1, |i| shape[i]));
        whole(aligned.names, sizes.collect::<Vec<_>>())
    };
    Some(match case.op {
        "select" => case.dim(1).position("select", names).and_then(|dim| {
            rule::index_in("select", names, shape, dim, case.int(2))?;
            Ok(whole(
                rule::remove(names, &[dim]),
                rule::reduce_shape(shape, &[dim], false),
            ))
        }),
        "unbind" => case.dims(1).single_or("unbind", names, 0).map(|dim| {
            let dim = dim.as_slice();
            whole(
                rule::remove(names, dim),
                rule::reduce_shape(shape, dim, false),
            )
        }),
        "squeeze" => rule::squeeze("squeeze", names, shape, &case.dims(1)).map(|p| at(&p)),
        "transpose" => {
            rule::transpose("transpose", names, case.dim(1), case.dim(2)).map(|p| at(&p))
        }
        "t" => rule::t("t", names).map(|p| at(&p)),
        "expand" => rule::expand("expand", names, shape, &sizes(&case.args[1]))
            .map(|(names, shape)| whole(names, shape)),
        "diagonal" => {
            let dim = |key: &str, default| case.str(key).map_or(DimRef::Index(default), Into::into);
            let plane = (dim("dim1", 0), dim("dim2", 1));
            rule::diagonal("diagonal", names, plane.0, plane.1, case.str("outdim"))
                .map(|diagonal| (diagonal.names, None))
        }
        "align_to" => rule::align_to("align_to", names, &case.items(1)).map(aligned),
        "align_as" => rule::align_as("align_as", names, &case.tensor(1).names).map(aligned),
        "refine_names" => rule::refine_names("refine_names", names, &case.items(1))
            .map(|names| whole(names, shape)),
        "rename" | "rename_" => rename(case, names).map(|names| whole(names, shape)),
        "flatten" => rule::flatten(
            "flatten",
            names,
            &case.dims(1),
            case.args[2]["str"].as_str(),
        )
        .and_then(|flat| {
            let shape = rule::flatten_shape("flatten", shape, &flat)?;
            Ok(whole(flat.names, shape))
        }),
        "unflatten" => {
            let list = case.args[2]["list"].as_array().expect("sizes");
            let pair = |v: &'_ Value| v["list"][1]["int"].as_i64().expect("a size");
            let sizes: Vec<_> = list
                .iter()
                .map(|v| (item(&v["list"][0]), pair(v)))
                .collect();
            rule::unflatten("unflatten", names, shape, case.dim(1), &sizes).map(|split| {
                let mut all = shape.clone();
                all.splice(split.position..=split.position, split.sizes);
                whole(split.names, all)
            })
        }
        "resize_" => {
            let new: Vec<usize> = sizes(&case.args[1]).iter().map(|&n| n as usize).collect();
            rule::resize("resize_", names, shape, &new).map(|()| (names.clone(), None))
        }
        "resize_as_" => {
            let other = case.tensor(1);
            rule::resize_as("resize_as_", (names, shape), (&other.names, &other.shape))
                .map(|(names, shape)| whole(names, shape))
        }
        _ => return None,
    })
}

fn rename(case: &Case<'_>, names: &Names) -> Result<Names> {
    let pairs = case.kwargs.as_object().expect("kwargs");
    match (case.args.get(1), pairs.is_empty()) {
        (Some(value), _) if value.get("none").is_some() => Ok(Names::unnamed(names.len())),
        (_, false) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(from, to)| (from.as_str(), item(to)))
                .collect();
            rule::rename_map("rename", names, &pairs)
        }
        _ => rule::rename("rename", names, &case.items(1)),
    }
}

/// Returns the name of an error kind in the recordings.
pub fn word(error: &Error) -> &'static str {
    match error.kind() {
        ErrorKind::NameMismatch => "name_mismatch",
        ErrorKind::Misaligned => "misaligned",
        ErrorKind::NameMismatchOut => "name_mismatch_out",
        ErrorKind::DuplicateNames => "duplicate_names",
        ErrorKind::InvalidName => "invalid_name",
        ErrorKind::NamesLen => "names_len",
        ErrorKind::UnnamedDim => "unnamed_dim",
        ErrorKind::Refine => "refine",
        ErrorKind::Ellipsis => "ellipsis",
        ErrorKind::Align => "align",
        ErrorKind::NameNotFound => "name_not_found",
        ErrorKind::Flatten => "flatten",
        ErrorKind::Resize => "resize",
        ErrorKind::DType => "dtype",
        ErrorKind::Rank => "rank",
        ErrorKind::Index => "index",
        ErrorKind::Shape => "shape",
        _ => "none of the oracle's",
    }
}
