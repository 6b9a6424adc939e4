//! The order of dims, and their number.

use super::broadcast::renaming;
use super::text::{items, string};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{code, dims, tuple, value};
use crate::source::is_name;

pub const RULES: &[Rule] = &[
    sure("`..` is repeated in this order", one_rest),
    guess("`{}` is neither a dim nor `..`", rest),
    sure("`&str` is not an order of dims", words),
    sure("`&str` is not a list of names", names),
    guess("dims {} and dims {} differ in number", number),
    sure("dims {} cannot be refined to dims {}", refined),
    guess("dim `{}` does not follow dim `{}` in dims {}", consecutive),
    sure(
        "flatten takes a tuple of two or more dims, not `{}`",
        flatten_one,
    ),
    guess("contract takes the dims by name, not `..`", shared),
    guess(
        "t() takes at most 2 dims, and this tensor has dims {}",
        transpose,
    ),
    sure("dims {} differ from dims {}", spelled),
    sure(
        "a kernel with dims {} does not slide along dims {} of dims {} in order",
        kernel,
    ),
    sure("dims {} do not expand to dims {}", expanded),
    guess(
        "sequences of dims {} do not match values of dims {}",
        sequences,
    ),
    sure("dims {} do not form a {}", any_number),
    sure("cannot matmul dims {} with dims {} on `{}`", contract),
];

fn one_rest(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let list = site.source.list(&site.at)?;
    let last = list.items.iter().rfind(|item| site.part(item) == "..")?;
    if list.items.len() == 2 {
        return Some(vec![Edit::new(list.whole.clone(), "(..,)")]);
    }
    Some(site.remove_item(last))
}

/// Replaces an item of an order that is not a dim by `..`.
fn rest(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let arg = call.args.first()?;
    let item = site.elements(arg).into_iter().find(|item| {
        let text = site.part(item);
        super::text::is_number(text) || text.starts_with('"')
    })?;
    let text = site.part(arg);
    (!text.contains("..")).then(|| vec![Edit::new(item, "..")])
}

fn split_words(text: &str) -> Option<Vec<String>> {
    let words = string(text)?;
    let words = words
        .split(|c: char| c.is_whitespace() || c == ',')
        .filter(|w| !w.is_empty());
    let words: Vec<String> = words.map(str::to_owned).collect();
    words.iter().all(|word| is_name(word)).then_some(words)
}

fn words(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    site.write(tuple(&split_words(site.text())?))
}

fn names(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let names = split_words(site.text())?;
    let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
    site.write(format!("names![{}]", names.join(", ")))
}

fn number(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (have, given) = (dims(holes[0]), dims(holes[1]));
    let call = site.call()?;
    match site.name(call) {
        "permute" => Some(vec![Edit::new(call.name.clone(), "align_to")]),
        "rename" if given.len() > have.len() => {
            let new = call.args.last()?;
            let kept = &given[..have.len()];
            let kept: Vec<String> = kept.iter().map(|dim| value(dim)).collect();
            Some(vec![Edit::new(new.clone(), tuple(&kept))])
        }
        "cat" | "stack" => {
            let (fewer, more) = if given.len() < have.len() {
                (given, have)
            } else {
                (have, given)
            };
            let short = site.with_dims(call, &fewer)?;
            let long = site.with_dims(call, &more)?;
            let other = site.part(&site.source.bare(&long));
            Some(site.then(&short, &format!("align_as(&{other})")))
        }
        _ => None,
    }
}

fn refined(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (have, given) = (dims(holes[0]), dims(holes[1]));
    let call = site.call()?;
    if given.len() < have.len() {
        let end = site.at.start + site.text().rfind(')')?;
        let gap = if site.text().trim_end_matches(')').trim_end().ends_with(',') {
            " .."
        } else {
            ", .."
        };
        return Some(vec![Edit::insert(end, gap)]);
    }
    let kept = have.iter().zip(&given);
    let kept: Vec<String> = kept
        .map(|(old, new)| value(if old == "Wild" { new } else { old }))
        .collect();
    let renaming = renaming(&kept, &given)?;
    Some(vec![
        Edit::new(site.at.clone(), tuple(&kept)),
        Edit::insert(call.whole.end, format!(".{renaming}")),
    ])
}

fn consecutive(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let [next, first, list] = holes else {
        return None;
    };
    let list = dims(list);
    let call = site.call()?;
    if next == first || !list.iter().any(|dim| dim == next) {
        // One of the two is a wrong dim: replace it by the neighbour of the other.
        let at = list.iter().position(|dim| dim == first)?;
        let place = site.named(&site.at, next)?;
        if let Some(after) = list.get(at + 1) {
            return Some(vec![Edit::new(place, value(after))]);
        }
        let before = list.get(at.checked_sub(1)?)?;
        return site.write(format!("({before}, {first})"));
    }
    let advice =
        code(&site.message.note("make them adjacent first")?.message)?.strip_prefix("x.")?;
    let part = match site.helper() {
        Some(_) => site
            .with_dims(call, &list)
            .unwrap_or_else(|| site.at.clone()),
        None => call.receiver.clone()?,
    };
    Some(site.then(&part, advice))
}

