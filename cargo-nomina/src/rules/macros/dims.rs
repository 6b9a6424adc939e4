//! `dims!` and `names!`.

use super::{code, comma, inner, items_in, without};
use crate::edit::Edit;
use crate::message::split;
use crate::rules::text::{closing, string};
use crate::rules::{Rule, Site, guess, sure};
use crate::source::{Part, words};

pub const RULES: &[Rule] = &[
    sure("a dim already implements `{}`", derive),
    sure(
        "expected the name of a dim, found `{}`: write `{}`",
        |site, _| code(site),
    ),
    sure("expected the name of a dim", nothing),
    sure("the name of a dim cannot be empty", named),
    sure(
        "expected a size such as {}; for a spelling write `{}`",
        |site, _| code(site),
    ),
    guess("expected a size such as {}", size),
    sure(
        "`{}` is a Rust keyword: declare `{}` to have it as the run-time name",
        |site, h| site.write(h[1]),
    ),
    sure("the size of a dim cannot be negative", |site, _| {
        site.write(site.text().trim_start_matches(['-', ' ']))
    }),
    sure(
        "expected `,` after dim `{}`; its size is one integer literal",
        evaluated,
    ),
    sure("expected `,` after dim `{}`{}", |site, _| Some(comma(site))),
    sure("expected `,` between {}", |site, _| Some(comma(site))),
    sure(
        "dims `{}` and `{}` are both spelled `{}`; dims of one spelling are the same dim: declare one",
        unused,
    ),
    sure(
        "`{}` is a raw identifier: give a spelling, `{}`",
        |site, _| code(site),
    ),
    sure("the size of a dim is a `usize`", |site, _| {
        let text = site.text();
        site.write(&text[..text.find(|c: char| c.is_alphabetic())?])
    }),
    guess("the size of a dim is at most `isize::MAX`", |site, _| {
        site.write(isize::MAX.to_string())
    }),
    guess(
        "the name of a dim cannot begin with a digit: `{}`",
        prefixed,
    ),
    guess(
        "the name of a dim has only ASCII letters, digits and `_`; {}",
        ascii,
    ),
    sure("expected the spelling at run time, such as `{}`", quoted),
    sure("{} remove `{}`", |site, h| without(site, h[1])),
    sure("dim `{}` is declared twice", |site, _| {
        Some(site.remove_item(&site.at))
    }),
    sure("this dim already has a run-time spelling", |site, _| {
        let before = site.source.text[..site.at.start]
            .trim_end()
            .strip_suffix('=')?;
        Some(vec![Edit::remove(before.trim_end().len()..site.at.end)])
    }),
    sure("dim `{}` takes no generic parameters", |site, _| {
        let end = closing(&site.source.text[site.at.start..])?;
        Some(vec![Edit::remove(site.at.start..site.at.start + end)])
    }),
    sure("a dim declared here needs a name; {}", |site, _| {
        Some(site.remove_item(&site.at))
    }),
    sure(
        "expected a name in quotes, or `_`: a dim without a name is `_`",
        |site, _| site.write("_"),
    ),
    sure(
        "expected a name in quotes, or `_`: write `{}`",
        |site, _| code(site),
    ),
    guess("expected a name in quotes, or `_`{}", |site, _| {
        site.write("_")
    }),
    guess(
        "{} dims are more than the {} a tensor can have",
        |site, _| {
            let item = items_in(site, &inner(site)?).pop()?;
            Some(site.remove_item(&item))
        },
    ),
    guess("dim `{}` appears more than once", |site, _| site.write("_")),
];

/// Returns the enclosing item of `dims!`.
fn item(site: &Site<'_>) -> Option<Part> {
    let items = items_in(site, &inner(site)?);
    items
        .into_iter()
        .find(|item| item.start <= site.at.start && site.at.end <= item.end)
}

/// Returns the name of the enclosing item's dim in lower case.
fn lower(site: &Site<'_>) -> Option<String> {
    let item = item(site)?;
    let text = site.part(&item);
    let head = text.split(['=', '(']).next()?;
    Some(head[words(head).pop()?].to_lowercase())
}

fn derive(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let text = &site.source.text;
    let start = text[..site.at.start].rfind("#[")?;
    let end = start + 1 + closing(&text[start + 1..])?;
    let derived = text[start..end].split_once('(')?.1.split(')').next()?;
    if split(derived).len() > 1 {
        return Some(site.remove_item(&site.at));
    }
    derived
        .contains(holes[0].rsplit(':').next()?)
        .then_some(())?;
    let space = text[end..].len() - text[end..].trim_start().len();
    Some(vec![Edit::remove(start..end + space)])
}

/// Removes a comma or a visibility without a dim.
fn nothing(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    match site.text() {
        "," => without(site, ","),
        "pub" => Some(site.remove_item(&site.at)),
        _ => None,
    }
}

fn named(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    site.write(format!("\"{}\"", lower(site)?))
}

fn size(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    if site.text() == "=" {
        let start = site.source.text[..site.at.start].trim_end().len();
        return Some(vec![Edit::remove(start..site.at.end)]);
    }
    let (whole, fraction) = site.text().split_once('.')?;
    fraction.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    site.write(whole)
}

/// Evaluates a product or a sum of literals.
fn evaluated(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let item = item(site)?;
    let text = site.part(&item);
    let value = text.find('=')? + 1;
    let numbers = |sign: char| -> Option<Vec<u64>> {
        text[value..]
            .split(sign)
            .map(|n| n.trim().replace('_', "").parse().ok())
            .collect()
    };
    let result = match (numbers('*'), numbers('+')) {
        (Some(factors), _) => factors.into_iter().try_fold(1_u64, u64::checked_mul)?,
        (_, Some(terms)) => terms.into_iter().try_fold(0_u64, u64::checked_add)?,
        _ => return None,
    };
    Some(vec![Edit::new(
        item.start + value..item.end,
        format!(" {result}"),
    )])
}

/// Removes the unused one of two dims with the same spelling.
fn unused(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let text = &site.source.text;
    let uses = words(text)
        .into_iter()
        .filter(|word| text[word.clone()] == *holes[1])
        .count();
    (uses == 1).then(|| item(site).map(|item| site.remove_item(&item)))?
}

fn prefixed(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    site.write(format!("\"{}_{}\"", lower(site)?, string(site.text())?))
}

fn ascii(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let name = string(site.text())?;
    let name = name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    site.write(format!("\"{name}\""))
}

fn quoted(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let text = &site.source.text[site.at.start..];
    let end = closing(text)?;
    let name = text[1..end - 1].trim();
    crate::source::is_name(name).then_some(())?;
    Some(vec![Edit::new(
        site.at.start..site.at.start + end,
        format!("(\"{name}\")"),
    )])
}
