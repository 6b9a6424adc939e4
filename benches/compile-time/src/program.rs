//! Writes a program of many operations.

use crate::draw::{MARKERS, NEW, Rng};
use crate::relation::{Line, Relation};

/// Whether names are known to rustc, or at run time only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Typed,
    Dynamic,
    /// Typed, with labels along every dim.
    Labelled,
    /// Typed, over a mesh with two axes, one of which splits a dim.
    Sharded,
}

pub struct Program {
    pub form: Form,
    /// Takes the operands but omits the operations.
    pub operands_only: bool,
    pub rank: usize,
    pub ops: usize,
}

/// The number of operations per function: a single giant function would measure the borrow checker.
const PER_FUNCTION: usize = 20;

impl Program {
    /// Writes the program that takes `relations` in turn. Operands are arguments, so that their
    /// creation is not measured; errors of a `DynTensor` are passed on by `?`.
    pub fn text(&self, relations: &[&Relation]) -> String {
        let mut rng = Rng::new(1);
        let markers = [&MARKERS[..], &NEW[..]].concat();
        let (markers, imports) = match self.form {
            Form::Labelled => (
                markers.join(": f64, pub ") + ": f64",
                "use nomina::Labelled;\n",
            ),
            _ => (markers.join(", pub "), ""),
        };
        let prelude = match self.form {
            Form::Sharded => "nomina_mesh",
            Form::Typed | Form::Labelled | Form::Dynamic => "nomina",
        };
        let mut text = format!(
            "//! Written by the compile-time bench.\n\
             #![allow(unused, missing_docs)]\n\
             use {prelude}::prelude::*;\n\
             use nomina::DynTensor;\n\
             {imports}\
             dims! {{ pub {markers} }}\n"
        );
        if self.form == Form::Sharded {
            text.push_str("mesh! { pub Grid: GridData, GridModel }\n");
        }
        let mut functions = Vec::new();
        for start in (0..self.ops).step_by(PER_FUNCTION) {
            let (mut arguments, mut body) = (String::new(), String::new());
            for i in start..self.ops.min(start + PER_FUNCTION) {
                let line = (relations[i % relations.len()].draw)(&mut rng, self.rank);
                self.operation(i, &line, &mut arguments, &mut body);
            }
            let (gives, end) = match self.form {
                Form::Typed | Form::Labelled | Form::Sharded => ("", ""),
                Form::Dynamic => (" -> Result<()>", "    Ok(())\n"),
            };
            text.push_str(&format!(
                "pub fn f{start}(\n{arguments}){gives} {{\n{body}{end}}}\n"
            ));
            functions.push(format!("    keep(f{start} as *const ());\n"));
        }
        // Unreachable functions would not be compiled to code.
        text.push_str("fn keep<T>(function: T) { std::hint::black_box(function); }\n");
        text.push_str(&format!("fn main() {{\n{}}}\n", functions.concat()));
        text
    }

    fn operation(&self, i: usize, line: &Line, arguments: &mut String, body: &mut String) {
        for (k, operand) in line.operands.iter().enumerate() {
            let tensor = match self.form {
                Form::Typed => format!("Tensor<{}, {}>", tuple(&operand.dims), operand.dtype),
                Form::Labelled => {
                    format!("Labelled<{}, {}>", tuple(&operand.dims), operand.dtype)
                }
                Form::Dynamic => "DynTensor".to_owned(),
                Form::Sharded => sharded(line, k),
            };
            let by = if operand.written { "&mut " } else { "&" };
            arguments.push_str(&format!("    {}{i}: {by}{tensor},\n", ["a", "b"][k]));
        }
        if self.operands_only {
            return;
        }
        let (call, passed) = match self.form {
            Form::Typed | Form::Labelled | Form::Sharded => (&line.typed, ""),
            Form::Dynamic => (&line.dynamic, "?"),
        };
        // Replace the placeholders of the operands.
        let call = call
            .replace("$a", &format!("a{i}"))
            .replace("$b", &format!("b{i}"));
        body.push_str(&format!("    let r{i} = {call}{passed};\n"));
    }
}