fn flatten_one(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let [what, new] = &call.args[..] else {
        return None;
    };
    if holes[0] == "RangeFull" {
        let args = what.start..new.start;
        return Some(vec![
            Edit::new(call.name.clone(), "ravel"),
            Edit::remove(args),
        ]);
    }
    Some(vec![Edit::new(call.name.clone(), "rename")])
}

fn shared(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let own = site.source.dims_of(receiver)?;
    let other = site.source.dims_of(call.args.first()?)?;
    let both: Vec<String> = own.into_iter().filter(|dim| other.contains(dim)).collect();
    match &both[..] {
        [] => None,
        [one] => site.write(value(one)),
        several => site.write(tuple(several)),
    }
}

fn transpose(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let list = dims(holes[0]);
    let [.., a, b] = &list[..] else { return None };
    let whole = call.name.start..call.whole.end;
    Some(vec![Edit::new(
        whole,
        format!("transpose({}, {})", value(a), value(b)),
    )])
}

fn spelled(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let own = dims(holes[0]);
    let last = |dim: String| dim.rsplit("::").next().unwrap_or(&dim).to_owned();
    let wanted: Vec<String> = dims(holes[1]).into_iter().map(last).collect();
    let call = site.call()?;
    let part = match &call.receiver {
        Some(receiver) if call.args.is_empty() => receiver.clone(),
        _ => site.at.clone(),
    };
    Some(site.then(&part, &reordered(&own, &wanted)?))
}

/// Returns the call that converts dims to others: a reordering or a renaming.
pub fn reordered(own: &[String], wanted: &[String]) -> Option<String> {
    let mut sorted = (own.to_vec(), wanted.to_vec());
    sorted.0.sort();
    sorted.1.sort();
    if sorted.0 == sorted.1 && own != wanted {
        let order: Vec<String> = wanted.iter().map(|dim| value(dim)).collect();
        return Some(format!("align_to({})", tuple(&order)));
    }
    renaming(own, wanted)
}

fn kernel(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let along: Vec<String> = dims(holes[1]).iter().map(|dim| value(dim)).collect();
    Some(site.then(&site.at, &format!("align_to((.., {}))", along.join(", "))))
}

fn expanded(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (own, wanted) = (dims(holes[0]), dims(holes[1]));
    let call = site.call()?;
    if site.helper().is_some() && own.len() <= wanted.len() {
        let same = &wanted[wanted.len() - own.len()..];
        return Some(site.then(&site.at, &renaming(&own, same)?));
    }
    let known = own.iter().all(|dim| wanted.contains(dim));
    (site.name(call) == "expand_as" && known).then_some(())?;
    let other = site.part(&site.source.bare(call.args.first()?));
    Some(site.then(call.receiver.as_ref()?, &format!("align_as(&{other})")))
}

fn sequences(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (own, wanted) = (dims(holes[0]), dims(holes[1]));
    let mut renamed = wanted.clone();
    *renamed.last_mut()? = own.last()?.clone();
    Some(site.then(site.call()?.receiver.as_ref()?, &renaming(&own, &renamed)?))
}

/// Replaces a product for a fixed number of dims by `matmul`, which accepts any number.
fn any_number(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    if ["mm", "mv", "dot", "bmm"].contains(&site.name(call)) {
        return Some(vec![Edit::new(call.name.clone(), "matmul")]);
    }
    // A square matrix of a dim and its prime.
    let (list, sizes) = (dims(holes[0]), items(site.part(call.args.first()?))?);
    let ([dim], [size], "eye") = (&list[..], &sizes[..], site.name(call)) else {
        return None;
    };
    let of_types = site.source.found.lists.iter().find(|list| {
        list.of_types && call.whole.start <= list.whole.start && list.whole.end <= call.name.start
    })?;
    Some(vec![
        Edit::new(of_types.whole.clone(), format!("({dim}, Prime<{dim}>)")),
        Edit::new(call.args[0].clone(), format!("[{size}, {size}]")),
    ])
}

fn contract(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let [dim, other] = &call.args[..] else {
        return None;
    };
    Some(vec![
        Edit::new(call.name.clone(), "contract"),
        Edit::new(dim.clone(), site.part(other)),
        Edit::new(other.clone(), site.part(dim)),
    ])
}
