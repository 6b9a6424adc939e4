//! Calls of xarray, recorded by `scripts/xarray_cases.py`.

use std::collections::BTreeMap;
use std::sync::Arc;

use nomina::labelled::{AnyLabels, Boundary, DatePart, DynGroups, Fill, RollingOptions, Selection};
use nomina::prelude::*;
use nomina::{DynLabelled, InterpMethod, InterpOptions, Labels, Timestamp, nearest};
use nomina_core::rule::DimArg;
use serde_json::Value;

type Found = nomina::Result<DynLabelled>;

fn floats(values: &Value) -> Vec<f64> {
    let number = |v: &Value| v.as_f64().unwrap_or(f64::NAN);
    values.as_array().unwrap().iter().map(number).collect()
}

fn labels_of(kind: &str, values: &Value) -> Arc<dyn AnyLabels> {
    let ints = || {
        values
            .as_array()
            .unwrap()
            .iter()
            .map(|v| v.as_i64().unwrap())
    };
    match kind {
        "f64" => Arc::new(Labels::new(floats(values))),
        "i64" => Arc::new(Labels::new(ints())),
        "Timestamp" => Arc::new(Labels::new(ints().map(Timestamp::from_nanoseconds))),
        _ => {
            let text = values.as_array().unwrap().iter();
            Arc::new(Labels::new(text.map(|v| v.as_str().unwrap().to_owned())))
        }
    }
}

