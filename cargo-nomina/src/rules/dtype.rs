//! Dtypes, and values that are not tensors.

use super::broadcast::bars;
use super::text::{is_number, string};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::tuple;
use crate::source::Part;

pub const RULES: &[Rule] = &[
    guess("dtype `{}` is not integer or bool", integers),
    guess("dtype `{}` is not an integer dtype", integers),
    guess("dtype `{}` is not an index dtype", integers),
    guess("dtype `{}` is not numeric", integers),
    sure("dtype `{}` is not a complex dtype", complex),
    guess("dtype `{}` is not a weight dtype", real),
    guess("dtype `{}` holds neither classes nor probabilities", real),
    guess("no complex dtype has parts of `{}`", floats),
    guess("dtype `{}` has no order", sign),
    sure("dtype `{}` {}", converted),
    sure(
        "a result of dtype `{}` cannot be stored in a tensor of dtype `{}`",
        operand,
    ),
    sure("`{}` is not a dtype", nearest),
    guess("a tensor of dtype `{}` does not combine with `{}`", tensor),
    guess(
        "`{}` does not combine with a tensor that has its dims in its type",
        typed,
    ),
    sure("`{}` does not mix with a `DynTensor` in `fuse!`", into_dyn),
    sure("`{}` is no tensor", braces),
    sure("`&str` is not a reduction", reduction),
    sure("`{}` are no mean and standard deviation", number),
    sure("`&str` {}", number),
    guess(
        "`&nomina::Tensor<{}>` is not an index along a dim",
        integers,
    ),
];

/// Converts the subject of the message: the receiver if rustc points at the method, else the argument.
fn to(site: &Site<'_>, dtype: &str) -> Option<Vec<Edit>> {
    let named = site.method().filter(|(call, _)| call.name == site.at);
    let part = named.map_or_else(|| site.at.clone(), |(_, receiver)| receiver.clone());
    Some(site.then(&part, &format!("to::<{dtype}>()")))
}

fn converted(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    site.message.note("convert it first: `x.to::<f32>()`")?;
    to(site, "f32")
}

fn floats(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    to(site, "f32")
}

fn integers(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    (!holes.first()?.contains("Complex")).then_some(())?;
    to(site, "i64")
}

fn complex(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let part = if holes[0] == "f64" { "f64" } else { "f32" };
    to(site, &format!("Complex<{part}>"))
}

fn real(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    Some(site.then(&site.at, "real()"))
}

fn sign(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    (site.text() == "sign").then_some(())?;
    site.write("sgn")
}

fn operand(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let binary = site.source.binary(&site.at)?;
    let call = format!("{}.to::<{}>()", site.operand(&binary.right), holes[1]);
    Some(vec![Edit::new(binary.right.clone(), call)])
}

fn nearest(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    // In a macro, rustc may point at the values instead.
    (site.text() == holes[0]).then_some(())?;
    let dtype = match holes[0] {
        "u64" | "usize" | "isize" | "u32" => "i64",
        "u16" => "i32",
        _ => return None,
    };
    site.write(dtype)
}

fn tensor(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    if site.source.binary(&site.at).is_some() {
        return None;
    }
    let (call, receiver) = site.method()?;
    let [arg] = &call.args[..] else { return None };
    let numbers = super::text::items(site.part(arg))?;
    numbers
        .iter()
        .all(|number| is_number(number))
        .then_some(())?;
    let dims = site.source.dims_of(receiver)?;
    let last = dims.last()?;
    Some(vec![Edit::new(
        arg.clone(),
        format!("&tensor!([{}]; {last})", numbers.join(", ")),
    )])
}

/// Gives a `DynTensor` on the right of an operator its dims, and the dtype of the tensor on the left.
fn typed(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    if holes[0].ends_with("::Untyped") {
        return typed_in_bars(site);
    }
    let binary = site.source.binary(&site.at)?;
    let note = site.message.note("nomina::Tensor<(")?;
    let (_, left) = note.message.split_once("nomina::Tensor<(")?;
    let left = left.split('>').next()?;
    let dtype = left.rsplit_once("), ").map_or("f32", |(_, dtype)| dtype);
    let name = site.operand(&binary.right);
    let dims = dims_of_dyn(site, &name, binary.right.start)?;
    let call = format!("{name}.typed::<{dims}, {dtype}>().unwrap()");
    Some(vec![Edit::new(binary.right.clone(), call)])
}

/// Returns the dims of a `DynTensor` whose declaration lists its names.
fn dims_of_dyn(site: &Site<'_>, name: &str, before: usize) -> Option<String> {
    let binding = site.source.binding(name, before)?;
    let init = site.part(binding.init.as_ref()?);
    let names = init.split("names![").nth(1)?.split(']').next()?;
    let names: Option<Vec<String>> = crate::message::split(names)
        .into_iter()
        .map(|name| {
            if name == "_" {
                Some("Wild".to_owned())
            } else {
                string(name)
            }
        })
        .collect();
    Some(tuple(&names?))
}

/// In `fuse!`, converts the last operand that is a `DynTensor` to a typed tensor in its declaration.
fn typed_in_bars(site: &Site<'_>) -> Option<Vec<Edit>> {
    let binary = site.source.binary(&site.at)?;
    let name = site.part(&binary.right);
    let binding = site.source.binding(name, site.at.start)?;
    let init = binding.init.clone()?;
    let text = site.part(&init).strip_suffix(".into_dyn()")?;
    let typed = crate::source::Source::new(format!("fn f() {{ let x = {text}; x }}"));
    let at = typed.text.rfind('x')?;
    let dims = tuple(&typed.dims_of(&(at..at + 1))?);
    let place = site.named(&bars(site)?, name)?;
    Some(vec![Edit::insert(
        place.end,
        format!(" = {name}.typed::<{dims}, f32>().unwrap()"),
    )])
}

fn into_dyn(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let name = site.text();
    let place = site.named(&bars(site)?, name)?;
    Some(vec![Edit::insert(
        place.end,
        format!(" = {name}.into_dyn()"),
    )])
}

/// Removes a number from the bars of `fuse!`, and writes it in braces where it is used.
fn braces(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let name = site.text();
    let inner = site.source.macro_at(&site.at)?.inner.clone();
    let bars = bars(site)?;
    let mut edits = site.remove_item(&site.named(&bars, name)?);
    let body = bars.end + 1..inner.end;
    let text = site.part(&body);
    for word in super::text::words_of(text) {
        if text[word.clone()] == *name {
            let place = body.start + word.start..body.start + word.end;
            edits.push(Edit::new(place, format!("{{ {name} }}")));
        }
    }
    Some(edits)
}

fn reduction(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let name = match string(site.text())?.to_lowercase().as_str() {
        "mean" => "Mean",
        "sum" => "Sum",
        "none" => "None",
        _ => return None,
    };
    site.write(format!("nomina::reduction::{name}"))
}

/// Removes the quotes around a number.
fn number(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let number = |part: &Part| string(site.part(part)).filter(|text| is_number(text));
    let args = site.call()?.args.iter();
    let (place, text) = args.filter_map(|arg| Some((arg, number(arg)?))).next()?;
    let float = site.message.label().contains("float") && !text.contains('.');
    let text = if float { format!("{text}.0") } else { text };
    Some(vec![Edit::new(place.clone(), text)])
}
