//! Chains of elementwise operators as one kernel.
//!
//! The program is written out in the language of kernels: a value a step, in the dtype that the
//! step's tensor would have had. How operands lie beside the result decides how they are read, and is
//! part of the text; sizes, strides and numbers are not, so that one kernel serves all calls of the
//! same expression, dtypes and kind of layout.

use std::fmt::Write;
use std::sync::Arc;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::catalog::Module;
use super::context::Cuda;
use super::index::WIDE;
use super::launch::Grid;
use super::source::{File, Source, type_name};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{Constant, FusedJob, Known, Node, Place, scalar};

use crate::cpu::fused::Operands;
use crate::cpu::pointwise::kernel;

/// Threads of a block.
const THREADS: u32 = 256;

/// The most operands that a kernel walks; their steps are what takes room in its argument.
const WALKED: usize = 16;

/// The most words of an argument.
const WORDS: usize = 500;

/// Computes a program; false, and nothing has happened, where it has more dims or operands than a kernel
/// walks.
///
/// # Safety
/// As [`Backend::fused`].
pub(super) unsafe fn execute(cuda: &Cuda, job: &FusedJob<'_>) -> Result<bool> {
    let count: usize = job.shape.iter().product();
    if count == 0 {
        return Ok(true);
    }
    let Some(chain) = Chain::new(job, count)? else {
        return Ok(false);
    };
    let source = chain.before(File::Fused);
    let function = cuda.function(job.op, source, c"fused")?;
    let mut words = chain.words;
    words.extend_from_slice(&[count as u64, job.dest.ptr as u64]);
    let grid = Grid::linear(count.div_ceil(chain.width), THREADS);
    // SAFETY: the words are `Fused` of `fused.cu`; the caller promises the positions.
    unsafe { cuda.launch_words(job.op, function, grid, &words)? };
    Ok(true)
}

/// A program, written out.
pub(super) struct Chain {
    text: Arc<str>,
    /// The struct that the text declares. Numbers are aligned to 16 bytes, and so is its end then.
    pub(super) words: SmallVec<[u64; 64]>,
    /// Whether it holds numbers, so that it begins where 16 bytes do.
    pub(super) aligned: bool,
    pub(super) dtype: DType,
    width: usize,
    wide: bool,
}

impl Chain {
    /// Nothing for more dims or operands than a kernel walks.
    pub(super) fn new(job: &FusedJob<'_>, count: usize) -> Result<Option<Self>> {
        let operands = Operands::new(job);
        let layout = Layout::new(job, &operands, count);
        let mut writer = Writer::default();
        writer.steps(job)?;
        let Some(walked) = layout.walked(&operands) else {
            return Ok(None);
        };
        let mut words: SmallVec<[u64; 64]> = SmallVec::new();
        for &(value, dtype) in &writer.numbers {
            words.extend_from_slice(&Constant::new(value, dtype).words());
        }
        words.extend(job.inputs.iter().map(|(place, _)| place.ptr as u64));
        words.extend_from_slice(&walked);
        let aligned = !writer.numbers.is_empty();
        if aligned && !words.len().is_multiple_of(2) {
            words.push(0);
        }
        let chain = Self {
            text: writer.text(job, &layout).into(),
            words,
            aligned,
            dtype: job.dest.dtype,
            width: layout.width,
            wide: layout.wide,
        };
        Ok((chain.words.len() <= WORDS).then_some(chain))
    }

    /// A class file that takes its elements.
    pub(super) fn before(&self, file: File) -> Source {
        let source = Source::behind(self.text.clone(), file);
        let source = source
            .number("WIDTH", self.width as i64)
            .word("PLACE", if self.wide { "u64" } else { "u32" })
            .dtype("T0", self.dtype);
        match file {
            File::Fused => source.index(self.wide),
            _ => source,
        }
    }
}

/// How an operand lies beside the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lies {
    /// As the result does.
    Dense,
    /// One element for all.
    Constant,
    /// Rows of adjacent elements, somewhere.
    Rows,
    /// Elements that stand for a row of the result each.
    Spread,
    /// By any strides.
    Strided,
}

/// How all operands lie.
struct Layout {
    lies: SmallVec<[Lies; 8]>,
    /// How many elements a thread computes at once.
    width: usize,
    wide: bool,
}

impl Layout {
    fn new(job: &FusedJob<'_>, operands: &Operands, count: usize) -> Self {
        let mut lies = SmallVec::<[Lies; 8]>::new();
        for operand in &operands.each {
            lies.push(match operand.inner() {
                _ if operand.linear => Lies::Dense,
                _ if operand.constant => Lies::Constant,
                0 => Lies::Spread,
                step if step == operand.size => Lies::Rows,
                _ => Lies::Strided,
            });
        }
        let read = |at: usize| {
            job.program
                .iter()
                .zip(job.live)
                .any(|(node, &live)| live && *node == Node::Tensor(at))
        };
        let read: SmallVec<[bool; 8]> = (0..lies.len()).map(read).collect();
        let sizes = job.inputs.iter().zip(&read).filter(|(_, read)| **read);
        let largest = sizes.map(|((place, _), _)| place.dtype.size());
        let largest = largest.chain([job.dest.dtype.size()]).max().unwrap_or(16);
        let mut width = 16 / largest;
        let rows = lies
            .iter()
            .zip(&read)
            .any(|(lies, read)| *read && !matches!(lies, Lies::Dense | Lies::Constant));
        if rows && !operands.row.is_multiple_of(width) {
            width = 1;
        }
        let aligned = |ptr: *mut u8, size: usize| (ptr as usize).is_multiple_of(width * size);
        let mut all = aligned(job.dest.ptr, job.dest.dtype.size());
        for (at, (place, _)) in job.inputs.iter().enumerate().filter(|(at, _)| read[*at]) {
            let size = place.dtype.size();
            all &= match lies[at] {
                Lies::Dense => aligned(place.ptr, size),
                Lies::Rows => {
                    aligned(place.ptr, size)
                        && (1..operands.sizes.len()).all(|dim| {
                            operands.each[at]
                                .step(dim)
                                .unsigned_abs()
                                .is_multiple_of(width * size)
                        })
                }
                _ => true,
            };
        }
        for (lies, read) in lies.iter_mut().zip(read) {
            if !read {
                *lies = Lies::Constant;
            }
        }
        Self {
            lies,
            width: if all { width } else { 1 },
            wide: count >= WIDE,
        }
    }

