//! The measurements, and their limits.

use crate::crates;
use crate::program::{Form, Program, edited};
use crate::relation::{RELATIONS, Relation};
use crate::scratch::{How, ON_A_MESH, PROGRAM, Place, Scratch, Texts, WITH_LABELS, check_core};
use crate::table::{Limit, Row, Table};
use crate::transformer;

/// A rank-4 operation of any relation, and of all in turn: ms more than on `DynTensor`.
const RANK_4_MS: f64 = 1.0;
/// Like [`RANK_4_MS`], at rank 8.
const RANK_8_MS: f64 = 3.0;
/// Additions and sums in turn, at rank 4: ms more than on `DynTensor`.
const ADDITIONS_MS: f64 = 0.5;
/// The complete check of the transformer, in seconds.
const TRANSFORMER_S: f64 = 1.5;
/// A check after an edit of one function, in seconds more than on `DynTensor`.
const EDIT_S: f64 = 0.3;
/// The size of a debug binary, in per cent more than on `DynTensor`.
const BINARY_PERCENT: f64 = 10.0;
/// An operation over a mesh, in per cent more than without one.
const SHARDED_PERCENT: f64 = 100.0;
/// An operation on labelled tensors, in per cent more than without labels.
const LABELLED_PERCENT: f64 = 10.0;
/// The check of `nomina-core` alone, in seconds.
const CORE_S: f64 = 5.0;

/// The relations of the program `additions`.
const ADDITIONS: [&str; 2] = ["add", "sum"];

/// The relations that are also measured over a mesh.
const SHARDED: [&str; 5] = ["sum", "add", "mul_scalar", "transpose", "contract"];

/// The relations that are also measured with labels.
const LABELLED: [&str; 4] = ["sum", "add", "mul_scalar", "contract"];

/// The amount of work.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// The rank in the programs of one relation.
    pub rank: Option<usize>,
    pub ops: usize,
    /// The number of operations of a mix.
    pub mixed: usize,
    pub layers: usize,
    pub steps: usize,
    /// The number of runs, of which the best counts.
    pub runs: usize,
}

pub struct Suite<'a> {
    pub place: &'a Place,
    pub effort: Effort,
    /// The relations and programs to measure; if empty, all.
    pub names: &'a [String],
    pub table: Table,
}

/// The programs in addition to those of single relations.
pub const PROGRAMS: [&str; 8] = [
    "additions",
    "mix",
    "rank8",
    "labelled",
    "sharded",
    "transformer",
    "crates",
    "core",
];

