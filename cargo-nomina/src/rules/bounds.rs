//! Bounds that a generic function lacks.

use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::source::is_name;

pub const RULES: &[Rule] = &[
    sure("rustc cannot find dim `{}` in the generic dims {}", has),
    sure("{}", advised),
    sure("dim `{}` not found in dims {}", has),
    guess("a tensor of dtype `{}` does not combine with `{}`", float),
];

/// Adds the bound that rustc suggests, under nomina's public name.
fn advised(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let help = [
        "further restricting",
        "restricting type parameter",
        "introducing a `where`",
    ]
    .iter()
    .find_map(|words| site.message.note(words))?;
    let prelude = site.source.text.contains("nomina::prelude::*");
    let edits = help.places.iter().map(|place| {
        let mut text = place.replacement.clone()?;
        if !text.contains("nomina::") && !text.contains("PromoteScalar") {
            return None;
        }
        // A private path cannot be written.
        if text.contains("nomina_core::") || text.contains("nomina_runtime::") {
            return None;
        }
        // The places of dims follow from the bounds that are written.
        text = text
            .replace("nomina::dims::HasOrLacks<", "nomina::dims::Has<")
            .replace("nomina::dims::Apart", "nomina::dims::Distinct");
        if prelude {
            text = text
                .replace("nomina::dims::Has<", "Has<")
                .replace("nomina::dims::Distinct", "Distinct")
                .replace("nomina::prelude::", "")
                .replace("nomina::dims::BroadcastWith<", "Broadcast<")
                .replace("nomina::dims::TimesRight<", "MatMul<");
        }
        Some(Edit::new(place.range.clone(), text))
    });
    edits.collect()
}

/// Adds the bound `Has<C>` to a type parameter for which rustc suggests nothing.
fn has(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let [dim, dims] = holes else { return None };
    bound(site, dims, &format!("Has<{dim}>"))
}

fn float(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    (holes.get(1) == Some(&"{float}")).then_some(())?;
    bound(site, holes.first()?, "Float")
}

/// Adds a bound to a type parameter of the enclosing function.
fn bound(site: &Site<'_>, parameter: &str, bound: &str) -> Option<Vec<Edit>> {
    is_name(parameter).then_some(())?;
    let function = site.source.function(&site.at)?;
    let (_, place) = function
        .generics
        .iter()
        .find(|(name, _)| name == parameter)?;
    let Some(relations) = &function.relations else {
        let joined = if site.part(place).contains(':') {
            " +"
        } else {
            ":"
        };
        return Some(vec![Edit::insert(place.end, format!("{joined} {bound}"))]);
    };
    let text = site.part(relations);
    let edit = match text.rfind(')') {
        None => Edit::insert(
            relations.start + text.rfind(']')?,
            format!("({parameter}: {bound})"),
        ),
        Some(end) => {
            let empty = text[..end].trim_end().ends_with('(');
            let comma = if empty { "" } else { ", " };
            Edit::insert(
                relations.start + end,
                format!("{comma}{parameter}: {bound}"),
            )
        }
    };
    Some(vec![edit])
}
