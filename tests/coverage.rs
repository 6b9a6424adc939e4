//! Checks the operator table for completeness: it holds all of PyTorch's coverage page of named tensors
//! (`tests/data/coverage.csv`), and every operator beyond that page has recorded cases.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_by_name::{Form, parse};
use nomina_core::op::{Class, Forms, NameRule, Op, Row, Status};

/// Operators with fewer than eight recorded cases: three have no arguments to vary; the first recording of the other
/// two has seven.
const FEW: [&str; 5] = ["seed", "initial_seed", "im2col", "arange", "logsigmoid"];

fn text(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the rows of the page: the spellings and the rule of each.
fn page() -> Vec<(Vec<String>, String)> {
    let text = text("data/coverage.csv");
    let line = |line: &str| {
        let (spellings, rule) = line.split_once(',').expect("two columns");
        let spellings = spellings.split(' ').map(full).collect();
        (spellings, rule.trim().to_owned())
    };
    text.lines().skip(1).map(line).collect()
}

/// Expands `Tensor.abs` to `torch.Tensor.abs`.
fn full(spelling: &str) -> String {
    match spelling.strip_prefix("torch.") {
        Some(_) => spelling.to_owned(),
        None => format!("torch.{spelling}"),
    }
}

fn has(row: &Row, form: Form) -> bool {
    row.forms.contains(match form {
        Form::Function => Forms::FUNCTION,
        Form::Method => Forms::METHOD,
        Form::InPlace => Forms::IN_PLACE,
        Form::Out => Forms::OUT,
    })
}

/// Returns whether the page's rule for an operator agrees with its row.
fn fits(rule: &str, row: &Row, form: Form) -> bool {
    use NameRule::{
        Compose, Contracts, Factory, InPlace, Keeps, Permutes, Removes, SameShape, Special, Unifies,
    };
    let any = |rules: &[NameRule]| rules.contains(&row.rule);
    match rule {
        // A mask or the parameters of two distributions unify with the input, which then keeps its names; `expand` adds
        // dims to the ones it keeps.
        "keeps_input_names" => {
            any(&[Keeps])
                || (matches!(row.name, "masked_fill" | "normal" | "clamp") && any(&[Unifies]))
                || (matches!(row.name, "expand" | "masked_fill") && any(&[Special]))
        }
        "unifies_names_from_inputs" => any(&[Unifies]),
        "contracts_away_dims" => any(&[Contracts, Compose]),
        // One dim of the result of `topk` differs in size only.
        "removes_dimensions" => any(&[Removes]) || (row.name == "topk" && any(&[Keeps])),
        "permutes_dimensions" => any(&[Permutes]),
        "factory" => any(&[Factory]) || (row.name.ends_with("_like") && any(&[Keeps])),
        "out_function_semantics" => any(&[InPlace]),
        "Only allow resizes that do not change shape" => any(&[SameShape]),
        "Aligns mask up to input and then unifies_names_from_input_tensors" => any(&[Special]),
        "See documentation" => {
            any(&[Special, Permutes]) || (row.class == Class::Query && any(&[NameRule::None]))
        }
        // The page says "None" for queries, for writes to `self`, and for three rows that do have a rule.
        "None" => {
            row.class == Class::Query
                || any(&[NameRule::None])
                || (form == Form::InPlace && any(&[Keeps, InPlace, Special, Unifies]))
                || (matches!(row.name, "all" | "any") && any(&[Removes]))
                || (row.name == "dot" && any(&[Contracts]))
        }
        _ => false,
    }
}

#[test]
fn the_whole_coverage_page_is_there() {
    let mut faults = Vec::new();
    let mut there = 0;
    for (spellings, rule) in page() {
        let before = faults.len();
        for spelling in &spellings {
            let Some((op, form)) = parse(spelling) else {
                faults.push(format!("{spelling}: the table lacks it"));
                continue;
            };
            let row = op.row();
            if !has(row, form) {
                faults.push(format!("{spelling}: the row lacks the form {form:?}"));
            }
            if !fits(&rule, row, form) {
                faults.push(format!(
                    "{spelling}: {rule} on the page, {:?} in the table",
                    row.rule
                ));
            }
            match row.status {
                Status::Built | Status::Part => {}
                Status::PythonOnly(instead) => {
                    if instead.is_empty() {
                        faults.push(format!("{spelling}: Python's alone, for no reason given"));
                    }
                }
            }
        }
        if faults.len() == before {
            there += 1;
        }
    }
    assert!(faults.is_empty(), "{there} of 215\n{}", faults.join("\n"));
    assert_eq!(there, 215);
}

/// Counts the recorded cases of each operator.
fn recorded() -> BTreeMap<Op, usize> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let beyond = std::fs::read_dir(data.join("beyond")).into_iter().flatten();
    let beyond = beyond.flatten().map(|entry| entry.path());
    let mut counts = BTreeMap::new();
    for file in beyond.chain([data.join("cases.jsonl")]) {
        let text = std::fs::read_to_string(file).expect("a readable file of cases");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
            let spelling = case["op"].as_str().unwrap_or_default();
            if let Some((op, _)) = parse(spelling) {
                *counts.entry(op).or_default() += 1;
            }
        }
    }
    counts
}

#[test]
fn what_is_beyond_the_page_is_recorded() {
    let page: Vec<Op> = page()
        .into_iter()
        .flat_map(|(spellings, _)| spellings)
        .filter_map(|spelling| Some(parse(&spelling)?.0))
        .collect();
    let counts = recorded();
    let faults: Vec<String> = Op::ALL
        .iter()
        .filter(|&op| {
            let row = op.row();
            let asks = row.status == Status::Built && row.class != Class::Query;
            asks && row.is_recorded() && row.reference.is_empty() && !page.contains(op)
        })
        .map(|op| (op.name(), counts.get(op).copied().unwrap_or(0)))
        .filter(|&(name, count)| count < 8 && !FEW.contains(&name))
        .map(|(name, count)| format!("{name}: {count} recorded cases, not 8"))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
