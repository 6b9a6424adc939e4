//! Dims that would be repeated.

use super::{Rule, Site, guess};
use crate::edit::Edit;
use crate::message::{dims, value};
use crate::source::{List, Part};

pub const RULES: &[Rule] = &[guess(
    "dim `{}` appears more than once in dims {}",
    distinct,
)];

/// Functions of matrices, whose rows and columns are two dims.
const PAIRS: [&str; 10] = [
    "inv",
    "pinv",
    "det",
    "slogdet",
    "solve",
    "cholesky",
    "qr",
    "svd",
    "eigh",
    "matrix_rank",
];

fn distinct(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let dim = dims(holes[0]).pop()?;
    if site
        .source
        .macro_at(&site.at)
        .is_some_and(|m| m.name == "tensor")
    {
        let inner = &site.source.macro_at(&site.at)?.inner;
        let place = site.named(inner, &dim)?;
        return Some(vec![Edit::new(place, format!("Prime<{dim}>"))]);
    }
    if let Some(edits) = in_types(site, &dim) {
        return Some(edits);
    }
    let call = site.call()?;
    let name = site.name(call);
    if name == "stack" {
        return Some(vec![Edit::new(call.name.clone(), "cat")]);
    }
    if name == "rename" {
        return renamed(site, &dim);
    }
    if let Some(edits) = listed_twice(site, &dim) {
        return Some(edits);
    }
    // A new dim whose name is taken.
    for arg in call.args.iter().rev() {
        for part in site.elements(arg).iter().rev() {
            let text = site.part(part);
            if text == dim || text.starts_with(&format!("{dim}.of(")) {
                let end = part.start + dim.len();
                return Some(vec![Edit::new(part.start..end, format!("Prime({dim})"))]);
            }
        }
    }
    // Two tensors that both have the dim.
    let last = call
        .args
        .iter()
        .rfind(|arg| site.part(arg).starts_with(['&', '(']));
    let last = last.cloned().unwrap_or_else(|| site.at.clone());
    let part = site.elements(&last).pop()?;
    (!dim.contains('<')).then(|| site.then(&part, &format!("prime({dim})")))
}

/// Returns the second of two items with the same text.
fn second(site: &Site<'_>, list: &List) -> Option<Part> {
    let texts: Vec<&str> = list.items.iter().map(|item| site.part(item)).collect();
    let at = (1..texts.len()).find(|at| texts[..*at].contains(&texts[*at]))?;
    Some(list.items[at].clone())
}

/// Primes the second dim in `Tensor::<(N, N)>`.
fn in_types(site: &Site<'_>, dim: &str) -> Option<Vec<Edit>> {
    let lists = site.source.found.lists.iter();
    let mut within = lists.filter(|list| {
        list.of_types
            && (site.at.start <= list.whole.start && list.whole.end <= site.at.end
                || list.whole == site.at)
    });
    let list = within.find(|list| site.part(&list.whole).contains(dim))?;
    let place = second(site, list).or_else(|| list.items.last().cloned())?;
    let typed = site.source.text[..list.whole.start].ends_with("typed::<");
    let text = if typed {
        "Wild".to_owned()
    } else {
        format!("Prime<{}>", site.part(&place))
    };
    Some(vec![Edit::new(place, text)])
}

/// Removes a repeated dim from a tuple; of rows and columns, replaces one by another dim.
fn listed_twice(site: &Site<'_>, dim: &str) -> Option<Vec<Edit>> {
    let list = site
        .source
        .found
        .lists
        .iter()
        .find(|list| list.whole == site.at)?;
    let place = second(site, list)?;
    (site.part(&place) == dim).then_some(())?;
    let call = site.call()?;
    let known = call
        .receiver
        .as_ref()
        .and_then(|part| site.source.dims_of(part));
    if PAIRS.contains(&site.name(call)) {
        let other = known?.into_iter().find(|known| known != dim)?;
        return Some(vec![Edit::new(place, other)]);
    }
    let mut edits = site.remove_item(&place);
    if let [_, _] = list.items[..] {
        // A tuple of one dim needs a comma.
        edits = vec![Edit::new(edits[0].range.start..list.whole.end - 1, ",")];
    }
    Some(edits)
}

/// Swaps the names of two dims, or makes two equal new names different.
fn renamed(site: &Site<'_>, dim: &str) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let [old, new] = &call.args[..] else {
        return None;
    };
    if let Some(list) = site
        .source
        .found
        .lists
        .iter()
        .find(|list| list.whole == *new)
    {
        let place = second(site, list)?;
        return Some(vec![Edit::new(
            place.clone(),
            format!("Prime({})", site.part(&place)),
        )]);
    }
    let (from, to) = (site.part(old), site.part(new));
    (to == value(dim)).then(|| {
        vec![
            Edit::new(old.clone(), format!("({from}, {to})")),
            Edit::new(new.clone(), format!("({to}, {from})")),
        ]
    })
}
