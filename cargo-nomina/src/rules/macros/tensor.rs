//! `tensor!`.

use super::{inner, items_in};
use crate::edit::Edit;
use crate::message::split;
use crate::rules::text::items;
use crate::rules::{Rule, Site, guess, sure};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    sure("the data are a single value, but {} named: {}; {}", no_dims),
    sure("write the dims without parentheses: `{}`", |site, _| {
        site.write(items(site.text())?.join(", "))
    }),
    sure("nothing follows the dtype", nothing_behind),
    guess(
        "the data are {}, that is {} dim{}, but no dim is named; {}",
        |site, h| {
            let names = extended(site, &[], h[1].parse().ok()?)?;
            Some(vec![Edit::insert(
                inner(site)?.end,
                format!("; {}", names.join(", ")),
            )])
        },
    ),
    guess(
        "the data are {}, that is {} dim{}, but {} named: {}",
        other_count,
    ),
    guess("`{}` is a float, and the dtype is {}", |site, h| {
        dtype(site, h[1], if h[1] == "i64" { "f64" } else { "f32" })
    }),
    guess("`{}` is negative, and the dtype is u8", |site, _| {
        dtype(site, "u8", "i16")
    }),
    sure("expected `;` and the dims, {}", |site, _| {
        (site.text() == ",").then_some(())?;
        site.write(";")
    }),
    guess("expected a dim: sizes follow from the values", |site, _| {
        let (place, named) = named(site)?;
        let kept: Vec<String> = named
            .into_iter()
            .filter(|name| name != site.text())
            .collect();
        let count = items_in(site, &place).len();
        let new = extended(site, &kept, count)?;
        site.write(new.last()?)
    }),
    guess("expected a dtype, such as `f64`", |site, _| {
        ["32", "64", "16"].contains(&site.text()).then_some(())?;
        site.write(format!("f{}", site.text()))
    }),
    sure(
        "the dtype is bool: write `true` or `false`",
        |site, _| match site.text() {
            "0" => site.write("false"),
            "1" => site.write("true"),
            _ => None,
        },
    ),
    guess("this row has 1 value, the other rows have {}", |site, h| {
        let [row] = items(site.text())?[..] else {
            return None;
        };
        (items(row)?.len().to_string() == h[0]).then_some(())?;
        site.write(row)
    }),
    guess("a row of values is mixed with single values", |site, _| {
        let [value] = items(site.text())?[..] else {
            return None;
        };
        site.write(value)
    }),
    guess("a row of values is mixed with rows of rows", |site, _| {
        let rows: Vec<String> = items(site.text())?
            .iter()
            .map(|v| format!("[{v}]"))
            .collect();
        site.write(format!("[{}]", rows.join(", ")))
    }),
    guess("a row of rows is mixed with rows of values", |site, _| {
        let rows: Option<Vec<&str>> = items(site.text())?
            .into_iter()
            .map(|row| <[&str; 1]>::try_from(items(row)?).ok().map(|[value]| value))
            .collect();
        site.write(format!("[{}]", rows?.join(", ")))
    }),
    sure("`{}` is no dtype suffix; {}", |site, h| {
        site.write(site.text().strip_suffix(h[0])?)
    }),
    guess("`{}` is a bool, and the dtype is {}", |site, h| {
        site.write(if h[0] == "true" { "1" } else { "0" })
    }),
    sure("expected a dim; one without a name is `Wild`", |site, _| {
        site.write("Wild")
    }),
    guess("nothing follows the length of a row; {}", lengths),
];

/// Returns the list of dims: the text after the first `;` outside of brackets.
fn named(site: &Site<'_>) -> Option<(Part, Vec<String>)> {
    let inner = inner(site)?;
    let text = site.part(&inner);
    let mut depth = 0;
    let mut ends = text.char_indices().filter_map(|(at, c)| {
        depth += match c {
            '[' | '(' | '{' => 1,
            ']' | ')' | '}' => -1,
            _ => 0,
        };
        (c == ';' && depth == 0).then_some(at)
    });
    let start = ends.next()? + 1;
    let end = ends.next().unwrap_or(text.len());
    let names = split(&text[start..end])
        .into_iter()
        .map(str::to_owned)
        .collect();
    Some((inner.start + start..inner.start + end, names))
}

/// Extends the names by declared dims, then by `Wild`.
fn extended(site: &Site<'_>, names: &[String], count: usize) -> Option<Vec<String>> {
    let mut names = names.to_vec();
    let declared = site.source.declared();
    while names.len() < count {
        let free = declared.iter().find(|dim| !names.contains(dim));
        names.push(free.map_or("Wild", |dim| dim).to_owned());
    }
    (count <= 8).then_some(names)
}

fn no_dims(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (place, _) = named(site)?;
    Some(vec![Edit::remove(place.start - 1..place.end)])
}

fn other_count(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (place, names) = named(site)?;
    let mut names = extended(site, &names, holes[1].parse().ok()?)?;
    names.truncate(holes[1].parse().ok()?);
    Some(vec![Edit::new(place, format!(" {}", names.join(", ")))])
}

/// Removes the text after the dtype, with the separator before it.
fn nothing_behind(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let text = &site.source.text[..site.at.start];
    let start = text
        .trim_end()
        .trim_end_matches([',', ';'])
        .trim_end()
        .len();
    Some(vec![Edit::remove(start..inner(site)?.end)])
}

/// Replaces a dtype in the macro.
fn dtype(site: &Site<'_>, old: &str, new: &str) -> Option<Vec<Edit>> {
    let (place, _) = named(site)?;
    let behind = place.end..inner(site)?.end;
    let at = behind.start + site.part(&behind).find(old)?;
    Some(vec![Edit::new(at..at + old.len(), new)])
}

/// Replaces `[0.; 2, 3]` by `[[0.; 3]; 2]`.
fn lengths(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let row = super::brackets(site, &inner(site)?)?;
    let (value, lengths) = site.part(&row).split_once(';')?;
    let nested = split(lengths)
        .into_iter()
        .rev()
        .fold(value.trim().to_owned(), |row, length| {
            format!("[{row}; {length}]")
        });
    Some(vec![Edit::new(row.start - 1..row.end + 1, nested)])
}