    /// The operands that are walked by strides.
    fn strided(&self) -> impl Iterator<Item = usize> + '_ {
        let walked = |lies: &Lies| !matches!(lies, Lies::Dense | Lies::Constant);
        (0..self.lies.len()).filter(move |&at| walked(&self.lies[at]))
    }

    /// The walk as the kernel has it, in words.
    fn walked(&self, operands: &Operands) -> Option<SmallVec<[u64; 64]>> {
        let walked: SmallVec<[usize; 8]> = self.strided().collect();
        if walked.is_empty() {
            return Some(SmallVec::new());
        }
        if walked.len() > WALKED {
            return None;
        }
        let dims = operands.sizes.iter().enumerate().map(|(dim, &size)| {
            let steps: SmallVec<[isize; 8]> = walked
                .iter()
                .map(|&at| operands.each[at].step(dim))
                .collect();
            (size, steps)
        });
        super::index::walk_words(dims, walked.len())
    }
}

/// Writes a program out.
#[derive(Default)]
struct Writer {
    /// A line a step.
    body: String,
    /// What numbers there are, in which dtype they are read.
    numbers: SmallVec<[(Scalar, DType); 4]>,
}

impl Writer {
    /// All steps that the result needs.
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

    /// An operator's scalar expression, on operands named as the table names them.
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

    /// A value in a dtype.
    fn read(
        &mut self,
        job: &FusedJob<'_>,
        at: usize,
        dtype: DType,
        by: Option<(Op, DType)>,
    ) -> String {
        match job.known[at] {
            Known::Scalar(value) => {
                let value = by.map_or(value, |(op, compute)| scalar(op, value, compute));
                self.numbers.push((value, dtype));
                format!("n{}", self.numbers.len() - 1)
            }
            Known::Tensor { dtype: own, .. } if own == dtype => format!("v{at}"),
            Known::Tensor { .. } => format!("convert<{}>(v{at})", type_name(dtype)),
        }
    }

    /// What stands before the class file.
    fn text(&self, job: &FusedJob<'_>, layout: &Layout) -> String {
        let mut out = String::from("#include \"chain.cuh\"\n");
        let result = type_name(job.dest.dtype);
        let types: SmallVec<[&str; 8]> = job
            .inputs
            .iter()
            .map(|(place, _)| type_name(place.dtype))
            .collect();
        let walked = layout.strided().count();
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
        for (number, (_, dtype)) in self.numbers.iter().enumerate() {
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
                "    i64 at[{walked}];\n    offsets(chain.at, base, at);"
            );
        }
        let mut place = 0;
        for (at, ty) in types.iter().enumerate() {
            let from = match layout.lies[at] {
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

/// Chains of all kinds of layout in all dtypes, for the compiler to see: what users write is theirs.
pub(super) fn samples() -> Vec<Chain> {
    let program = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Apply(Op::Add, &[0, 1]),
        Node::Scalar(0),
        Node::Apply(Op::Mul, &[2, 3]),
        Node::Tensor(2),
        Node::Apply(Op::Sub, &[4, 5]),
    ];
    // Beside a result of 64 rows and 128 columns: as it, a row, a column, its transpose, one number.
    const WAYS: [[isize; 2]; 5] = [[128, 1], [0, 1], [1, 0], [1, 64], [0, 0]];
    let mut all = Vec::new();
    for dtype in DType::ALL.into_iter().filter(|dtype| *dtype != DType::Bool) {
        for (second, third) in WAYS.iter().zip(WAYS.iter().cycle().skip(1)) {
            for row in [128, 127] {
                let value = Known::Tensor {
                    dtype,
                    compute: dtype,
                };
                let mut known = [value; 7];
                known[3] = Known::Scalar(Scalar::Int(3));
                let place = |address: usize| Place {
                    ptr: address as *mut u8,
                    dtype,
                };
                let job = FusedJob {
                    op: Op::Sub.name(),
                    program: &program,
                    live: &[true; 7],
                    known: &known,
                    inputs: &[
                        (place(512), &[row as isize, 1]),
                        (place(512), second),
                        (place(512), third),
                    ],
                    shape: &[64, row],
                    dest: place(512),
                    also: &[],
                    strides: &[row as isize, 1],
                };
                all.extend(Chain::new(&job, 64 * row).ok().flatten());
            }
        }
    }
    all
}

/// The samples as kernels of their own.
pub(super) fn modules() -> Vec<Module> {
    let mut sources: Vec<Source> = Vec::new();
    for chain in samples() {
        let source = chain.before(File::Fused);
        if !sources.contains(&source) {
            sources.push(source);
        }
    }
    let module = |source| Module::new(source, &[c"fused"]);
    sources.into_iter().map(module).collect()
}
