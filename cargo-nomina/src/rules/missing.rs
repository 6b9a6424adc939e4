//! Dims that a tensor lacks.

use super::text::{items, words_of};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, tuple, value};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    guess("dim `{}` of the result is in no operand", kept),
    guess("dim `{}` not found in dims {}", replaced),
    sure(
        "dim `{}` not found among the known names of dims {}",
        refined,
    ),
    guess(
        "contract needs names, but dims {} contain `Wild`",
        refine_anew,
    ),
    guess("dims {} are not a right side for matrices of dims {}", rows),
    guess(
        "a weight with dims {} lacks the channel `{}`, or has no kernel of {} dims",
        channel,
    ),
    guess("dim `{}` of dims {} is not in dims {}", placed),
    guess("`Of<{}>` does not say how often dims {} repeat", replaced),
    guess("`{}` is not an index into dims {}", indexed),
];

/// Replaces the missing dim by the only dim that a single operand has; if there is no such dim, removes it.
fn kept(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let inner = &site.source.macro_at(&site.at)?.inner;
    let (operands, result) = site.part(inner).split_once("->")?;
    let count = |text: &str, dim: &str| {
        words_of(text)
            .iter()
            .filter(|word| text[(*word).clone()] == *dim)
            .count()
    };
    let mut once = site.source.declared();
    once.retain(|dim| count(operands, dim) == 1 && count(result, dim) == 0);
    match &once[..] {
        [dim] => site.write(dim.as_str()),
        _ => drop_item(site, holes),
    }
}

fn drop_item(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    Some(site.remove_item(&site.at))
}

fn replaced(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (dim, list) = (*holes.first()?, holes.get(1)?);
    list.starts_with('(').then_some(())?;
    let list = dims(list);
    if site
        .source
        .macro_at(&site.at)
        .is_some_and(|m| m.name.ends_with("einsum"))
    {
        return drop_item(site, holes);
    }
    let call = site.call()?;
    if site.helper().is_some() {
        return for_helper(site, dim, &list);
    }
    let name = site.name(call);
    // The tensor that lacks the dim may have it under another name.
    if let (true, Some(lacking)) = (name.starts_with("contract"), site.with_dims(call, &list)) {
        let other = call.args.iter().chain(&call.receiver);
        let others: Vec<String> = other
            .filter(|part| **part != lacking)
            .filter_map(|part| site.source.dims_of(part))
            .flatten()
            .collect();
        let mut free = list.iter().filter(|own| !others.contains(own));
        // The last dim of `x` is contracted with the first of a weight.
        let own = if call.receiver.as_ref() == Some(&lacking) {
            free.next_back()?
        } else {
            free.next()?
        };
        return Some(site.then(&lacking, &format!("rename({}, {dim})", value(own))));
    }
    if name == "cat" {
        return Some(vec![Edit::new(call.name.clone(), "stack")]);
    }
    if name.starts_with("conv") {
        return Some(site.then(call.receiver.as_ref()?, &format!("unsqueeze({dim})")));
    }
    // For these, replacing the dim by another dim of the tensor would change the meaning.
    if ["pool", "unflatten_as", "squeeze"]
        .iter()
        .any(|part| name.contains(part))
    {
        return None;
    }
    let place = site.named(&site.at, dim)?;
    Some(vec![Edit::new(place, value(&other(site, dim, &list)?))])
}

/// Returns the dim of the list that may be meant: one with a similar name, else the last one not mentioned in the
/// statement.
fn other(site: &Site<'_>, dim: &str, list: &[String]) -> Option<String> {
    let like = |a: &str, b: &str| {
        let (a, b) = (a.to_lowercase(), b.to_lowercase());
        a.len().min(b.len()) > 1 && (a.starts_with(&b) || b.starts_with(&a))
    };
    if let Some(found) = list.iter().find(|known| like(known, dim)) {
        return Some(found.clone());
    }
    let line = statement(site);
    let named = |known: &&String| {
        words_of(line)
            .iter()
            .any(|word| line[word.clone()] == ***known)
    };
    let free = list.iter().rfind(|known| !named(known));
    free.or_else(|| {
        list.iter()
            .rfind(|known| !site.text().contains(known.as_str()))
    })
    .cloned()
}

/// Returns the text of the enclosing statement.
fn statement<'s>(site: &'s Site<'_>) -> &'s str {
    let text = &site.source.text;
    let start = text[..site.at.start]
        .rfind([';', '{'])
        .map_or(0, |at| at + 1);
    let end = text[site.at.end..]
        .find(';')
        .map_or(text.len(), |at| site.at.end + at);
    let line = &text[start..end];
    // The declared type and the variable's name are not part of the call.
    line.split_once(" = ").map_or(line, |(_, value)| value)
}

