//! Sizes: constant, missing or superfluous ones.

use super::text::{closing, items};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, tuple, value};
use crate::source::is_name;

pub const RULES: &[Rule] = &[
    sure("`{}` is not a list of dims", one_dim),
    sure("dim `{}` has a constant size already", constant),
    sure(
        "dim `{}` has a constant size, so this operation cannot change it",
        renamed,
    ),
    sure("`{}` is not a dim with a size", own_size),
    guess("`{}` is not a shape for dims {}", shape),
    guess("`{}` does not say how often dims {} repeat", fewer),
    sure("dims {} have {} elements, and dim `{}` has {}", product),
    guess("`{}` is not a list of {} dims", count),
];

/// Replaces a single dim by a tuple of it.
fn one_dim(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    is_name(holes[0]).then_some(())?;
    let at = site.text().find(&format!("<{}>", holes[0]))? + 1;
    let start = site.at.start + at;
    Some(vec![Edit::new(
        start..start + holes[0].len(),
        format!("({},)", holes[0]),
    )])
}

fn constant(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    if site.call().is_some_and(|call| site.name(call) == "repeat") {
        return renamed(site, holes);
    }
    let rest = &site.source.text[site.at.start..];
    let of = rest.find(".of(")?;
    (rest[..of].trim().ends_with(holes[0])).then_some(())?;
    let end = of + 3 + closing(&rest[of + 3..])?;
    Some(vec![Edit::remove(site.at.start + of..site.at.start + end)])
}

/// Renames a dim whose size changes.
fn renamed(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let dim = holes[0];
    let call = site.call()?;
    let tensors = match &call.receiver {
        Some(receiver) => vec![receiver.clone()],
        None => site.elements(call.args.first()?),
    };
    let mut taken = vec![dim.to_owned()];
    for tensor in &tensors {
        taken.extend(site.source.dims_of(tensor)?);
    }
    let (new, mut edits) = site.fresh(&taken, dim)?;
    for tensor in &tensors {
        edits.extend(site.then(tensor, &format!("rename({dim}, {new})")));
    }
    let place = call
        .args
        .iter()
        .rev()
        .find_map(|arg| site.named(arg, dim))?;
    edits.push(Edit::new(place, new));
    Some(edits)
}

/// Gives a dim the size that the tensor has.
fn own_size(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let known = site.source.dims_of(receiver)?;
    let name = site.part(&site.source.bare(receiver));
    let parts = site.elements(call.args.last()?);
    let edits = parts.into_iter().map(|part| {
        let dim = site.part(&part);
        known
            .iter()
            .any(|known| known == dim)
            .then(|| Edit::insert(part.end, format!(".of({name}.size({dim}))")))
    });
    edits.collect()
}

fn shape(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    if holes[0] == "{integer}" {
        return site.write(format!("[{}]", site.text()));
    }
    let sizes = items(site.text())?;
    if !site.text().starts_with('[') {
        return None;
    }
    if holes[1] == "_" {
        // The dims are not named: use the first declared ones.
        let call = site.call()?;
        let declared = site.source.declared();
        let list = declared.get(..sizes.len())?;
        let head = site.source.text[..call.name.start].strip_suffix("::")?;
        return Some(vec![Edit::insert(
            head.len(),
            format!("::<{}>", tuple(list)),
        )]);
    }
    let wanted = dims(holes[1]).len();
    let mut kept: Vec<&str> = sizes.into_iter().take(wanted).collect();
    // An additional size of 1 keeps the number of elements.
    kept.resize(wanted, "1");
    site.write(format!("[{}]", kept.join(", ")))
}

fn fewer(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let counts = items(site.text())?;
    let wanted = dims(holes[1]).len();
    let kept = counts.get(..wanted)?;
    site.write(format!("[{}]", kept.join(", ")))
}

/// Replaces the declared size of a dim by the product of the others.
fn product(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let sizes: Option<Vec<usize>> = holes[1]
        .split(" * ")
        .map(|size| size.parse().ok())
        .collect();
    let product: usize = sizes?.iter().product();
    let macros = site.source.found.macros.iter().filter(|m| m.name == "dims");
    for found in macros {
        let text = site.part(&found.inner);
        let item = format!("{} = {}", holes[2], holes[3]);
        if let Some(at) = text.find(&item) {
            let start = found.inner.start + at + item.len() - holes[3].len();
            return Some(vec![Edit::new(
                start..start + holes[3].len(),
                product.to_string(),
            )]);
        }
    }
    None
}

/// Adjusts the number of dims to that of a window operator.
fn count(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let wanted: usize = holes[1].parse().ok()?;
    if holes[0] == "RangeFull" {
        let known = site.source.dims_of(receiver)?;
        let last = known.len().checked_sub(wanted)?;
        let last: Vec<String> = known[last..].iter().map(|dim| value(dim)).collect();
        return site.write(tuple(&last));
    }
    let given = dims(holes[0]).len();
    let name = site.name(call).strip_suffix(&format!("{wanted}d"))?;
    let numbers = call.args.last()?;
    let one = items(site.part(numbers))?;
    let [one] = one[..] else { return None };
    Some(vec![
        Edit::new(call.name.clone(), format!("{name}{given}d")),
        Edit::new(
            numbers.clone(),
            format!("[{}]", vec![one; given].join(", ")),
        ),
    ])
}
