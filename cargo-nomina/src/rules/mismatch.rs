//! Tensors whose dims or dtype differ from the expected ones (E0308).

use super::order::reordered;
use super::text::items;
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, split, tuple, value};

pub const RULES: &[Rule] = &[
    sure("mismatched types", by_rustc),
    sure("mismatched types", shown),
    sure("mismatched types", typed),
    guess("mismatched types", reduced),
    sure("mismatched types", by_name),
    sure("mismatched types", nested),
    guess("mismatched types", converted),
    guess("mismatched types", declared),
    guess("mismatched types", repeated),
    guess("mismatched types", variable),
];

/// A tensor type: its dims and its dtype, which is `f32` if rustc omits it.
struct Type {
    text: String,
    dims: Vec<String>,
    dtype: String,
}

fn parse(text: &str) -> Option<Type> {
    let (_, rest) = text.split_once("Tensor<")?;
    let args = split(rest.strip_suffix('>')?);
    let [list, dtype @ ..] = &args[..] else {
        return None;
    };
    (list.starts_with('(') || *list == "_").then(|| Type {
        text: format!("Tensor<{}", rest.replace("nomina::", "")),
        dims: dims(list),
        dtype: dtype
            .first()
            .map_or("f32", |dtype| dtype)
            .replace("nomina::", ""),
    })
}

/// Returns the type after a word of the note: `expected struct`, `found reference`.
fn noted_type<'s>(site: &'s Site<'_>, word: &str) -> Option<&'s str> {
    let note = site.message.note("expected ")?;
    let line = note
        .message
        .lines()
        .find(|line| line.trim_start().starts_with(word))?;
    super::super::message::code(line)
}

fn noted_types(site: &Site<'_>) -> Option<(Type, Type)> {
    Some((
        parse(noted_type(site, "expected")?)?,
        parse(noted_type(site, "found")?)?,
    ))
}

/// Applies rustc's own suggestion, if it is about a call of nomina.
fn by_rustc(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let help = ["use a float literal", "consider borrowing here"];
    let child = help.iter().find_map(|words| site.message.note(words))?;
    site.calls_ours().then_some(())?;
    child
        .places
        .iter()
        .map(|place| Some(Edit::new(place.range.clone(), place.replacement.clone()?)))
        .collect()
}

/// Replaces `let () = x`, which asks for a type, by the type that rustc reports.
fn shown(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let expected = parse(noted_type(site, "expected")?)?;
    (site.text() == "()").then_some(())?;
    site.write(format!("_: {}", expected.text))
}

fn typed(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    noted_type(site, "expected")?
        .contains("nomina::Tensor<")
        .then_some(())?;
    noted_type(site, "found")?
        .contains("nomina::DynTensor")
        .then_some(())?;
    Some(site.then(&site.at, "typed().unwrap()"))
}

/// Reduces over the other dim, if the expected type keeps the reduced one.
fn reduced(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (expected, found) = noted_types(site)?;
    let call = site.whole_call()?;
    let [arg] = &call.args[..] else { return None };
    let gone = site.part(arg);
    let extra: Vec<&String> = found
        .dims
        .iter()
        .filter(|d| !expected.dims.contains(d))
        .collect();
    let [extra] = extra[..] else { return None };
    (expected.dims.iter().any(|dim| dim == gone) && !found.dims.iter().any(|dim| dim == gone))
        .then(|| vec![Edit::new(arg.clone(), value(extra))])
}

/// Contracts over the only dim that both factors of a `matmul` have, if the product then has the dims that are expected:
/// a weight is stored the other way round.
fn by_name(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (expected, _) = noted_types(site)?;
    let call = site.whole_call()?;
    let ("matmul", [arg]) = (site.name(call), &call.args[..]) else {
        return None;
    };
    let left = site.source.dims_of(call.receiver.as_ref()?)?;
    let right = site.source.dims_of(arg)?;
    let mut shared = left.iter().filter(|dim| right.contains(dim));
    let (Some(dim), None) = (shared.next(), shared.next()) else {
        return None;
    };
    let rest = left.iter().chain(&right).filter(|other| *other != dim);
    rest.eq(&expected.dims).then(|| {
        vec![
            Edit::new(call.name.clone(), "contract"),
            Edit::insert(arg.end, format!(", {}", value(dim))),
        ]
    })
}

/// Nests an array with fewer dims than the tensor, as a single row.
fn nested(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (expected, found) = noted_types(site)?;
    let call = site.whole_call()?;
    let ("from_array", [array]) = (site.name(call), &call.args[..]) else {
        return None;
    };
    let depth = expected.dims.len().checked_sub(found.dims.len())?;
    (depth > 0).then(|| {
        vec![
            Edit::insert(array.start, "[".repeat(depth)),
            Edit::insert(array.end, "]".repeat(depth)),
        ]
    })
}

/// Converts to the expected type: order, names, added dims, dtype.
fn converted(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (expected, found) = noted_types(site)?;
    let declares = site
        .message
        .places
        .iter()
        .any(|place| place.label.contains("due to this"));
    let mut calls = Vec::new();
    let names = expected.dims.iter().chain(&found.dims);
    if expected.dims != found.dims && !names.clone().any(|dim| dim == "_") {
        let known = found.dims.iter().all(|dim| expected.dims.contains(dim));
        if declares && !known {
            return None;
        }
        if known && expected.dims.len() > found.dims.len() {
            let order: Vec<String> = expected.dims.iter().map(|dim| value(dim)).collect();
            calls.push(format!("align_to({})", tuple(&order)));
        } else {
            calls.push(reordered(&found.dims, &expected.dims)?);
        }
    }
    let known = |dtype: &str| !dtype.contains(['{', '_']);
    if expected.dtype != found.dtype && known(&expected.dtype) && known(&found.dtype) {
        calls.push(format!("to::<{}>()", expected.dtype));
    }
    (!calls.is_empty()).then(|| site.then(&site.at, &calls.join(".")))
}

/// Replaces the declared type by the type of the value.
fn declared(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (_, found) = noted_types(site)?;
    let place = site
        .message
        .places
        .iter()
        .find(|p| p.label == "expected due to this")?;
    (!found.dims.iter().any(|dim| dim == "_") && !found.dtype.contains('{')).then_some(())?;
    Some(vec![Edit::new(place.range.clone(), found.text)])
}

/// Repeats a number for each dim.
fn repeated(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let label = site.message.label();
    let holes = super::super::message::matches(
        "expected an array with a size of {}, found one with a size of 1",
        label,
    )?;
    site.calls_ours().then_some(())?;
    let one = items(site.text())?;
    let [one] = one[..] else { return None };
    let wanted: usize = holes.first()?.parse().ok()?;
    (wanted <= 8).then_some(())?;
    site.write(format!("[{}]", vec![one; wanted].join(", ")))
}

/// Renames a variable that has the name of a dim.
fn variable(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let shadowed = |label: &str| label.contains("is interpreted as a unit struct");
    let declared = site.source.declared().iter().any(|dim| dim == site.text());
    let places = &site.message.places;
    (declared && places.iter().any(|place| shadowed(&place.label)))
        .then(|| site.write(site.text().to_lowercase()))?
}
