//! Operands whose dims do not match.

use super::text;
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, matches, tuple};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    sure(
        "dim `{}` and dim `{}` are at the same position from the right but do not match",
        aligned,
    ),
    sure(
        "float targets are a probability for each class, but dims {} are not dims {}",
        class_numbers,
    ),
    guess("the result has dims {}, which dims {} cannot hold", anew),
    guess(
        "a result of dtype `{}` cannot be stored in a tensor of dtype `{}`",
        anew_of_complex,
    ),
    sure("matmul needs at least one dim on each side", times),
    guess("`{}` is no probability for dims {}", probability),
    sure(
        "a sparse tensor with dims {} cannot be multiplied by `{}`",
        dense,
    ),
];

/// Returns the two operands: those of the operator, or the arguments of a call that have these
/// dims.
fn operands(site: &Site<'_>, left: &[String], right: &[String]) -> Option<(Part, Part)> {
    if let Some(binary) = site.source.binary(&site.at) {
        return Some((binary.left.clone(), binary.right.clone()));
    }
    let call = site.call()?;
    let parts = call.receiver.iter().chain(&call.args);
    let parts: Vec<Part> = parts.flat_map(|part| site.elements(part)).collect();
    // An argument that names a dim is not an operand.
    let declared = site.source.declared();
    let parts: Vec<Part> = parts
        .into_iter()
        .filter(|part| !declared.iter().any(|dim| dim == site.part(part)))
        .collect();
    let known = |dims: &[String]| {
        parts
            .iter()
            .position(|part| site.source.dims_of(part).as_deref() == Some(dims))
    };
    let right = known(right).unwrap_or(parts.len().checked_sub(1)?);
    let left = known(left)
        .filter(|left| *left != right)
        .unwrap_or_default();
    (left != right).then(|| (parts[left].clone(), parts[right].clone()))
}

/// Converts the first argument, the targets of a loss, to class numbers.
fn class_numbers(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    Some(site.then(site.call()?.args.first()?, "long()"))
}

/// Applies the suggestion of the label, with the operands for its `x` and `y`.
fn aligned(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let holes = matches(
        "cannot broadcast dims {} with dims {}; {}: `{}.{}`",
        site.message.label(),
    )?;
    let (left, right) = operands(site, &dims(holes[0]), &dims(holes[1]))?;
    let (moved, fixed, named) = match holes[3] {
        "x" => (&left, &right, "&y"),
        _ => (&right, &left, "&x"),
    };
    if site
        .source
        .macro_at(&site.at)
        .is_some_and(|m| m.name == "fuse")
    {
        return between_bars(site, moved, fixed, holes[4]);
    }
    if let Some(classes) = classes(site, &dims(holes[0]), &dims(holes[1])) {
        return Some(site.then(&classes, "long()"));
    }
    // The parameter of a user's function is fixed: the operand whose dims are known is renamed to
    // match.
    if site.helper().is_some()
        && site.source.dims_of(moved).is_none()
        && site.source.dims_of(fixed).is_some()
    {
        let renamed = matches("rename({}, {})", holes[4])?;
        return Some(site.then(fixed, &format!("rename({}, {})", renamed[1], renamed[0])));
    }
    let list = dims(if holes[3] == "x" { holes[1] } else { holes[0] });
    let other = site
        .source
        .variable(fixed, |found| found == list)
        .map_or_else(|| site.operand(fixed), |part| site.part(&part).to_owned());
    let advice = holes[4].replace(named, &format!("&{other}"));
    let call = format!("{}.{advice}", site.operand(moved));
    // In a call, the `&` before an argument stays.
    let Some(binary) = site.source.binary(&site.at) else {
        return Some(vec![Edit::new(site.source.bare(moved), call)]);
    };
    let mut edits = vec![Edit::new(moved.clone(), call)];
    // An operand passed by value would be moved before the other one is computed.
    let assigns = site.text().ends_with('=');
    let by_value = *moved == binary.right
        && !assigns
        && advice.contains('&')
        && site.part(&binary.left) == other
        && site
            .source
            .binding(&other, binary.left.start)
            .is_some_and(|b| b.init.is_some());
    if by_value {
        edits.push(Edit::insert(binary.left.start, "&"));
    }
    Some(edits)
}

