//! Generation of CUDA source for chains of elementwise operators.
//!
//! Each step is a value, in the dtype of the tensor that the separate operator would return. The layout of an operand
//! decides how it is read, and is part of the text. A text is generated once. Later calls find it by a key of all that
//! the text depends on, and pass only their numbers.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Arc, PoisonError, RwLock};

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::source::{Text, type_name};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{Constant, FusedJob, Known, Node, scalar};

use crate::cpu::pointwise::kernel;

/// A generated text.
pub(super) struct Written {
    pub(super) text: Text,
    numbers: Vec<SourceNumber>,
}

/// A number that the text reads.
struct SourceNumber {
    /// Its step in the program.
    step: usize,
    /// The dtype in which it is read.
    dtype: DType,
    /// The operator that reads it, and the dtype of its computation.
    by: Option<(Op, DType)>,
}

/// All that a text depends on, as numbers.
type SourceKey = SmallVec<[u32; 96]>;

impl Written {
    /// Returns the text of a job with these layouts of operands over `rank` dims, and generates it at the first call.
    ///
    /// # Errors
    /// Returns an error if an operator does not support a dtype.
    pub(super) fn generate(job: &FusedJob<'_>, lies: &[Lies], rank: usize) -> Result<Arc<Self>> {
        static ALL: RwLock<Option<HashMap<Box<[u32]>, Arc<Written>>>> = RwLock::new(None);
        let key = key(job, lies, rank);
        let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(written) = all.as_ref().and_then(|all| all.get(&*key)) {
            return Ok(Arc::clone(written));
        }
        drop(all);
        let mut writer = Writer::default();
        writer.steps(job)?;
        let written = Arc::new(Self {
            text: Text::new(writer.text(job, lies, rank)),
            numbers: writer.numbers,
        });
        let mut all = ALL.write().unwrap_or_else(PoisonError::into_inner);
        let all = all.get_or_insert_default();
        Ok(Arc::clone(all.entry(key[..].into()).or_insert(written)))
    }

    /// Returns the numbers of a job, in the order of the text.
    pub(super) fn numbers(&self, job: &FusedJob<'_>) -> impl Iterator<Item = Constant> {
        self.numbers.iter().filter_map(|number| {
            let Known::Scalar(value) = job.known[number.step] else {
                return None;
            };
            let by = number.by;
            let value = by.map_or(value, |(op, compute)| scalar(op, value, compute));
            Some(Constant::new(value, number.dtype))
        })
    }
}

fn key(job: &FusedJob<'_>, lies: &[Lies], rank: usize) -> SourceKey {
    let mut key = SourceKey::new();
    let places = |place: usize| place as u32;
    // Without strided operands, the text does not depend on the rank.
    let rank = places(if lies.iter().any(|lies| lies.walked()) {
        rank
    } else {
        0
    });
    key.extend([places(job.program.len()), job.dest.dtype as u32, rank]);
    for (at, node) in job.program.iter().enumerate() {
        if !job.live[at] {
            key.push(0);
            continue;
        }
        match *node {
            Node::Tensor(operand) => key.extend([1, places(operand)]),
            Node::Scalar(_) => key.push(2),
            Node::Apply(op, args) => {
                key.extend([3, op as u32, places(args.len())]);
                key.extend(args.iter().copied().map(places));
            }
            Node::To(dtype, of) => key.extend([4, dtype as u32, places(of)]),
        }
        match job.known[at] {
            Known::Scalar(_) => key.push(0),
            Known::Tensor { dtype, compute } => key.extend([1, dtype as u32, compute as u32]),
        }
    }
    let dtypes = job.inputs.iter().map(|(place, _)| place.dtype as u32);
    key.extend(
        dtypes
            .zip(lies)
            .flat_map(|(dtype, &lies)| [dtype, lies as u32]),
    );
    key
}

/// The layout of an operand relative to the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lies {
    /// The positions of the result.
    Dense,
    /// One element, broadcast over all dims.
    Constant,
    /// Contiguous rows with any strides between them.
    Rows,
    /// One element for each row of the result.
    Spread,
    /// Any strides.
    Strided,
}

impl Lies {
    /// Returns whether it is read by strides.
    pub(super) fn walked(self) -> bool {
        !matches!(self, Self::Dense | Self::Constant)
    }
}

/// Generates the text of a program.
#[derive(Default)]
struct Writer {
    /// A line for each step.
    body: String,
    numbers: Vec<SourceNumber>,
}

