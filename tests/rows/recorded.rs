//! Recorded calls, grouped by row.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_by_name::{Form, Value};
use nomina_core::op::{self, Forms, Op};

use crate::case::{Case, Recorded, Wanted};

/// A recorded call with a result.
#[derive(Clone)]
pub struct Call {
    pub id: String,
    pub form: Form,
    pub args: Vec<Value>,
    pub kwargs: Vec<(String, Value)>,
    /// The names of each result tensor.
    pub names: Vec<Vec<Option<String>>>,
    #[allow(dead_code, reason = "not every test that reads calls asks")]
    pub random: bool,
}

/// Returns the calls of every row, those with a float tensor first, without calls with an out tensor. A row that
/// PyTorch lacks has the calls of the first operator in its reference with the same arguments.
pub fn by_row() -> BTreeMap<&'static str, Vec<Call>> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut files = vec![data.join("cases.jsonl")];
    let beyond = std::fs::read_dir(data.join("beyond")).into_iter().flatten();
    files.extend(beyond.flatten().map(|entry| entry.path()));
    files.sort();
    let mut calls: BTreeMap<&'static str, Vec<Call>> = BTreeMap::new();
    for file in files
        .iter()
        .filter(|file| file.extension().is_some_and(|kind| kind == "jsonl"))
    {
        let text = std::fs::read_to_string(file).expect("recorded cases");
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let case = Case::parse(line).expect("a recorded case");
            if let Some((row, call)) = call(case) {
                calls.entry(row).or_default().push(call);
            }
        }
    }
    for list in calls.values_mut() {
        // A call of floats can be converted to any dtype. Named dims and calls of the function itself test more than
        // its variants.
        list.sort_by_key(|call| {
            let floats = crate::inputs::principal(call).is_some_and(|dtype| dtype.is_float());
            (
                !floats,
                call.form == Form::InPlace,
                !call.names.iter().flatten().any(Option::is_some),
            )
        });
    }
    for row in op::rows().filter(|row| !row.reference.is_empty()) {
        let words = row
            .reference
            .split(|c: char| !c.is_alphanumeric() && c != '_');
        let mut named = words.filter_map(Op::from_name);
        let alike = named.find(|op| op.row().signature == row.signature);
        if let Some(borrowed) = alike.and_then(|op| calls.get(op.name())) {
            calls.insert(row.name, borrowed.clone());
        }
    }
    calls
}

fn call(case: Case) -> Option<(&'static str, Call)> {
    let Wanted::Result { value, random } = case.wanted else {
        return None;
    };
    if case.kwargs.iter().any(|(name, _)| name == "out") {
        return None;
    }
    // Sparse tensors are tested in their own files.
    let sparse = |arg: &Value| matches!(arg, Value::Sparse(_));
    if matches!(value, Recorded::Sparse(_)) || case.args.iter().any(sparse) {
        return None;
    }
    let (op, form) = nomina_by_name::parse(&case.op)?;
    let mut args = case.args;
    // `x.where(condition, y)` and `x.polygamma(n)`: use the row's order.
    if matches!(op.name(), "where" | "polygamma") && form != Form::Function && args.len() > 1 {
        args.swap(0, 1);
    }
    let mut names = Vec::new();
    names_in(&value, &mut names);
    // In place, a result must have the dtype of `self`, so call the function instead if there is one.
    let only_in_place = op.row().forms.contains(Forms::IN_PLACE_ONLY);
    let form = if only_in_place {
        Form::InPlace
    } else if form == Form::InPlace && !op.row().forms.contains(Forms::FUNCTION) {
        Form::Method
    } else {
        Form::Function
    };
    let call = Call {
        id: case.id,
        form,
        args,
        kwargs: case.kwargs,
        names,
        random,
    };
    Some((op.name(), call))
}

fn names_in(value: &Recorded, found: &mut Vec<Vec<Option<String>>>) {
    match value {
        Recorded::Tensor(x) => found.push(x.names.clone()),
        Recorded::List(items) => items.iter().for_each(|item| names_in(item, found)),
        Recorded::Sparse(_) | Recorded::Plain(_) => {}
    }
}