/// Returns the targets of a cross entropy that lack the dim of the classes: classes, but floats, which are taken for
/// probabilities.
fn classes(site: &Site<'_>, scores: &[String], targets: &[String]) -> Option<Part> {
    let call = site.call()?;
    let [target, dim, ..] = &call.args[..] else {
        return None;
    };
    let mut rest = scores.to_vec();
    rest.retain(|name| name != site.part(dim));
    let name = site.name(call).trim_start_matches("try_");
    (name.starts_with("cross_entropy") && rest == targets).then(|| target.clone())
}

/// In `fuse!`, converts an operand in its declaration: `|x, b = b.align_as(&x)|`.
fn between_bars(site: &Site<'_>, moved: &Part, fixed: &Part, advice: &str) -> Option<Vec<Edit>> {
    let name = site.part(moved);
    let bar = bars(site)?;
    let place = site.named(&bar, name)?;
    let words = text::words_of(site.part(fixed));
    let other = &site.part(fixed)[words.first()?.clone()];
    let advice = advice
        .replace("&x", &format!("&{other}"))
        .replace("&y", &format!("&{other}"));
    Some(vec![Edit::insert(place.end, format!(" = {name}.{advice}"))])
}

/// Returns the text between the bars of the enclosing `fuse!`.
pub fn bars(site: &Site<'_>) -> Option<Part> {
    let found = site.source.macro_at(&site.at)?;
    let text = site.part(&found.inner);
    let start = text.find('|')? + 1;
    let end = start + text[start..].find('|')?;
    Some(found.inner.start + start..found.inner.start + end)
}

/// Stores a result that does not fit into a tensor in a new variable with the same name.
fn anew(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    if let Some(binary) = site.source.binary(&site.at) {
        let name = site.part(&binary.left);
        let op = site.text().strip_suffix('=')?;
        return Some(vec![
            Edit::insert(binary.left.start, format!("let {name} = &")),
            Edit::new(site.at.clone(), op),
        ]);
    }
    let (call, receiver) = site.method()?;
    let name = site.name(call).strip_suffix("_out")?;
    let (out, args) = call.args.split_last()?;
    let out = site.part(&site.source.bare(out));
    let args: Vec<&str> = args.iter().map(|arg| site.part(arg)).collect();
    let text = format!(
        "let {out} = {}.{name}({})",
        site.part(receiver),
        args.join(", ")
    );
    Some(vec![Edit::new(call.whole.clone(), text)])
}

fn anew_of_complex(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let out = site.source.binary(&site.at).is_none();
    (out || holes.first()?.contains("Complex")).then_some(())?;
    anew(site, holes)
}

/// Multiplies by a zero-dim tensor like by a number.
fn times(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let text = format!(
        "&{} * &{}",
        site.operand(receiver),
        site.operand(call.args.first()?)
    );
    Some(vec![Edit::new(call.whole.clone(), text)])
}

fn probability(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let arg = call.args.first()?;
    if holes[0] == "{integer}" {
        return Some(vec![Edit::insert(arg.end, ".0")]);
    }
    let (own, wanted) = (site.source.dims_of(arg)?, dims(holes[1]));
    let method = if own.iter().all(|dim| wanted.contains(dim)) {
        format!("align_as(&{})", site.part(receiver))
    } else if own.len() <= wanted.len() {
        let same = wanted[wanted.len() - own.len()..].to_vec();
        renaming(&own, &same)?
    } else {
        return None;
    };
    Some(site.then(arg, &method))
}

/// Returns `rename(..)` of the dims in which two lists differ.
pub fn renaming(from: &[String], to: &[String]) -> Option<String> {
    let (old, new): (Vec<String>, Vec<String>) = from
        .iter()
        .zip(to)
        .filter(|(a, b)| a != b)
        .map(|(a, b)| (crate::message::value(a), crate::message::value(b)))
        .unzip();
    let known = |list: &[String]| !list.iter().any(|dim| dim == "_" || dim == "Wild");
    (from.len() == to.len() && !old.is_empty() && known(&old) && known(&new)).then(|| {
        match (&old[..], &new[..]) {
            ([old], [new]) => format!("rename({old}, {new})"),
            _ => format!("rename({}, {})", tuple(&old), tuple(&new)),
        }
    })
}

fn dense(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (_, receiver) = site.method()?;
    Some(site.then(receiver, "to_dense()"))
}
