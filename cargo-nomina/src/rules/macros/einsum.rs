//! `einsum!`.

use super::{brackets, inner};
use crate::edit::Edit;
use crate::message::dims;
use crate::rules::text::{closing, is_number, string, words_of};
use crate::rules::{Rule, Site, guess, sure};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    sure("the result goes after `->`", |site, _| site.write("->")),
    sure("operands are multiplied: {}", |site, _| {
        (site.text() == ",").then_some(())?;
        site.write(" *")
    }),
    sure("operands are multiplied; put a sum in parentheses: {}", sum),
    guess("dim `{}` is repeated in this list; {}", |site, _| {
        Some(site.remove_item(&site.at))
    }),
    guess("expected the dims of the result: {}", |site, _| {
        site.write("-> []")
    }),
    guess("expected `-> [..]`: {}", |site, _| {
        let inner = inner(site)?;
        let end = inner.start + site.part(&inner).trim_end().len();
        Some(vec![Edit::insert(end, " -> []")])
    }),
    sure("dim `{}` of dims {} is not listed", |site, h| {
        site.write(format!("[{}]", dims(h[1]).join(", ")))
    }),
    guess("expected an operand on both sides of `*`: {}", |site, _| {
        let before = site.source.text[..site.at.start]
            .trim_end()
            .strip_suffix('*')?;
        Some(vec![
            Edit::remove(before.trim_end().len()..site.at.start),
            Edit::insert(site.at.start, " "),
        ])
    }),
    sure("expected the operand's dims after it: {}", operand),
    sure("no operand has a `..` for this one", rest),
    sure(
        "expected the dims of the result in brackets, and nothing else",
        |site, _| site.write(format!("[{}]", site.text())),
    ),
    sure("expected a dim or `..`", |site, _| {
        site.write(string(site.text())?)
    }),
    sure("the other dims are `..`", |site, _| site.write("..")),
    sure("`..` is repeated in this list", |site, _| {
        Some(site.remove_item(&site.at))
    }),
];

/// Replaces `x[N] + y[N]` by `(&x + &y)[N]`, if both have the same dims.
fn sum(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let inner = inner(site)?;
    let left = inner.start..site.at.start;
    let right = site.at.end..inner.end;
    let (left, right) = (
        site.part(&left).trim_start(),
        site.part(&right).trim_start(),
    );
    let (x, list) = left.trim_end().strip_suffix(']')?.rsplit_once('[')?;
    let (y, rest) = right.split_once('[')?;
    let (other, _) = rest.split_once(']')?;
    let simple = |name: &str| crate::source::is_name(name.trim());
    (list == other && simple(x) && simple(y)).then_some(())?;
    let start = inner.start;
    let end = site.source.text[site.at.end..].find(']')? + site.at.end + 1;
    let op = site.text();
    Some(vec![Edit::new(
        start..end,
        format!("(&{} {op} &{})[{list}]", x.trim(), y.trim()),
    )])
}

/// Fixes an operand without dims: parenthesizes its product with a number, or lists its dims if they are known.
fn operand(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let rest = site.source.text[site.at.end..].trim_start();
    if let Some(factor) = rest.strip_prefix('*') {
        let factor = factor.trim_start();
        let number = &factor[..factor.find('[')?];
        if is_number(number.trim()) {
            let end = site.source.text.len() - factor.len() + number.len();
            return Some(vec![
                Edit::insert(site.at.start, "(&"),
                Edit::insert(end, ")"),
            ]);
        }
    }
    let known = site.source.dims_of(&site.at)?;
    Some(vec![Edit::insert(
        site.at.end,
        format!("[{}]", known.join(", ")),
    )])
}

/// Replaces the result's `..` by the dims that all operands list.
fn rest(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let inner = inner(site)?;
    let own = brackets(site, &inner)?;
    let named = site.part(&own);
    let text = &site.source.text[inner.start..own.start];
    let mut listed: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(open) = text[at..].find('[') {
        let Some(end) = closing(&text[at + open..]) else {
            break;
        };
        let list: Part = at + open + 1..at + open + end - 1;
        for dim in crate::message::split(&text[list.clone()]) {
            let taken = words_of(named)
                .iter()
                .any(|word| named[word.clone()] == *dim);
            if !listed.contains(&dim) && !taken {
                listed.push(dim);
            }
        }
        at += open + end;
    }
    site.write(listed.join(", "))
}
