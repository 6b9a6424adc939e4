//! The text of a measured program.

use crate::draw::{MARKERS, NEW, Rng};
use crate::relation::{Line, Relation};

/// Names known to rustc, or at run time only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Typed,
    Dynamic,
}

pub struct Program {
    pub form: Form,
    /// Makes the operands and leaves the operations out.
    pub operands_only: bool,
    pub rank: usize,
    pub ops: usize,
}

/// Functions of this many operations: one giant function would measure the borrow checker.
const PER_FUNCTION: usize = 20;

impl Program {
    /// The program that takes `relations` in turns.
    pub fn text(&self, relations: &[&Relation]) -> String {
        let mut rng = Rng::new(1);
        let markers = [&MARKERS[..], &NEW[..]].concat().join(", ");
        let mut text = format!(
            "//! Written by the compile-time bench.\n\
             #![allow(unused, missing_docs)]\n\
             use nomina::prelude::*;\n\
             use nomina::DynTensor;\n\
             dims! {{ {markers} }}\n\
             fn z<D: Dims, T: Element>() -> Tensor<D, T> {{ panic!() }}\n\
             fn d() -> DynTensor {{ panic!() }}\n"
        );
        for i in 0..self.ops {
            if i % PER_FUNCTION == 0 {
                if i > 0 {
                    text.push_str("}\n");
                }
                text.push_str(&format!("pub fn f{i}() {{\n"));
            }
            let relation = relations[i % relations.len()];
            let line = (relation.draw)(&mut rng, self.rank);
            text.push_str(&self.operation(i, &line));
        }
        text.push_str("}\nfn main() {}\n");
        text
    }

    fn operation(&self, i: usize, line: &Line) -> String {
        let mut text = String::new();
        for (k, operand) in line.operands.iter().enumerate() {
            let variable = format!("{}{i}", ["a", "b"][k]);
            let made = match self.form {
                Form::Typed => format!("z::<{}, {}>()", tuple(&operand.dims), operand.dtype),
                Form::Dynamic => "d()".to_owned(),
            };
            text.push_str(&format!("    let mut {variable} = {made};\n"));
        }
        if self.operands_only {
            return text;
        }
        let call = match self.form {
            Form::Typed => &line.typed,
            Form::Dynamic => &line.dynamic,
        };
        // `$a` and `$b` are the operands.
        let call = call
            .replace("$a", &format!("a{i}"))
            .replace("$b", &format!("b{i}"));
        text.push_str(&format!("    let r{i} = {call};\n"));
        text
    }
}

/// Dims as a tuple type, which is a tuple value too.
pub fn tuple(dims: &[&str]) -> String {
    match dims {
        [] => "()".to_owned(),
        [dim] => format!("({dim},)"),
        dims => format!("({})", dims.join(", ")),
    }
}

/// Dims as an array of string literals.
pub fn strings(dims: &[&str]) -> String {
    let quoted: Vec<String> = dims.iter().map(|dim| format!("\"{dim}\"")).collect();
    format!("[{}]", quoted.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::relation::RELATIONS;

    #[test]
    fn every_relation_writes_as_many_operations_as_asked() {
        for relation in RELATIONS {
            for form in [Form::Typed, Form::Dynamic] {
                let program = Program {
                    form,
                    operands_only: false,
                    rank: 4,
                    ops: 45,
                };
                let text = program.text(&[relation]);
                assert_eq!(text.matches("    let r").count(), 45, "{}", relation.name);
                assert_eq!(text.matches("pub fn f").count(), 3);
                assert!(!text.contains('$'), "{}: {text}", relation.name);
                assert_eq!(text.matches('{').count(), text.matches('}').count());
            }
        }
    }

    #[test]
    fn the_program_of_operands_lacks_only_the_operations() {
        let relations: Vec<&Relation> = RELATIONS.iter().collect();
        let program = |operands_only| Program {
            form: Form::Typed,
            operands_only,
            rank: 4,
            ops: 60,
        };
        let whole = program(false).text(&relations);
        let rest: Vec<&str> = whole
            .lines()
            .filter(|line| !line.starts_with("    let r"))
            .collect();
        let operands = program(true).text(&relations);
        assert_eq!(rest, operands.lines().collect::<Vec<_>>());
    }
}