impl Suite<'_> {
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    /// Runs the requested measurements.
    pub fn run(&mut self) -> Result<(), String> {
        let rank = self.effort.rank.unwrap_or(4);
        self.relations(rank, |suite, name| suite.wants(name))?;
        if self.wants("additions") {
            self.mix("additions", rank, &ADDITIONS.map(relation), ADDITIONS_MS)?;
        }
        if self.wants("mix") {
            let all: Vec<&Relation> = RELATIONS.iter().collect();
            self.mix("mix", rank, &all, limit(rank))?;
        }
        if self.wants("rank8") {
            self.relations(8, |_, _| true)?;
        }
        if self.wants("labelled") {
            self.labelled(rank)?;
        }
        if self.wants("sharded") {
            self.sharded(rank)?;
        }
        if self.wants("transformer") {
            self.transformer()?;
        }
        if self.wants("crates") {
            self.crates()?;
        }
        if self.wants("core") {
            let usage = check_core(self.place, self.effort.runs)?;
            self.row(
                "nomina-core",
                "check, s",
                usage.seconds,
                None,
                Limit::AtMost(CORE_S),
            );
        }
        Ok(())
    }

    /// Returns the text of a program, to read or to profile it; for `crates`, that of the last
    /// crate.
    pub fn text(&self, name: &str, form: Form) -> Result<String, String> {
        let Effort {
            rank, ops, mixed, ..
        } = self.effort;
        let (rank, all) = (rank.unwrap_or(4), RELATIONS.iter().collect::<Vec<_>>());
        Ok(match name {
            "additions" => program(form, false, rank, mixed).text(&ADDITIONS.map(relation)),
            "mix" => program(form, false, rank, mixed).text(&all),
            "transformer" => transformer::text(form, self.effort.layers),
            "crates" => crates::texts(form, self.effort.steps)
                .pop()
                .unwrap_or_default(),
            name if RELATIONS.iter().any(|relation| relation.name == name) => {
                program(form, false, rank, ops).text(&[relation(name)])
            }
            name => return Err(format!("`{name}` is not one program")),
        })
    }

    /// Measures the program of each relation.
    fn relations(
        &mut self,
        rank: usize,
        wanted: impl Fn(&Self, &str) -> bool,
    ) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "relations", PROGRAM)?;
        let mut prepared = false;
        for relation in RELATIONS {
            if !wanted(self, relation.name) {
                continue;
            }
            if !prepared {
                scratch.prepare(How::Check)?;
                prepared = true;
            }
            let name = match rank {
                4 => relation.name.to_owned(),
                _ => format!("{}/{rank}", relation.name),
            };
            self.operations(
                &scratch,
                &name,
                rank,
                self.effort.ops,
                &[relation],
                limit(rank),
            )?;
        }
        Ok(())
    }

    /// Measures the check of an operation; the cost of the program without operations is
    /// subtracted.
    fn operations(
        &mut self,
        scratch: &Scratch,
        name: &str,
        rank: usize,
        ops: usize,
        relations: &[&Relation],
        limit: f64,
    ) -> Result<(), String> {
        let cost = |form| self.cost(scratch, form, rank, ops, relations);
        let (typed, dynamic) = (cost(Form::Typed)?, cost(Form::Dynamic)?);
        self.row(
            name,
            "check, ms/op",
            typed,
            Some(dynamic),
            Limit::Over(limit),
        );
        Ok(())
    }

    /// Returns the milliseconds per operation.
    fn cost(
        &self,
        scratch: &Scratch,
        form: Form,
        rank: usize,
        ops: usize,
        relations: &[&Relation],
    ) -> Result<f64, String> {
        let seconds = |operands_only| {
            let text = program(form, operands_only, rank, ops).text(relations);
            let usage = scratch.measure(How::Check, &vec![text], self.effort.runs);
            usage.map(|usage| usage.seconds)
        };
        let (whole, operands) = (seconds(false)?, seconds(true)?);
        Ok((whole - operands) * 1e3 / ops as f64)
    }

    /// Measures the check of operations over a mesh, next to the same on plain typed tensors.
    fn sharded(&mut self, rank: usize) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "sharded", ON_A_MESH)?;
        scratch.prepare(How::Check)?;
        for name in SHARDED {
            let cost = |form| self.cost(&scratch, form, rank, self.effort.ops, &[relation(name)]);
            let (sharded, typed) = (cost(Form::Sharded)?, cost(Form::Typed)?);
            let limit = Limit::Percent(SHARDED_PERCENT);
            let name = format!("mesh {name}");
            self.row(&name, "check, ms/op", sharded, Some(typed), limit);
        }
        Ok(())
    }

    /// Measures programs of labelled tensors beside the same programs of typed tensors, operands included.
    fn labelled(&mut self, rank: usize) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "labelled", WITH_LABELS)?;
        scratch.prepare(How::Check)?;
        for name in LABELLED {
            let check = |form| {
                let text = program(form, false, rank, self.effort.ops).text(&[relation(name)]);
                let usage = scratch.measure(How::Check, &vec![text], self.effort.runs);
                usage.map(|usage| usage.seconds)
            };
            let (labelled, typed) = (check(Form::Labelled)?, check(Form::Typed)?);
            let limit = Limit::Percent(LABELLED_PERCENT);
            let name = format!("labelled {name}");
            self.row(&name, "check, s", labelled, Some(typed), limit);
        }
        Ok(())
    }

    fn mix(
        &mut self,
        name: &str,
        rank: usize,
        relations: &[&Relation],
        limit: f64,
    ) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "mix", PROGRAM)?;
        scratch.prepare(How::Check)?;
        let ops = self.effort.mixed;
        self.operations(&scratch, name, rank, ops, relations, limit)?;
        let text = |form| program(form, false, rank, ops).text(relations);
        self.whole(&scratch, name, |form| vec![text(form)], Limit::None)?;
        self.edits(&scratch, name, |form, n| match n {
            0 => vec![text(form)],
            n => vec![edited(&text(form), n)],
        })
    }

    fn transformer(&mut self) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "transformer", PROGRAM)?;
        scratch.prepare(How::Check)?;
        let layers = self.effort.layers;
        let text = |form| vec![transformer::text(form, layers)];
        let printed = self.whole(&scratch, "transformer", text, Limit::AtMost(TRANSFORMER_S))?;
        if printed[0].is_empty() || printed[0] != printed[1] {
            return Err(format!(
                "the two transformers differ:\n{}\n{}",
                printed[0], printed[1]
            ));
        }
        self.edits(&scratch, "transformer", |form, n| match n {
            0 => text(form),
            n => vec![transformer::edited(form, layers, n)],
        })
    }

    fn crates(&mut self) -> Result<(), String> {
        let scratch = Scratch::create(self.place, "crates", crates::PACKAGES)?;
        scratch.prepare(How::Check)?;
        let steps = self.effort.steps;
        self.whole(
            &scratch,
            "crates",
            |form| crates::texts(form, steps),
            Limit::None,
        )?;
        Ok(())
    }

    /// Measures check, build, memory and size of a whole program; returns the output of both forms.
    fn whole(
        &mut self,
        scratch: &Scratch,
        name: &str,
        texts: impl Fn(Form) -> Texts,
        check: Limit,
    ) -> Result<[String; 2], String> {
        let runs = self.effort.runs;
        let forms = [Form::Typed, Form::Dynamic];
        let checks = each(forms, |form| {
            scratch.measure(How::Check, &texts(form), runs)
        })?;
        let [typed, dynamic] = checks.map(|usage| usage.seconds);
        self.row(name, "check, s", typed, Some(dynamic), check);
        let [typed, dynamic] = checks.map(|usage| usage.megabytes);
        self.row(name, "check, MB", typed, Some(dynamic), Limit::None);
        scratch.prepare(How::Build)?;
        let builds = each(forms, |form| {
            let usage = scratch.measure(How::Build, &texts(form), runs.min(2))?;
            Ok((usage, scratch.program_size()?, scratch.output()?))
        })?;
        let [typed, dynamic] = builds.each_ref().map(|(usage, ..)| usage.seconds);
        self.row(name, "build, s", typed, Some(dynamic), Limit::None);
        let [typed, dynamic] = builds.each_ref().map(|(usage, ..)| usage.megabytes);
        self.row(name, "build, MB", typed, Some(dynamic), Limit::None);
        let [typed, dynamic] = builds.each_ref().map(|(_, bytes, _)| *bytes as f64 / 1e6);
        let limit = Limit::Percent(BINARY_PERCENT);
        self.row(name, "debug binary, MB", typed, Some(dynamic), limit);
        Ok(builds.map(|(_, _, printed)| printed))
    }

    /// Measures the seconds of a check after an edit; `texts` returns the first text for 0, then
    /// edited ones.
    fn edits(
        &mut self,
        scratch: &Scratch,
        name: &str,
        texts: impl Fn(Form, usize) -> Texts,
    ) -> Result<(), String> {
        let [typed, dynamic] = each([Form::Typed, Form::Dynamic], |form| {
            let edits: Vec<Texts> = (1..=self.effort.runs).map(|n| texts(form, n)).collect();
            scratch.recheck(&texts(form, 0), &edits)
        })?
        .map(|usage| usage.seconds);
        self.row(
            name,
            "check an edit, s",
            typed,
            Some(dynamic),
            Limit::Over(EDIT_S),
        );
        Ok(())
    }

    fn row(
        &mut self,
        program: &str,
        figure: &'static str,
        typed: f64,
        dynamic: Option<f64>,
        limit: Limit,
    ) {
        self.table.add(Row {
            program: program.to_owned(),
            figure,
            typed,
            dynamic,
            limit,
        });
    }
}

/// Returns the limit of one operation.
fn limit(rank: usize) -> f64 {
    if rank <= 4 { RANK_4_MS } else { RANK_8_MS }
}

fn relation(name: &str) -> &'static Relation {
    let found = RELATIONS.iter().find(|relation| relation.name == name);
    found.unwrap_or(&RELATIONS[0])
}

fn program(form: Form, operands_only: bool, rank: usize, ops: usize) -> Program {
    Program {
        form,
        operands_only,
        rank,
        ops,
    }
}

/// Calls `measure` for the typed and for the dynamic form.
fn each<V>(
    [typed, dynamic]: [Form; 2],
    mut measure: impl FnMut(Form) -> Result<V, String>,
) -> Result<[V; 2], String> {
    Ok([measure(typed)?, measure(dynamic)?])
}