fn tensor(packed: &Value) -> DynLabelled {
    let dims: Vec<&str> = packed["dims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_str().unwrap())
        .collect();
    let shape: Vec<usize> = floats(&packed["shape"])
        .iter()
        .map(|v| *v as usize)
        .collect();
    let names = Names::new(dims.iter().map(|dim| Some(nomina::Name::new(dim).unwrap()))).unwrap();
    let mut x =
        DynLabelled::new(DynTensor::from_vec(floats(&packed["data"]), &shape, names).unwrap());
    for (i, labels) in packed["labels"].as_array().unwrap().iter().enumerate() {
        if let Some(kind) = labels["type"].as_str() {
            x = x
                .with_shared(i as i64, Some(labels_of(kind, &labels["values"])))
                .unwrap();
        }
    }
    x
}

/// Labels of the type that a dim has.
fn labels_like(x: &DynLabelled, dim: &str, values: &Value) -> Arc<dyn AnyLabels> {
    let kind = x.labels(dim).unwrap().unwrap().label_type().name();
    labels_of(kind, values)
}

fn selection(value: &Value) -> Selection {
    match value {
        Value::String(text) => Selection::from(text.as_str()),
        Value::Number(n) if n.is_i64() => Selection::from(n.as_i64().unwrap()),
        other => Selection::from(other.as_f64().unwrap()),
    }
}

macro_rules! by_name {
    ($parts:expr, $name:expr, $nan:expr, [$($plain:ident $ignoring:ident)*]) => {
        match ($name, $nan) {
            $((stringify!($plain), false) => $parts.$plain(),
            (stringify!($plain), true) => $parts.$ignoring(),)*
            (other, _) => panic!("no reduction {other}"),
        }
    };
}

fn reduced_groups(groups: &DynGroups, name: &str, nan: bool) -> Found {
    if name == "count" {
        return groups.count();
    }
    by_name!(groups, name, nan, [sum nansum mean nanmean max nanmax min nanmin std nanstd var nanvar])
}

fn date_groups(x: &DynLabelled, part: &str) -> nomina::Result<DynGroups> {
    let by = match part {
        "month" => DatePart::Month,
        "year" => DatePart::Year,
        "season" => DatePart::Season,
        "quarter" => DatePart::Quarter,
        "weekday" => DatePart::Weekday,
        "day" => DatePart::Day,
        _ => DatePart::DayOfYear,
    };
    x.group_by_date("time", by, part)
}

fn computed(
    x: &DynLabelled,
    op: &str,
    args: &Value,
    inputs: &BTreeMap<String, DynLabelled>,
) -> Found {
    let text = |key: &str| args[key].as_str().unwrap_or_default();
    let int = |key: &str| args[key].as_i64().unwrap();
    let flag = |key: &str| args[key].as_bool().unwrap_or(false);
    let other = || &inputs[text("y")];
    let dim = text("dim");
    match op {
        "sel" => x.sel(dim, selection(&args["label"])),
        "sel_list" => {
            let labels = labels_like(x, dim, &args["labels"]);
            let values = (0..labels.len()).map(|i| labels.value(i)).collect();
            x.sel(dim, Selection::List(values))
        }
        "sel_range" => x.sel(
            dim,
            args["low"].as_f64().unwrap()..=args["high"].as_f64().unwrap(),
        ),
        "sel_nearest" => x
            .sort_by(dim, true)?
            .sel(dim, nearest(args["label"].as_f64().unwrap())),
        "sel_date" => x.sel("time", text("label")),
        "sel_date_range" => match (args["low"].as_str(), args["high"].as_str()) {
            (Some(low), Some(high)) => x.sel("time", low..=high),
            (Some(low), None) => x.sel("time", low..),
            _ => x.sel("time", ..=text("high")),
        },
        "isel" => x.isel(dim, int("at")),
        "isel_range" => x.isel(dim, int("start")..int("end")),
        "reindex" => {
            let fill = match text("fill") {
                "missing" => Fill::Missing,
                "nearest" => Fill::Nearest(f64::INFINITY),
                "before" => Fill::Before,
                _ => Fill::After,
            };
            x.reindex(dim, labels_like(x, dim, &args["labels"]), fill)
        }
        "reindex_like" => x.reindex_like(other()),
        "inner" | "outer" => {
            let (a, b) = if op == "inner" {
                x.inner(other())?
            } else {
                x.outer(other())?
            };
            Ok(if int("which") == 0 { a } else { b })
        }
        "inner_add" => x.inner(other()).and_then(|(a, b)| a.add(&b)),
        "outer_add" => x.outer(other()).and_then(|(a, b)| a.add(&b)),
        "concat" => DynLabelled::concat(&[x, &x.isel(dim, 0..int("end"))?], dim),
        "sort_by" => x.sort_by(dim, flag("descending")),
        "shift" => x.shift(dim, int("by")),
        "diff" => x.diff(dim),
        "drop_missing" => x.drop_missing(dim),
        "fill" => x.fill(args["value"].as_f64().unwrap()),
        "reduce" => {
            let dims: Vec<&str> = if dim.is_empty() {
                Vec::new()
            } else {
                vec![dim]
            };
            let dims = dims.as_slice();
            match (text("name"), flag("nan")) {
                ("sum", false) => x.sum(dims),
                ("sum", true) => x.nansum(dims),
                ("mean", false) => x.mean(dims),
                ("mean", true) => x.nanmean(dims),
                ("max", false) => x.amax(dims),
                ("max", true) => x.nanmax(dims),
                ("min", false) => x.amin(dims),
                ("min", true) => x.nanmin(dims),
                ("std", false) => x.std(dims),
                ("std", true) => x.nanstd(dims),
                ("var", false) => x.var(dims),
                _ => x.nanvar(dims),
            }
        }
        "anomaly" => x.sub(&x.mean(DimArg::from_dim(dim).keep())?),
        "cumsum" => x.cumsum(dim),
        "mul" => x.mul(other()),
        "group_date" => reduced_groups(&date_groups(x, text("part"))?, text("name"), flag("nan")),
        "group_anomaly" => {
            let groups = date_groups(x, text("part"))?;
            x.sub(&groups.back(&groups.mean()?)?)
        }
        "group_bins" => {
            let groups = x.group_by_bins(dim, &floats(&args["edges"]), "lat_bins")?;
            reduced_groups(&groups, text("name"), true)
        }
        "resample" => reduced_groups(&x.resample("time", text("step"))?, text("name"), true),
        "rolling" => {
            let options = RollingOptions {
                centered: flag("centered"),
                min_count: args["min_count"].as_u64().unwrap_or(1) as usize,
            };
            let rolling = x.rolling(dim, int("size") as usize, options)?;
            let nan = args["min_count"].is_u64();
            by_name!(rolling, text("name"), nan, [sum nansum mean nanmean max nanmax min nanmin std nanstd])
        }
        "coarsen" => {
            let boundary = match text("boundary") {
                "exact" => Boundary::Exact,
                "trim" => Boundary::Trim,
                _ => Boundary::Pad,
            };
            let blocks = x.coarsen(dim, int("size") as usize, boundary)?;
            by_name!(blocks, text("name"), true, [mean nanmean max nanmax min nanmin])
        }
        "interp" => {
            let method = if text("method") == "linear" {
                InterpMethod::Linear
            } else {
                InterpMethod::Nearest
            };
            let options = InterpOptions {
                method,
                ..default()
            };
            x.interp(dim, labels_like(x, dim, &args["labels"]), options)
        }
        "interp_time" => x.interp("time", labels_of("Timestamp", &args["labels"]), default()),
        "differentiate" => x.differentiate(dim),
        "integrate" => x.integrate(dim),
        "polyfit" => x.polyfit(dim, int("degree") as usize, "degree"),
        "idxmax" => x.idxmax(dim),
        "idxmin" => x.idxmin(dim),
        "corr" => x.nancorr(other(), dim),
        "cov" => x.nancovar(other(), dim),
        "weighted" if flag("nan") => x.weighted_nanmean(other(), dim),
        "weighted" => x.weighted_mean(other(), dim),
        "quantile" if flag("nan") => x.nanquantile(args["q"].as_f64().unwrap(), dim),
        "quantile" => x.quantile(args["q"].as_f64().unwrap(), dim),
        _ => panic!("no operator {op}"),
    }
}

/// Returns the first difference of a result from the recorded one.
fn difference(found: &DynLabelled, wanted: &Value) -> Option<String> {
    let want = tensor(wanted);
    if found.names().to_string() != want.names().to_string() || found.shape() != want.shape() {
        return Some(format!(
            "{} {:?}, not {} {:?}",
            found.names(),
            found.shape(),
            want.names(),
            want.shape()
        ));
    }
    for i in 0..found.shape().len() {
        if let Some(labels) = want.coords().get(i) {
            let Some(own) = found.coords().get(i) else {
                return Some(format!("dim {i} has no labels"));
            };
            let close = |a: &dyn AnyLabels| match a.offsets(None) {
                Some(offsets) if !a.is_empty() => format!("{} {:.6?}", a.text(0), offsets),
                _ => (0..a.len())
                    .map(|i| a.text(i))
                    .collect::<Vec<_>>()
                    .join(" "),
            };
            if close(&**own) != close(&**labels) {
                return Some(format!("labels {own:?}, not {labels:?}"));
            }
        }
    }
    let values = found
        .tensor()
        .to_dtype(DType::F64)
        .unwrap()
        .to_vec::<f64>()
        .unwrap();
    let scale = floats(&wanted["data"])
        .iter()
        .filter(|v| v.is_finite())
        .fold(1.0_f64, |a, v| a.max(v.abs()));
    let differs =
        |(a, b): (&f64, f64)| !((a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-10 * scale);
    let at = values
        .iter()
        .zip(floats(&wanted["data"]))
        .position(differs)?;
    Some(format!(
        "element {at} is {}, not {}",
        values[at],
        floats(&wanted["data"])[at]
    ))
}

/// Cases whose results differ: operator, operand, reduction, and the reason.
const DIFFERENT: &[[&str; 4]] = &[[
    "resample",
    "gaps",
    "count",
    "xarray gives NaN for a step without elements; here it has a count of 0",
]];

#[test]
fn recorded_calls() {
    let text = include_str!("recorded/xarray.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let inputs: BTreeMap<String, DynLabelled> = file["inputs"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, x)| (name.clone(), tensor(x)))
        .collect();
    let cases = file["cases"].as_array().unwrap();
    let mut failures = Vec::new();
    for case in cases {
        let (op, x) = (case["op"].as_str().unwrap(), case["x"].as_str().unwrap());
        let name = case["args"]["name"].as_str().unwrap_or_default();
        if DIFFERENT.iter().any(|known| known[..3] == [op, x, name]) {
            continue;
        }
        let found = computed(&inputs[x], op, &case["args"], &inputs);
        let what = match &found {
            Ok(found) => difference(found, &case["out"]),
            Err(error) => Some(error.to_string()),
        };
        failures.extend(what.map(|what| format!("{op} {x} {}: {what}", case["args"])));
    }
    assert!(
        failures.is_empty(),
        "{} of {} cases:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
    assert!(cases.len() >= 500, "{}", cases.len());
}
