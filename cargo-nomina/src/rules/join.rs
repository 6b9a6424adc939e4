//! Arguments other than a dim where one is expected: text, numbers, several dims.

use super::text::{is_number, items, string};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, tuple, value};
use crate::source::{Part, is_name};

pub const RULES: &[Rule] = &[
    sure("`&str` is not a dim", text),
    sure("`{integer}` is not a dim", position),
    sure("`{integer}` is not one dim", position),
    sure("`{}` is not one dim", several),
    guess("`{}` is not a pair of row and column dims", matrix),
];

/// Returns the arguments, with tuples replaced by their elements.
fn arguments(site: &Site<'_>) -> Option<Vec<Part>> {
    let call = site.call()?;
    Some(
        call.args
            .iter()
            .flat_map(|arg| site.elements(arg))
            .collect(),
    )
}

/// Removes the quotes around a dim, and declares it if needed.
fn text(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let mut edits = Vec::new();
    for part in arguments(site)? {
        if let Some(name) = string(site.part(&part)).filter(|name| is_name(name)) {
            edits.extend(site.declare(&name)?);
            edits.push(Edit::new(part, name));
        }
    }
    Some(edits)
}

/// Returns the dims of the reduced tensor: those in the label, of the receiver, or of a variable in
/// it.
fn known(site: &Site<'_>) -> Option<Vec<String>> {
    if let Some((_, list)) = site.message.label().split_once("of dims ") {
        return Some(dims(list));
    }
    let call = site.call()?;
    let part = call.receiver.as_ref()?;
    site.source.dims_of(part).or_else(|| {
        let variable = site.source.variable(part, |_| true)?;
        site.source.dims_of(&variable)
    })
}

/// Replaces a position by the dim at it, counted as in PyTorch.
fn position(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let known = known(site)?;
    let mut edits = Vec::new();
    for part in arguments(site)? {
        if let Ok(at) = site.part(&part).parse::<isize>() {
            let last = isize::try_from(known.len()).ok()?;
            let at = usize::try_from(if at < 0 { at + last } else { at }).ok()?;
            edits.push(Edit::new(part, value(known.get(at)?)));
            break;
        }
    }
    Some(edits)
}

/// Replaces an operator over several dims: by another operator, by one call per dim, or by one over
/// the flattened dims.
fn several(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let name = site.name(call);
    if site.message.note("x.amax").is_some() {
        return Some(vec![Edit::insert(call.name.start, "a")]);
    }
    let list = match site.text() {
        ".." => known(site)?,
        text => items(text)?.into_iter().map(str::to_owned).collect(),
    };
    if let ("select", Some(index)) = (name, call.args.get(1)) {
        let mut text = site.part(receiver).to_owned();
        for dim in list.iter().filter(|_| is_number(site.part(index))) {
            text += &format!(".select({dim}, {})", site.part(index));
        }
        return (text != site.part(receiver)).then(|| vec![Edit::new(call.whole.clone(), text)]);
    }
    let last = list.last()?;
    let mut edits = site.then(receiver, &format!("flatten({}, {last})", tuple(&list)));
    edits.push(Edit::new(site.at.clone(), last.clone()));
    Some(edits)
}

fn matrix(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let known = site.source.dims_of(receiver)?;
    let [a, b] = &known[..] else { return None };
    known.iter().any(|dim| dim == holes[0]).then_some(())?;
    Some(vec![Edit::new(
        call.args.first()?.clone(),
        format!("({a}, {b})"),
    )])
}