/// Returns the program with an additional line in the function in the middle; `n` makes each edit
/// different.
pub fn edited(text: &str, n: usize) -> String {
    let functions: Vec<usize> = text.match_indices("pub fn f").map(|(at, _)| at).collect();
    let middle = functions.get(functions.len() / 2).copied().unwrap_or(0);
    let Some(body) = text[middle..].find("{\n").map(|at| middle + at + 2) else {
        return text.to_owned();
    };
    format!("{}    let edit = {n};\n{}", &text[..body], &text[body..])
}

/// Returns the type of operand `k`: a dim that the call does not name is split in every operand
/// that has it.
fn sharded(line: &Line, k: usize) -> String {
    let named = |dim: &&&str| {
        let mut words = line.typed.split(|c: char| !c.is_alphanumeric());
        words.any(|word| word == **dim)
    };
    let split = line.operands[0].dims.iter().find(|dim| !named(dim));
    let operand = &line.operands[k];
    let state = match split.filter(|dim| operand.dims.contains(dim)) {
        Some(dim) => format!("Split<{dim}>"),
        None => "Whole".to_owned(),
    };
    format!(
        "Sharded<{}, Grid<{state}, Whole>, {}>",
        tuple(&operand.dims),
        operand.dtype
    )
}

/// Writes dims as a tuple, which is both a type and a value.
pub fn tuple(dims: &[&str]) -> String {
    match dims {
        [] => "()".to_owned(),
        [dim] => format!("({dim},)"),
        dims => format!("({})", dims.join(", ")),
    }
}

/// Writes dims as an array of string literals.
pub fn strings(dims: &[&str]) -> String {
    let quoted: Vec<String> = dims.iter().map(|dim| format!("\"{dim}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::RELATIONS;

    fn program(form: Form, operands_only: bool, ops: usize) -> Program {
        Program {
            form,
            operands_only,
            rank: 4,
            ops,
        }
    }

    #[test]
    fn every_relation_writes_as_many_operations_as_asked() {
        for relation in RELATIONS {
            for form in [Form::Typed, Form::Dynamic] {
                let text = program(form, false, 45).text(&[relation]);
                assert_eq!(text.matches("    let r").count(), 45, "{}", relation.name);
                assert_eq!(text.matches("pub fn f").count(), 3);
                assert_eq!(text.matches("keep(f").count(), 3);
                assert!(!text.contains('$'), "{}: {text}", relation.name);
                assert_eq!(text.matches('{').count(), text.matches('}').count());
            }
        }
    }

    #[test]
    fn the_program_of_operands_lacks_only_the_operations() {
        let relations: Vec<&Relation> = RELATIONS.iter().collect();
        let whole = program(Form::Typed, false, 60).text(&relations);
        let rest: Vec<&str> = whole
            .lines()
            .filter(|line| !line.starts_with("    let r"))
            .collect();
        let operands = program(Form::Typed, true, 60).text(&relations);
        assert_eq!(rest, operands.lines().collect::<Vec<_>>());
    }

    #[test]
    fn both_forms_do_the_same_operations() {
        let relations: Vec<&Relation> = RELATIONS.iter().collect();
        let names = |form| -> Vec<String> {
            let text = program(form, true, 60).text(&relations);
            let arguments = text.lines().filter(|line| line.ends_with(','));
            arguments
                .filter_map(|line| Some(line.split_once(':')?.0.to_owned()))
                .collect()
        };
        assert_eq!(names(Form::Typed), names(Form::Dynamic));
        assert!(names(Form::Typed).len() > 60);
    }

    #[test]
    fn an_edit_is_one_line_in_one_function() {
        let text = program(Form::Typed, false, 60).text(&[&RELATIONS[0]]);
        let edited = edited(&text, 7);
        assert_eq!(edited.lines().count(), text.lines().count() + 1);
        let at = edited.find("    let edit = 7;\n").unwrap();
        assert!(at > edited.find("pub fn f20").unwrap());
        assert!(at < edited.find("pub fn f40").unwrap());
    }
}
