//! The generated crates.

use std::collections::{BTreeMap, BTreeSet};

use crate::generated_crate::{Krate, Mistake, root};
use crate::select::{Recorded, tensors_in};
use crate::words::is_ident;

/// A case and its body.
pub type Written<'a> = (&'a Recorded, String);

/// Returns the head of a program, with one item per line, so that each case has a line of its own.
pub fn head(cases: &[Written<'_>]) -> String {
    let mut names = BTreeSet::new();
    for (recorded, code) in cases {
        let mut tensors = Vec::new();
        let case = &recorded.case;
        case.args
            .iter()
            .for_each(|arg| tensors_in(arg, &mut tensors));
        case.kwargs
            .iter()
            .for_each(|(_, arg)| tensors_in(arg, &mut tensors));
        let of_tensors = tensors.iter().flat_map(|x| x.names().iter().flatten());
        names.extend(of_tensors.map(ToString::to_string));
        // Names used as arguments, which may be declared nowhere else.
        for arg in case
            .args
            .iter()
            .chain(case.kwargs.iter().map(|(_, arg)| arg))
        {
            words_in(arg, &mut names);
        }
        let keys = case.kwargs.iter().map(|(key, _)| key.clone());
        names.extend(keys.filter(|key| {
            code.contains(&format!("({key},")) || code.contains(&format!(" {key},"))
        }));
    }
    let names: Vec<String> = names.into_iter().filter(|name| is_ident(name)).collect();
    format!(
        "#![allow(unused, non_snake_case, non_camel_case_types, dead_code)]\nmod prelude; mod case; mod compare;\n\
         use prelude::*;\ndims! {{ {} }}\n",
        names.join(", ")
    )
}

fn words_in(value: &nomina_by_name::Value, names: &mut BTreeSet<String>) {
    use nomina_by_name::Value;
    match value {
        Value::Str(text) => {
            names.insert(text.clone());
        }
        Value::List(items) => items.iter().for_each(|item| words_in(item, names)),
        Value::Dict(pairs) => pairs.iter().for_each(|(key, value)| {
            words_in(key, names);
            words_in(value, names);
        }),
        _ => {}
    }
}

fn write(krate: &Krate, cases: &[Written<'_>]) -> usize {
    let mut source = head(cases);
    let head = source.lines().count();
    for (i, (_, code)) in cases.iter().enumerate() {
        source += &format!("fn case_{i}(input: &Input) -> Result<Value> {{ {code} }}\n");
    }
    source += "pub const CASES: &[(&str, usize, fn(&Input) -> Result<Value>)] = &[\n";
    for (i, (recorded, _)) in cases.iter().enumerate() {
        source += &format!("({:?}, {}, case_{i}),\n", recorded.file, recorded.line);
    }
    source += "];\nfn main() { prelude::run(CASES) }\n";
    krate.write("main.rs", &source);
    krate.write("prelude.rs", include_str!("prelude.in"));
    copy_parts(krate);
    head
}

/// Copies the modules that the programs share with the conformance test.
pub fn copy_parts(krate: &Krate) {
    for file in ["case", "compare"] {
        let from = root()
            .join("tests/conformance")
            .join(file)
            .with_extension("rs");
        let text = std::fs::read_to_string(from).expect("a file of the conformance test");
        krate.write(&format!("{file}.rs"), &text);
    }
}

/// Returns the cases that compile although they should not.
pub fn compiling(cases: &[Written<'_>]) -> Vec<String> {
    let krate = Krate::new("typed_cases_wrong");
    let mut left: Vec<Written<'_>> = cases.to_vec();
    // An unresolved name stops rustc before type checking, so repeat without those cases.
    loop {
        let failing = check(&krate, &left);
        if failing.is_empty() {
            let shown = left
                .iter()
                .map(|(one, code)| format!("{}: {code}", one.case.id));
            return shown.collect();
        }
        let numbered = left.into_iter().enumerate();
        left = numbered
            .filter(|(i, _)| !failing.contains_key(i))
            .map(|(_, one)| one)
            .collect();
    }
}

/// Returns the errors of the cases that do not compile.
fn check(krate: &Krate, cases: &[Written<'_>]) -> BTreeMap<usize, String> {
    let head = write(krate, cases);
    by_case(krate.build(), head, cases.len())
}

pub fn by_case(mistakes: Vec<Mistake>, head: usize, count: usize) -> BTreeMap<usize, String> {
    let mut failing = BTreeMap::new();
    for mistake in mistakes {
        let at = mistake.line.checked_sub(head + 1);
        match at.filter(|at| *at < count) {
            Some(at) => {
                failing.entry(at).or_insert(mistake.text);
            }
            None => panic!("the crate itself does not compile: {}", mistake.text),
        }
    }
    failing
}

/// Returns the cases that do not compile, or do not give the recorded result.
pub fn failing(cases: &[Written<'_>]) -> Vec<String> {
    let (results, errors): (Vec<_>, Vec<_>) =
        cases.iter().cloned().partition(|(one, _)| one.is_result());
    // One thread per run of rustc.
    std::thread::scope(|scope| {
        let results = scope.spawn(|| {
            let (mut told, broken) = (Vec::new(), compiled("typed_cases", results));
            for (one, text) in broken.0 {
                told.push(format!("{}: {text}\n    {}", one.0.case.id, one.1));
            }
            told.extend(broken.1);
            told
        });
        // A case with wrong sizes or dtypes may fail to compile, but need not.
        let errors = compiled("typed_cases_errors", errors).1;
        let mut told = results.join().expect("a thread that does not panic");
        told.extend(errors);
        told
    })
}

/// Returns the cases that do not compile, and the output of the program of the others.
fn compiled<'a>(name: &str, cases: Vec<Written<'a>>) -> (Vec<(Written<'a>, String)>, Vec<String>) {
    let program = Krate::new(name);
    let mut broken = check(&program, &cases);
    let (mut left, mut told) = (Vec::new(), Vec::new());
    for (i, one) in cases.into_iter().enumerate() {
        match broken.remove(&i) {
            None => left.push(one),
            Some(text) => told.push((one, text)),
        }
    }
    if !told.is_empty() {
        let broken = check(&program, &left);
        assert!(broken.is_empty(), "{broken:?}");
    }
    (told, run(&program))
}

/// Returns the output of a program, without the final marker.
pub fn run(program: &Krate) -> Vec<String> {
    let output = program.run();
    let printed = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && printed.ends_with("done\n"),
        "the program failed: {printed}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = printed.lines().take_while(|line| *line != "done");
    lines.map(str::to_owned).collect()
}
