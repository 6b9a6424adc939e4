//! Calls with less type information, and their outcomes.

use nomina::Names;
use nomina_by_name::Value;
use nomina_core::op::Op;

use crate::draw::Draw;
use crate::generated_crate::Krate;
use crate::program::{self, by_case};
use crate::select::{Recorded, tensors_in};
use crate::translate::{self, Translated};
use crate::words::dims;

/// A run-time name that differs from the recorded one: an operand, counted as in [`Declare`](translate::Declare), its
/// dim, and the name.
type Instead = (usize, usize, Option<String>);

/// A recorded call with some dims replaced by `Wild`.
pub struct Veiled<'a> {
    pub recorded: &'a Recorded,
    pub op: Op,
    /// The typed call.
    pub code: String,
    pub instead: Vec<Instead>,
}

/// Draws the dims that become `Wild`; `None` if the call has no typed form or no dims.
pub fn draw<'a>(recorded: &'a Recorded, draw: &mut Draw) -> Option<Veiled<'a>> {
    let (op, _) = nomina_by_name::parse(&recorded.case.op)?;
    let case = &recorded.case;
    if by_names_it_has(op, &case.args) {
        return None;
    }
    let (mut tensors, mut outs) = (Vec::new(), Vec::new());
    let args = case.args.iter();
    args.for_each(|arg| tensors_in(arg, &mut tensors));
    for (name, arg) in &case.kwargs {
        let is_out = name == "out";
        tensors_in(arg, if is_out { &mut outs } else { &mut tensors });
    }
    let sparse = case.args.iter().filter_map(|arg| match arg {
        Value::Sparse(x) => Some(x.names().clone()),
        _ => None,
    });
    let dense = tensors.into_iter().chain(outs).map(|x| x.names().clone());
    let mut known: Vec<Names> = dense.chain(sparse).collect();
    if known.iter().all(|names| names.is_empty()) {
        return None;
    }
    let all: Vec<String> = known
        .iter()
        .flat_map(|names| names.iter().flatten().map(ToString::to_string))
        .collect();
    let mut instead = Vec::new();
    let often = [20, 50, 100][draw.below(3)];
    loop {
        for (k, names) in known.iter_mut().enumerate() {
            let mut own: Vec<Option<String>> = names
                .iter()
                .map(|name| name.as_ref().map(ToString::to_string))
                .collect();
            for dim in 0..names.len() {
                if names[dim].is_none() || !draw.chance(often) {
                    continue;
                }
                names[dim] = None;
                let other = Some(all[draw.below(all.len())].clone());
                match draw.below(10) {
                    0..4 => own[dim] = None,
                    // A name other than the recorded one, which may not match anything.
                    4 if !own.contains(&other) => own[dim] = other,
                    _ => continue,
                }
                instead.push((k, dim, own[dim].clone()));
            }
        }
        if !known.iter().all(Names::fully_named) {
            break;
        }
    }
    match translate::case_of(case, &|k, _| dims(&known[k])) {
        Translated::Call(code) => Some(Veiled {
            recorded,
            op,
            code,
            instead,
        }),
        Translated::Inexpressible(_) | Translated::Missing(_) => None,
    }
}

/// Returns whether the typed form of a call is more explicit than the dynamic one: `rename(.., (A, B))` writes out the
/// unchanged names.
fn by_names_it_has(op: Op, args: &[Value]) -> bool {
    let ellipsis = |arg: &Value| match arg {
        Value::List(items) => items.iter().any(|item| matches!(item, Value::Ellipsis)),
        arg => matches!(arg, Value::Ellipsis),
    };
    op == Op::Rename && args.iter().any(ellipsis)
}

/// The outcomes of all calls.
#[derive(Default)]
pub struct Outcome {
    pub refused: usize,
    /// Calls that turn out to have no typed form.
    pub misspelled: usize,
    pub errors: usize,
    pub results: usize,
    pub wrong: Vec<String>,
}

impl Outcome {
    /// Counts a program's output for the calls that compile.
    pub fn told(&mut self, lines: Vec<String>, shown: impl Fn(usize) -> String) {
        for line in lines {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "result" => self.results += 1,
                "error" => self.errors += 1,
                _ => {
                    let (at, what) = rest.split_once(' ').unwrap_or_default();
                    let at = at.parse().expect("a line of the program's");
                    self.wrong.push(format!("{}: {what}", shown(at)));
                }
            }
        }
    }
}

/// Compiles the calls, runs the ones that compile together with the dynamic calls, and compares.
pub fn run(calls: &[Veiled<'_>]) -> Outcome {
    let krate = Krate::new("wild_everywhere");
    let mut outcome = Outcome::default();
    let mut left: Vec<&Veiled<'_>> = calls.iter().collect();
    // Some errors stop rustc before it finds others, so repeat.
    loop {
        let head = write(&krate, &left);
        let mut refused = by_case(krate.build(), head, left.len());
        if refused.is_empty() {
            break;
        }
        let misspelled = refused.values().filter(|text| is_misspelled(text)).count();
        outcome.misspelled += misspelled;
        outcome.refused += refused.len() - misspelled;
        let mut i = 0;
        left.retain(|one| {
            let said = refused.remove(&i);
            i += 1;
            if let Some(text) = said
                .as_ref()
                .filter(|text| !is_ours(text) && !is_misspelled(text))
            {
                outcome
                    .wrong
                    .push(format!("{}: rustc says: {text}", shown(one)));
            }
            said.is_none()
        });
    }
    outcome.told(program::run(&krate), |at| shown(left[at]));
    outcome
}

fn shown(one: &Veiled<'_>) -> String {
    let Veiled {
        recorded,
        code,
        instead,
        ..
    } = one;
    format!(
        "{}, at run time {instead:?}\n    {code}\n    ",
        recorded.case.id
    )
}

/// Returns whether an error is written for users: about dims, without rustc's default text for traits.
pub fn is_ours(text: &str) -> bool {
    const RUSTC: [&str; 3] = [
        "the trait bound",
        "type annotations needed",
        "is not implemented for",
    ];
    RUSTC.iter().all(|words| !text.contains(words)) && !is_misspelled(text)
}

/// Returns whether the typed call does not exist: a recorded call that PyTorch rejects may have no typed form.
fn is_misspelled(text: &str) -> bool {
    const WORDS: [&str; 4] = [
        "no method named",
        "cannot find",
        "mismatched types",
        "supplied",
    ];
    WORDS.iter().any(|words| text.contains(words))
}

fn write(krate: &Krate, calls: &[&Veiled<'_>]) -> usize {
    let written: Vec<program::Written<'_>> = calls
        .iter()
        .map(|one| (one.recorded, one.code.clone()))
        .collect();
    let mut source = program::head(&written);
    let head = source.lines().count();
    for (i, one) in calls.iter().enumerate() {
        source += &format!(
            "fn case_{i}(input: &Input) -> Result<Value> {{ {} }}\n",
            one.code
        );
    }
    source += "pub const CALLS: &[prelude::Veiled] = &[\n";
    for (i, one) in calls.iter().enumerate() {
        let (file, line) = (&one.recorded.file, one.recorded.line);
        source += &format!("({file:?}, {line}, &{:?}, case_{i}),\n", one.instead);
    }
    source += "];\nfn main() { prelude::both(CALLS) }\n";
    krate.write("main.rs", &source);
    let prelude = [
        include_str!("../typed_cases/prelude.in"),
        include_str!("both.in"),
    ];
    krate.write("prelude.rs", &prelude.concat());
    program::copy_parts(krate);
    head
}
