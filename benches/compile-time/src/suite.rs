//! What is measured, and the limits it is to keep.

use crate::crates;
use crate::program::{Form, Program, edited};
use crate::relation::{RELATIONS, Relation};
use crate::scratch::{How, ON_A_MESH, PROGRAM, Place, Scratch, Texts, check_core};
use crate::table::{Limit, Row, Table};
use crate::transformer;

/// A rank-4 operation of any relation, and of all in turns: ms over `DynTensor`'s.
const RANK_4_MS: f64 = 1.0;
/// The same at rank 8.
const RANK_8_MS: f64 = 3.0;
/// Additions and sums in turns, rank 4: ms over `DynTensor`'s.
const ADDITIONS_MS: f64 = 0.5;
/// The transformer's whole check, in seconds.
const TRANSFORMER_S: f64 = 1.5;
/// A check after one edited function, over `DynTensor`'s, in seconds.
const EDIT_S: f64 = 0.3;
/// A debug binary, over `DynTensor`'s.
const BINARY_PERCENT: f64 = 10.0;
/// An operation over a mesh, over the same without one.
const SHARDED_PERCENT: f64 = 100.0;
/// `nomina-core` alone, in seconds.
const CORE_S: f64 = 5.0;

/// The relations of the mix of additions and sums.
const ADDITIONS: [&str; 2] = ["add", "sum"];

/// The relations that are measured over a mesh, too.
const SHARDED: [&str; 5] = ["sum", "add", "mul_scalar", "transpose", "contract"];

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Of the programs of one relation.
    pub rank: Option<usize>,
    pub ops: usize,
    /// Operations of a mix.
    pub mixed: usize,
    pub layers: usize,
    pub steps: usize,
    /// The better of this many runs counts.
    pub runs: usize,
}

pub struct Suite<'a> {
    pub place: &'a Place,
    pub effort: Effort,
    /// Relations and programs asked for; none are all.
    pub names: &'a [String],
    pub table: Table,
}

/// The programs beside those of one relation each.
pub const PROGRAMS: [&str; 7] = [
    "additions",
    "mix",
    "rank8",
    "sharded",
    "transformer",
    "crates",
    "core",
];

impl Suite<'_> {
    fn wants(&self, name: &str) -> bool {
        self.names.is_empty() || self.names.iter().any(|wanted| wanted == name)
    }

    /// Measures what is asked for.
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

    /// The text of a program, to look at or to profile; of `crates`, the last crate's.
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

    /// Each relation's own program.
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

    /// What an operation costs to check: the program that only has the operands is taken off.
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

    /// Milliseconds of an operation.
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

    /// What an operation over a mesh costs to check, beside the same on plain typed tensors.
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

    /// Check, build, memory and size of a whole program; gives what the two forms print.
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

    /// Seconds of a check after an edit; `texts` gives the first text for 0, then edited ones.
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

/// The limit of one operation.
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

/// `measure` of the typed and of the dynamic form.
fn each<V>(
    [typed, dynamic]: [Form; 2],
    mut measure: impl FnMut(Form) -> Result<V, String>,
) -> Result<[V; 2], String> {
    Ok([measure(typed)?, measure(dynamic)?])
}
