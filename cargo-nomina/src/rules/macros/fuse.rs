//! `fuse!`.

use super::inner;
use crate::edit::Edit;
use crate::message::{code, matches, split};
use crate::rules::broadcast::bars;
use crate::rules::text::{is_number, words_of};
use crate::rules::{Rule, Site, guess, sure};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    sure("expected tensors, numbers, {}", function),
    sure("use the method `{}`", |site, h| {
        let binary = site.source.binary(&site.at)?;
        let name = h[0].split(['.', '(']).nth(1)?;
        let text = format!(
            "{}.{name}({})",
            site.operand(&binary.left),
            site.part(&binary.right)
        );
        Some(vec![Edit::new(binary.left.start..binary.right.end, text)])
    }),
    sure("operands are already borrowed", |site, _| {
        site.write(site.text().trim_start_matches(['&', '*']))
    }),
    sure("expected `,` or `|` after a tensor; {}", |site, _| {
        let text = &site.source.text[..site.at.start];
        let start = text.rfind(['|', ','])? + 1;
        let word = words_of(&text[start..]).first()?.clone();
        let name = text[start..][word.clone()].to_owned();
        Some(vec![Edit::insert(start + word.start, format!("{name} = "))])
    }),
    sure("`{}` writes to its tensor; {}", |site, _| {
        site.write(site.text().strip_suffix('_')?)
    }),
    sure("this writes to a tensor; {}", |site, _| {
        let op = site.text().strip_suffix('=')?;
        (!op.is_empty()).then(|| site.write(op))?
    }),
    sure(
        "a number has no methods here: compute it in braces",
        |site, _| {
            let calls = &site.source.found.calls;
            let call = calls
                .iter()
                .find(|call| call.receiver.as_ref() == Some(&site.at))?;
            let number = site.text().trim_matches(['(', ')']);
            is_number(number).then_some(())?;
            let text = site.part(&(site.at.end..call.whole.end));
            Some(vec![Edit::new(
                call.whole.clone(),
                format!("{{ ({number}_f32){text} }}"),
            )])
        },
    ),
    guess(
        "expected the result: an expression without `;`",
        |site, _| {
            let last = site.text().rfind("let ")? + 4;
            let name = site.text()[last..].split(['=', ':']).next()?.trim();
            Some(vec![Edit::insert(site.at.end, format!(" {name}"))])
        },
    ),
    sure("expected the tensors between bars, {}", add_bars),
    sure("`{}` is not elementwise: {}", before),
    sure("`{}` is not elementwise; `{}` does", |site, h| {
        site.write(h[1])
    }),
    guess("`{}` is not a tensor between the bars: {}", braces),
    sure("a number needs no name here: {}", inline),
    sure("`{}` reduces, and must be the last call: {}", reduction),
    guess("expected a dtype: `{}`", |site, _| {
        let code = code(&site.message.message)?;
        let end = site.text().strip_suffix(".to()")?.len();
        Some(vec![Edit::new(site.at.start + end..site.at.end, code)])
    }),
    sure("`{}` is repeated: {}", |site, _| {
        Some(site.remove_item(&site.at))
    }),
];

/// Replaces `f32::sin(x)` by `x.sin()`.
fn function(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let call = site.whole_call()?;
    let ([first, rest @ ..], None) = (&call.args[..], &call.receiver) else {
        return None;
    };
    let rest: Vec<&str> = rest.iter().map(|arg| site.part(arg)).collect();
    site.write(format!(
        "{}.{}({})",
        site.operand(first),
        site.name(call),
        rest.join(", ")
    ))
}

/// Adds bars with the tensors that an expression uses.
fn add_bars(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let inner = inner(site)?;
    let text = site.part(&inner);
    let mut names: Vec<&str> = Vec::new();
    for word in words_of(text) {
        let name = &text[word.clone()];
        let method = text[..word.start].trim_end().ends_with('.');
        let bound = site.source.binding(name, inner.start).is_some();
        if !method && bound && !names.contains(&name) {
            names.push(name);
        }
    }
    (!names.is_empty()).then(|| {
        vec![Edit::insert(
            inner.start,
            format!("|{}| ", names.join(", ")),
        )]
    })
}

/// Moves a call into the bars, before the chain, under a new name.
fn hoist(site: &Site<'_>, name: &str) -> Option<Vec<Edit>> {
    let (call, _) = site.method()?;
    let (inner, bars) = (inner(site)?, bars(site)?);
    let body = site.part(&(bars.end + 1..call.whole.start)).to_owned()
        + site.part(&(call.whole.end..inner.end));
    let used = |tensor: &str| {
        words_of(&body)
            .iter()
            .any(|word| body[word.clone()] == *tensor)
    };
    let mut between: Vec<&str> = split(site.part(&bars));
    between.retain(|tensor| used(tensor.split('=').next().unwrap_or(tensor).trim()));
    let new = format!("{name} = {}", site.part(&call.whole));
    between.push(&new);
    Some(vec![
        Edit::new(bars, between.join(", ")),
        Edit::new(call.whole.clone(), name),
    ])
}

/// Returns a name that is not used in the macro.
fn free(site: &Site<'_>) -> Option<&'static str> {
    let inner = inner(site)?;
    let text = site.part(&inner);
    let words = words_of(text);
    ["y", "z", "s", "t", "u", "before"]
        .into_iter()
        .find(|name| !words.iter().any(|word| text[word.clone()] == **name))
}

fn before(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    hoist(site, free(site)?)
}

/// Moves calls after a reduction out of the chain; computes a reduction in the middle before the chain.
fn reduction(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, _) = site.method()?;
    let (inner, bars) = (inner(site)?, bars(site)?);
    let body = bars.end + 1..inner.end;
    let start = body.start + site.part(&body).len() - site.part(&body).trim_start().len();
    if start == call.whole.start {
        let tail = call.whole.end..inner.end;
        let text = site.part(&tail);
        text.starts_with('.').then_some(())?;
        return Some(vec![
            Edit::remove(tail.clone()),
            Edit::insert(inner.end + 1, text),
        ]);
    }
    hoist(site, free(site)?)
}

/// Writes braces around a run-time number, and declares a tensor between the bars.
fn braces(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let name = holes[0];
    let binding = site.source.binding(name, site.at.start)?;
    let number = |part: &Part| {
        is_number(
            site.part(part)
                .trim_end_matches(|c: char| c == '_' || c.is_alphanumeric()),
        )
    };
    let init = binding.init.as_ref()?;
    if is_number(site.part(init)) || number(init) {
        return site.write(format!("{{ {name} }}"));
    }
    site.source.dims_of(&site.at)?;
    Some(vec![Edit::insert(bars(site)?.end, format!(", {name}"))])
}

/// Substitutes a named number in its uses.
fn inline(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let holes = matches("let {} = {};", site.text())?;
    let (name, number) = (holes[0].trim(), holes[1].trim());
    let rest = site.at.end..inner(site)?.end;
    let text = site.part(&rest);
    let space = text.len() - text.trim_start().len();
    let mut edits = vec![Edit::remove(site.at.start..site.at.end + space)];
    for word in words_of(text) {
        if text[word.clone()] == *name {
            edits.push(Edit::new(
                rest.start + word.start..rest.start + word.end,
                number,
            ));
        }
    }
    Some(edits)
}