/// Fixes the argument of a function that requires a missing dim: inserts one of size 1, or renames the dim to contract.
fn for_helper(site: &Site<'_>, dim: &str, list: &[String]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let lacking = site
        .with_dims(call, list)
        .unwrap_or_else(|| site.at.clone());
    let note = site.message.note("required by a bound in")?;
    let bound = &note.places.iter().find(|p| p.primary)?.text.join(" ");
    let contracts = ["Contract<", "Contracted<", "Rename<"]
        .iter()
        .any(|noun| bound.contains(noun));
    // A dim that the function does not mention may be the one it requires.
    let functions = &site.source.found.functions;
    let own = functions
        .iter()
        .filter_map(|f| site.part(&f.whole).split_once("fn "));
    let name = site.name(call);
    let body = own
        .map(|(_, body)| body)
        .find(|body| body.starts_with(name))
        .unwrap_or_default();
    let named = |dim: &String| {
        words_of(body)
            .iter()
            .any(|word| body[word.clone()] == *dim.as_str())
    };
    let method = match list.iter().rfind(|dim| !named(dim)) {
        Some(free) if contracts => format!("rename({}, {dim})", value(free)),
        _ => format!("unsqueeze({dim})"),
    };
    Some(site.then(&lacking, &method))
}

/// Returns the list with a name for its only unknown dim.
fn named(list: &[String], dim: &str) -> Option<String> {
    let unknown = list.iter().filter(|known| *known == "Wild").count();
    let names: Vec<String> = list
        .iter()
        .map(|known| {
            if known == "Wild" {
                dim.to_owned()
            } else {
                value(known)
            }
        })
        .collect();
    (unknown == 1).then(|| tuple(&names))
}

fn refined(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (_, receiver) = site.method()?;
    let names = named(&dims(holes[1]), holes[0])?;
    Some(site.then(receiver, &format!("refine_names({names})")))
}

fn refine_anew(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let list = dims(holes[0]);
    let mut taken = list.clone();
    for part in &call.args {
        taken.extend(site.source.dims_of(part).unwrap_or_default());
    }
    let (dim, mut edits) = site.fresh(&taken, "Other")?;
    let lacking = site
        .with_dims(call, &list)
        .unwrap_or_else(|| receiver.clone());
    edits.extend(site.then(&lacking, &format!("refine_names({})", named(&list, &dim)?)));
    Some(edits)
}

fn rows(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let (own, matrix) = (dims(holes[0]), dims(holes[1]));
    let arg = site
        .with_dims(call, &own)
        .unwrap_or_else(|| site.at.clone());
    let row = matrix.iter().find(|dim| !own.contains(dim))?;
    let column = matrix.iter().rfind(|dim| own.contains(dim))?;
    Some(site.then(&arg, &format!("rename({column}, {row})")))
}

fn channel(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (own, channel) = (dims(holes[0]), holes[1]);
    let kernel: usize = holes[2].parse().ok()?;
    (own.len() == kernel + 2).then_some(())?;
    if own.iter().all(|dim| dim == "Wild") {
        return None;
    }
    Some(site.then(&site.at, &format!("rename({}, {channel})", value(&own[1]))))
}

fn placed(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (dim, own, wanted) = (dims(holes[0]).pop()?, dims(holes[1]), dims(holes[2]));
    let call = site.call()?;
    let name = site.name(call);
    if dim == "Wild" {
        let missing = wanted.iter().find(|dim| !own.contains(dim))?;
        let names = named(&own, missing)?;
        return Some(site.then(call.receiver.as_ref()?, &format!("refine_names({names})")));
    }
    if name == "align_to" && items(site.text()).is_some() {
        let end = site.at.start + site.text().rfind(')')?;
        let comma = site.text()[..end - site.at.start].trim_end().ends_with(',');
        return Some(vec![Edit::insert(end, if comma { " .." } else { ", .." })]);
    }
    if name == "unflatten_as" {
        let free = wanted.iter().rfind(|dim| !own.contains(dim))?;
        return Some(site.then(call.receiver.as_ref()?, &format!("rename({dim}, {free})")));
    }
    let target: Part = site
        .with_dims(call, &wanted)
        .or_else(|| (name == "align_as").then(|| site.at.clone()))?;
    Some(site.then(&target, &format!("unsqueeze({dim})")))
}

/// Fixes the argument of `get`, which requires an index for each dim: replaces an index of another dim, or calls `at`,
/// which accepts fewer.
fn indexed(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let list = dims(holes[1]);
    let given = items(site.text())?;
    let of = |item: &str| item.split('.').next().unwrap_or(item).to_owned();
    let wrong = given.iter().find(|item| !list.contains(&of(item)));
    let Some(wrong) = wrong else {
        return (given.len() < list.len()).then(|| vec![Edit::new(call.name.clone(), "at")]);
    };
    let free = list
        .iter()
        .find(|dim| !given.iter().any(|item| of(item) == **dim))?;
    Some(vec![Edit::new(site.named(&site.at, &of(wrong))?, free)])
}
