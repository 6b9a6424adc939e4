//! `#[relations]`.

use super::{comma, items_in};
use crate::edit::Edit;
use crate::message::matches;
use crate::rules::text::{closing, words_of};
use crate::rules::{Rule, Site, guess, sure};
use crate::source::{Part, is_name};

pub const RULES: &[Rule] = &[
    sure("`{}` is named below: move its `let` above this one", moved),
    sure(
        "write `let {} = ..`; a bound on it is a separate item",
        |site, _| {
            let item = item(site)?;
            let holes = matches("let {}: {} = {}", site.part(&item))?;
            let [name, bound, dims] = holes[..] else {
                return None;
            };
            Some(vec![Edit::new(
                item,
                format!("let {name} = {dims}, {name}: {bound}"),
            )])
        },
    ),
    sure("`{}` takes no parameters: {}", |site, _| {
        let end = closing(&site.source.text[site.at.start..])?;
        Some(vec![Edit::remove(site.at.start..site.at.start + end)])
    }),
    guess("`{}` is named by itself", |site, h| {
        let parameter = parameter(site, h[0])?;
        site.write(parameter)
    }),
    sure("expected `,` and the next item", |site, _| {
        Some(comma(site))
    }),
    guess("expected `let Q = ..`, with a name for dims", |site, _| {
        let start = site.at.start + site.text().find("let")? + 3;
        Some(vec![Edit::insert(start, format!(" {}", free(site)))])
    }),
    sure("`#[relations]` goes on a function; {}", |site, _| {
        let text = &site.source.text[..site.at.start];
        let start = text.rfind("#[")?;
        text[start..].contains("relations").then_some(())?;
        Some(vec![Edit::remove(start..site.at.start)])
    }),
    guess(
        "`{}` is a parameter of the function: use another name",
        |site, h| {
            let mut edits = site.write("Q")?;
            edits.extend(returned(site, h[0])?);
            Some(edits)
        },
    ),
    guess("`{}` is named twice", |site, _| site.write(free(site))),
    guess("expected `let Q = ..` with dims such as {}", bound),
];

/// Returns the attribute's arguments.
fn arguments(site: &Site<'_>) -> Option<Part> {
    let start = site.source.text[..site.at.start].rfind("relations(")? + "relations(".len();
    let end = start - 1 + closing(&site.source.text[start - 1..])?;
    Some(start..end - 1)
}

fn item(site: &Site<'_>) -> Option<Part> {
    let items = items_in(site, &arguments(site)?);
    items
        .into_iter()
        .find(|item| item.start <= site.at.start && site.at.end <= item.end)
}

/// Returns an unused name for dims; if the function uses an undeclared one, returns that.
fn free(site: &Site<'_>) -> &'static str {
    let text = &site.source.text;
    let words = words_of(text);
    let declares = |name: &str| text.contains(&format!("let {name}"));
    let used = |name: &str| words.iter().any(|word| text[word.clone()] == *name);
    let names = ["Q", "R", "S", "U", "V"];
    let wanted = names.into_iter().find(|name| used(name) && !declares(name));
    wanted
        .or_else(|| names.into_iter().find(|name| !used(name)))
        .unwrap_or("Own")
}

/// Returns the first type parameter of the function below, other than `but`.
fn parameter(site: &Site<'_>, but: &str) -> Option<String> {
    let functions = site.source.found.functions.iter();
    let function = functions
        .filter(|function| {
            function
                .relations
                .as_ref()
                .is_some_and(|r| r.start <= site.at.start && site.at.end <= r.end)
        })
        .min_by_key(|function| function.whole.len())?;
    let mut names = function.generics.iter().map(|(name, _)| name);
    names.find(|name| *name != but).cloned()
}

/// Replaces a parameter in the function's return type by the new name, which makes the parameter unnecessary.
fn returned(site: &Site<'_>, old: &str) -> Option<Vec<Edit>> {
    let within = |part: &Part| part.start <= site.at.start && site.at.end <= part.end;
    let functions = &site.source.found.functions;
    let function = functions
        .iter()
        .find(|f| f.relations.as_ref().is_some_and(within))?;
    let (output, text) = (
        function.output.clone()?,
        site.part(function.output.as_ref()?),
    );
    let mut edits: Vec<Edit> = words_of(text)
        .into_iter()
        .filter(|word| text[word.clone()] == *old)
        .map(|word| Edit::new(output.start + word.start..output.start + word.end, "Q"))
        .collect();
    let (_, parameter) = function.generics.iter().find(|(name, _)| name == old)?;
    let inputs = site.part(&(parameter.end..output.start));
    let used = words_of(inputs)
        .iter()
        .any(|word| inputs[word.clone()] == *old);
    if !edits.is_empty() && !used {
        edits.extend(site.remove_item(parameter));
    }
    Some(edits)
}

/// Moves a `let` before the item that uses it.
fn moved(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let arguments = arguments(site)?;
    let items = items_in(site, &arguments);
    let below = items
        .iter()
        .position(|item| site.part(item).starts_with(&format!("let {} ", holes[0])))?;
    let own = items
        .iter()
        .position(|item| item.start <= site.at.start && site.at.end <= item.end)?;
    (own < below).then_some(())?;
    let mut texts: Vec<&str> = items.iter().map(|item| site.part(item)).collect();
    let text = texts.remove(below);
    texts.insert(own, text);
    Some(vec![Edit::new(arguments, texts.join(", "))])
}

/// Replaces `D has C` and `C` by bounds.
fn bound(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let item = item(site)?;
    let words: Vec<&str> = site.part(&item).split_whitespace().collect();
    let text = match words[..] {
        [list, "has", dim] if is_name(dim) => format!("{list}: Has<{dim}>"),
        [dim] if is_name(dim) => format!("{}: Has<{dim}>", parameter(site, dim)?),
        _ => return None,
    };
    Some(vec![Edit::new(item, text)])
}