impl Writer {
    /// Writes all steps that the result needs.
    fn steps(&mut self, job: &FusedJob<'_>) -> Result<()> {
        let live = job.program.iter().zip(job.live).enumerate();
        for (at, (node, _)) in live.filter(|(_, (_, live))| **live) {
            let Known::Tensor { dtype, compute } = job.known[at] else {
                continue;
            };
            match *node {
                Node::Scalar(_) => {}
                Node::Tensor(operand) => {
                    self.line(format_args!(
                        "const {} v{at} = t{operand};",
                        type_name(dtype)
                    ));
                }
                Node::To(to, of) => {
                    let from = self.read(job, of, to, None);
                    self.line(format_args!("const {} v{at} = {from};", type_name(to)));
                }
                Node::Apply(op, args) => self.apply(job, at, op, args, compute, dtype)?,
            }
        }
        Ok(())
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.body, "    {line}");
    }

    /// Writes an operator's scalar expression, with the operand names of the operator table.
    fn apply(
        &mut self,
        job: &FusedJob<'_>,
        at: usize,
        op: Op,
        args: &[usize],
        compute: DType,
        result: DType,
    ) -> Result<()> {
        let row = op.row();
        let (kernel, (arity, expression)) = kernel(op, arithmetic(compute))
            .zip(row.expression())
            .ok_or_else(|| {
            let what = format!("{compute} is not computed");
            Error::new(ErrorKind::DType, op.name(), what).hint("convert with `to` first")
        })?;
        if kernel.arity != args.len() {
            let what = format!("{} operands, not {}", args.len(), kernel.arity);
            return Err(Error::new(ErrorKind::Argument, op.name(), what)
                .hint("call it with the operands of its signature"));
        }
        self.line(format_args!("{} v{at};", type_name(result)));
        self.body.push_str("    {");
        let names = ["x", "y", "z"].into_iter().take(arity);
        let names = names.chain(row.numbers().map(|number| number.name));
        for (name, (&arg, &dtype)) in names.zip(args.iter().zip(&kernel.inputs)) {
            let value = self.read(job, arg, dtype, Some((op, compute)));
            let _ = write!(self.body, " const {} {name} = {value};", type_name(dtype));
        }
        let _ = writeln!(
            self.body,
            " v{at} = convert<{}>(static_cast<{}>({expression})); }}",
            type_name(result),
            type_name(kernel.output),
        );
        Ok(())
    }

    /// Returns the expression of a value converted to a dtype.
    fn read(
        &mut self,
        job: &FusedJob<'_>,
        at: usize,
        dtype: DType,
        by: Option<(Op, DType)>,
    ) -> String {
        match job.known[at] {
            Known::Scalar(_) => {
                self.numbers.push(SourceNumber {
                    step: at,
                    dtype,
                    by,
                });
                format!("n{}", self.numbers.len() - 1)
            }
            Known::Tensor { dtype: own, .. } if own == dtype => format!("v{at}"),
            Known::Tensor { .. } => format!("convert<{}>(v{at})", type_name(dtype)),
        }
    }

    /// Returns the text before the class file.
    fn text(&self, job: &FusedJob<'_>, lies: &[Lies], rank: usize) -> String {
        let mut out = String::from("#include \"chain.cuh\"\n");
        let result = type_name(job.dest.dtype);
        let types: SmallVec<[&str; 8]> = job
            .inputs
            .iter()
            .map(|(place, _)| type_name(place.dtype))
            .collect();
        let walked = lies.iter().filter(|lies| lies.walked()).count();
        let tensors = types.len();
        out.push_str("struct Chain {\n");
        for number in 0..self.numbers.len() {
            let _ = writeln!(out, "    Number number{number};");
        }
        let _ = writeln!(out, "    const u8* in[{tensors}];");
        if walked > 0 {
            let _ = writeln!(out, "    Strided<{walked}> at;");
        }
        let parameters = types.iter().enumerate();
        let parameters: Vec<String> = parameters.map(|(at, ty)| format!(", {ty} t{at}")).collect();
        let _ = writeln!(
            out,
            "}};\n// In the namespace of the scalar functions, which have names of the language's \
             own.\nnamespace numeric {{\nDEVICE {result} element(const Chain& chain{}) {{",
            parameters.concat()
        );
        for (number, SourceNumber { dtype, .. }) in self.numbers.iter().enumerate() {
            let ty = type_name(*dtype);
            let _ = writeln!(
                out,
                "    const {ty} n{number} = *reinterpret_cast<const {ty}*>(&chain.number{number});"
            );
        }
        out.push_str(&self.body);
        let _ = writeln!(
            out,
            "    return v{};\n}}\n}}\ntemplate <int N> DEVICE Pack<{result}, N> \
             run(const Chain& chain, PLACE base) {{",
            job.program.len() - 1
        );
        if walked > 0 {
            let _ = writeln!(
                out,
                "    i64 at[{walked}];\n    offsets_of<{rank}>(chain.at, base, at);"
            );
        }
        let mut place = 0;
        for (at, ty) in types.iter().enumerate() {
            let from = match lies[at] {
                Lies::Dense => format!("dense<{ty}, N>(chain.in[{at}] + (u64)base * sizeof({ty}))"),
                Lies::Constant => format!("constant<{ty}, N>(chain.in[{at}])"),
                lies => {
                    let here = format!("chain.in[{at}] + at[{place}]");
                    place += 1;
                    match lies {
                        Lies::Rows => format!("dense<{ty}, N>({here})"),
                        Lies::Spread => format!("constant<{ty}, N>({here})"),
                        _ => format!("strided<{ty}, N>({here}, chain.at.steps[{}][0])", place - 1),
                    }
                }
            };
            let _ = writeln!(out, "    const Pack<{ty}, N> p{at} = operand::{from};");
        }
        let values: Vec<String> = (0..tensors).map(|at| format!(", p{at}[k]")).collect();
        let _ = write!(
            out,
            "    Pack<{result}, N> out;\n#pragma unroll\n    for (int k = 0; k < N; k++) out[k] = \
             numeric::element(chain{});\n    return out;\n}}\n",
            values.concat(),
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use nomina_core::Scalar;

    use super::*;
    use crate::job::Place;

    /// Calls `look` with many jobs, all of which have different texts.
    fn jobs(number: f64, mut visit: impl FnMut(&FusedJob<'_>, &[Lies])) {
        let programs: [&[Node<'_>]; 6] = [
            &[
                Node::Tensor(0),
                Node::Tensor(1),
                Node::Apply(Op::Add, &[0, 1]),
            ],
            &[
                Node::Tensor(0),
                Node::Tensor(1),
                Node::Apply(Op::Add, &[1, 0]),
            ],
            &[
                Node::Tensor(1),
                Node::Tensor(0),
                Node::Apply(Op::Sub, &[0, 1]),
            ],
            &[
                Node::Tensor(0),
                Node::Scalar(0),
                Node::Apply(Op::Sub, &[0, 1]),
            ],
            &[Node::Tensor(0), Node::Tensor(1), Node::To(DType::F64, 0)],
            &[Node::Tensor(0), Node::Tensor(1), Node::To(DType::F32, 0)],
        ];
        let ways = [
            Lies::Dense,
            Lies::Constant,
            Lies::Rows,
            Lies::Spread,
            Lies::Strided,
        ];
        for program in programs {
            for dtype in [DType::F32, DType::F64, DType::I64] {
                for (first, second) in ways.iter().zip(ways.iter().cycle().skip(1)) {
                    let known: Vec<Known> = program
                        .iter()
                        .map(|node| match *node {
                            Node::Scalar(_) => Known::Scalar(Scalar::Float(number)),
                            Node::To(dtype, _) => Known::Tensor {
                                dtype,
                                compute: dtype,
                            },
                            _ => Known::Tensor {
                                dtype,
                                compute: dtype,
                            },
                        })
                        .collect();
                    let dest = match program[2] {
                        Node::To(to, _) => to,
                        _ => dtype,
                    };
                    let place = |dtype| Place {
                        ptr: std::ptr::null_mut(),
                        dtype,
                    };
                    let job = FusedJob {
                        op: "add",
                        program,
                        live: &[true; 3],
                        known: &known,
                        inputs: &[(place(dtype), &[1]), (place(dtype), &[1])],
                        shape: &[8],
                        dest: place(dest),
                        also: &[],
                        strides: &[1],
                    };
                    visit(&job, &[*first, *second]);
                }
            }
        }
    }

    #[test]
    fn a_program_is_written_once_for_all_numbers() {
        let mut first = Vec::new();
        jobs(2.0, |job, lies| {
            first.push(Written::generate(job, lies, 1).unwrap())
        });
        let mut at = 0;
        jobs(3.0, |job, lies| {
            let written = Written::generate(job, lies, 1).unwrap();
            assert!(Arc::ptr_eq(&written, &first[at]), "{at}");
            let mut fresh = Writer::default();
            fresh.steps(job).unwrap();
            assert_eq!(written.text, Text::new(fresh.text(job, lies, 1)), "{at}");
            assert_eq!(written.numbers(job).count(), fresh.numbers.len());
            at += 1;
        });
        assert_eq!(at, first.len());
        for (i, one) in first.iter().enumerate() {
            assert!(first[..i].iter().all(|other| other.text != one.text), "{i}");
        }
    }
}
