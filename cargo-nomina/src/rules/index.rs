//! Indices, and operators that tensors have only as methods.

use super::text::{is_number, items};
use super::{Rule, Site, guess, sure};
use crate::edit::Edit;
use crate::message::{dims, value};
use crate::source::Part;

pub const RULES: &[Rule] = &[
    sure("brackets do not index a tensor", brackets),
    sure(
        "binary operation `{}` cannot be applied to type `{}`",
        compared,
    ),
    sure("cannot apply unary operator `{}` to type `{}`", negated),
    sure("cannot {} `{}` to `{}`", dynamic),
    sure("`{integer}` is not a range", range),
    guess("`{integer}` takes no step", from_there),
    guess("`nomina::dims::Step<{}>` takes no step", one_step),
    guess("`{}` is not made of numbers and ranges", fill),
    sure("`{}` is not a whole number", narrow),
];

fn is_tensor(ty: &str) -> bool {
    ty.contains("nomina::Tensor<") || ty.contains("nomina::DynTensor")
}

fn brackets(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let note = site.message.note("required for `nomina::Tensor<(")?;
    let (_, list) = note.message.split_once("Tensor<")?;
    let list = dims(list.split_once(')')?.0);
    let brackets = &site.source.found.brackets;
    let (base, index) = brackets.iter().find(|(_, index)| *index == site.at)?;
    let end = index.end + site.source.text[index.end..].find(']')? + 1;
    let text = match items(site.part(index)) {
        None => format!("at({}.i({}))", value(list.first()?), site.part(index)),
        Some(given) => {
            (given.len() == list.len()).then_some(())?;
            let given = given.iter().zip(&list);
            let given: Vec<String> = given
                .map(|(i, dim)| format!("{}.i({i})", value(dim)))
                .collect();
            format!("get(({}))", given.join(", "))
        }
    };
    Some(vec![Edit::new(base.end..end, format!(".{text}"))])
}

fn compared(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    is_tensor(holes[1]).then_some(())?;
    let binary = site.source.binary(&site.at)?;
    let left = site.operand(&binary.left);
    let right = site.part(&binary.right);
    let by_value = site.source.binding(right, site.at.start).is_some();
    let right = if by_value {
        format!("&{right}")
    } else {
        right.to_owned()
    };
    let text = match holes[0] {
        "==" => format!("{left}.equal({right})"),
        "!=" => format!("!{left}.equal({right})"),
        "<" => format!("{left}.lt({right})"),
        "<=" => format!("{left}.le({right})"),
        ">" => format!("{left}.gt({right})"),
        ">=" => format!("{left}.ge({right})"),
        _ => return None,
    };
    Some(vec![Edit::new(binary.left.start..binary.right.end, text)])
}

fn negated(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    (is_tensor(holes[1]) && holes[1].contains("bool")).then_some(())?;
    let operand = site.at.start + 1..site.at.end;
    site.write(format!("{}.logical_not()", site.operand(&operand)))
}

/// Replaces an operator on two `DynTensor`s by a method.
fn dynamic(site: &Site<'_>, holes: &[&str]) -> Option<Vec<Edit>> {
    (holes.iter().filter(|ty| ty.contains("DynTensor")).count() == 2).then_some(())?;
    let binary = site.source.binary(&site.at)?;
    let text = format!(
        "{}.{}(&{}).unwrap()",
        site.operand(&binary.left),
        holes[0],
        site.operand(&binary.right)
    );
    Some(vec![Edit::new(binary.left.start..binary.right.end, text)])
}

/// Returns the argument of `C.i(1)`, if it is a literal number.
fn literal(site: &Site<'_>, around: &Part) -> Option<(Part, usize)> {
    let calls = site.source.found.calls.iter();
    let mut inner = calls.filter(|call| {
        around.start <= call.whole.start && call.whole.end <= around.end && site.name(call) == "i"
    });
    let arg = inner.next()?.args.first()?.clone();
    let number = site.part(&arg).parse().ok()?;
    Some((arg, number))
}

fn range(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (arg, number) = literal(site, &site.at)?;
    Some(vec![Edit::new(
        arg,
        format!("{number}..{}", number.checked_add(1)?),
    )])
}

fn from_there(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (_, receiver) = site.method()?;
    let (arg, _) = literal(site, receiver)?;
    Some(vec![Edit::insert(arg.end, "..")])
}

/// Replaces two steps by their product.
fn one_step(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (second, receiver) = site.method()?;
    let first = site
        .source
        .found
        .calls
        .iter()
        .find(|call| call.whole == *receiver)?;
    let number = |part: Option<&Part>| site.part(part?).parse::<usize>().ok();
    let step = number(first.args.first())?.checked_mul(number(second.args.first())?)?;
    Some(vec![
        Edit::new(first.args.first()?.clone(), step.to_string()),
        Edit::remove(first.whole.end..second.whole.end),
    ])
}

/// Replaces `x.at_mut((C.i(&ids),)).fill_(v)` by `x.index_fill_(C, &ids, v)`.
fn fill(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let (call, receiver) = site.method()?;
    let outer = site.source.found.calls.iter().find(|outer| {
        outer.receiver.as_ref() == Some(&call.whole) && site.name(outer) == "fill_"
    })?;
    let [item] = &items(site.part(call.args.first()?))?[..] else {
        return None;
    };
    let (dim, ids) = item.strip_suffix(')')?.split_once(".i(")?;
    let number = site.part(outer.args.first()?);
    let text = format!(
        "{}.index_fill_({dim}, {ids}, {number})",
        site.part(receiver)
    );
    Some(vec![Edit::new(outer.whole.clone(), text)])
}

fn narrow(site: &Site<'_>, _: &[&str]) -> Option<Vec<Edit>> {
    let call = site.call()?;
    let range = call.args.get(1)?;
    let (start, end) = site.part(range).split_once("..")?;
    let literal = |text: &str| text.is_empty() || is_number(text.trim_start_matches('='));
    (site.name(call) == "select" && literal(start) && literal(end)).then_some(())?;
    Some(vec![Edit::new(call.name.clone(), "narrow")])
}
