//! Chains of elementwise operators as one kernel.
//!
//! The program is written out in the language of kernels: a value a step, in the dtype that the
//! step's tensor would have had. How operands lie beside the result decides how they are read, and is
//! part of the text; sizes, strides and numbers are not, so that one kernel serves all calls of the
//! same expression, dtypes and kind of layout.

use std::fmt::Write;

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::catalog::Module;
use super::context::Cuda;
use super::index::WIDE;
use super::launch::Grid;
use super::source::{Source, type_name};
use crate::SmallVec;
use crate::backend::{Place, arithmetic};
use crate::call::{FusedJob, Known, Node, scalar};
use crate::cpu::constant::Constant;
use crate::cpu::fused::Operands;
use crate::cpu::pointwise::kernel;

/// Threads of a block.
const THREADS: u32 = 256;

/// The most operands that a kernel walks; their steps are what takes room in its argument.
const WALKED: usize = 16;

/// Computes a program; false, and nothing has happened, where it has more dims or operands than a kernel
/// walks.
///
/// # Safety
/// As [`crate::backend::Backend::fused`].
pub(super) unsafe fn execute(cuda: &Cuda, job: &FusedJob<'_>) -> Result<bool> {
    let count: usize = job.shape.iter().product();
    if count == 0 {
        return Ok(true);
    }
    let operands = Operands::new(job);
    let layout = Layout::new(job, &operands, count);
    let mut writer = Writer::default();
    let source = writer.source(job, &layout)?;
    let Some(walked) = layout.walked(&operands) else {
        return Ok(false);
    };
    let function = cuda.function(job.op, source, c"fused")?;
    let mut args: SmallVec<[u64; 64]> = SmallVec::new();
    for &(value, dtype) in &writer.numbers {
        args.extend_from_slice(&Constant::new(value, dtype).words());
    }
    args.extend_from_slice(&[count as u64, job.dest.ptr as u64]);
    args.extend(job.inputs.iter().map(|(place, _)| place.ptr as u64));
    args.extend_from_slice(&walked);
    if !writer.numbers.is_empty() && !args.len().is_multiple_of(2) {
        // Numbers are aligned to 16 bytes, and so is the end of the struct.
        args.push(0);
    }
    let grid = Grid::linear(count.div_ceil(layout.width), THREADS);
    // SAFETY: the words are the struct that the text declares; the caller promises the positions.
    unsafe { cuda.launch_words(job.op, function, grid, &args)? };
    Ok(true)
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

    /// The program as a module.
    fn source(&mut self, job: &FusedJob<'_>, layout: &Layout) -> Result<Source> {
        self.steps(job)?;
        Ok(Source::own("fuse", self.text(job, layout).into()))
    }

    /// The whole file.
    fn text(&self, job: &FusedJob<'_>, layout: &Layout) -> String {
        let mut out = String::from(
            "#include \"special.cuh\"\n#include \"convert.cuh\"\n#include \"index.cuh\"\n",
        );
        let (index, width) = (if layout.wide { "u64" } else { "u32" }, layout.width);
        let result = type_name(job.dest.dtype);
        let types: SmallVec<[&str; 8]> = job
            .inputs
            .iter()
            .map(|(place, _)| type_name(place.dtype))
            .collect();
        let walked = layout.strided().count();
        let tensors = types.len();
        out.push_str("struct alignas(16) Number { u64 words[2]; };\nstruct Job {\n");
        for number in 0..self.numbers.len() {
            let _ = writeln!(out, "    Number number{number};");
        }
        let _ = writeln!(out, "    u64 count; u8* out; const u8* in[{tensors}];");
        if walked > 0 {
            let _ = writeln!(out, "    Strided<{walked}> at;");
        }
        out.push_str("};\n");
        let parameters: Vec<String> = types
            .iter()
            .enumerate()
            .map(|(at, ty)| format!(", {ty} t{at}"))
            .collect();
        let _ = writeln!(
            out,
            "// In the namespace of the scalar functions, which have names of the language's own.\nnamespace numeric {{\nDEVICE {result} element(const Job& job{}) {{",
            parameters.concat()
        );
        for (number, (_, dtype)) in self.numbers.iter().enumerate() {
            let ty = type_name(*dtype);
            let _ = writeln!(
                out,
                "    const {ty} n{number} = *reinterpret_cast<const {ty}*>(&job.number{number});"
            );
        }
        out.push_str(&self.body);
        let _ = writeln!(out, "    return v{};\n}}\n}}", job.program.len() - 1);
        let _ = writeln!(
            out,
            "template <int N> DEVICE void run(const Job& job, {index} base) {{"
        );
        if walked > 0 {
            let _ = writeln!(out, "    i64 at[{walked}];\n    offsets(job.at, base, at);");
        }
        let mut place = 0;
        for (at, ty) in types.iter().enumerate() {
            let from = match layout.lies[at] {
                Lies::Dense => format!("dense<{ty}, N>(job.in[{at}] + (u64)base * sizeof({ty}))"),
                Lies::Constant => format!("constant<{ty}, N>(job.in[{at}])"),
                lies => {
                    let here = format!("job.in[{at}] + at[{place}]");
                    place += 1;
                    match lies {
                        Lies::Rows => format!("dense<{ty}, N>({here})"),
                        Lies::Spread => format!("constant<{ty}, N>({here})"),
                        _ => format!("strided<{ty}, N>({here}, job.at.steps[{}][0])", place - 1),
                    }
                }
            };
            let _ = writeln!(out, "    const Pack<{ty}, N> p{at} = {from};");
        }
        let values: Vec<String> = (0..tensors).map(|at| format!(", p{at}[k]")).collect();
        let _ = write!(
            out,
            "    Pack<{result}, N> out;\n#pragma unroll\n    for (int k = 0; k < N; k++) out[k] = \
             numeric::element(job{values});\n    *reinterpret_cast<Pack<{result}, N>*>(job.out + (u64)base * \
             sizeof({result})) = out;\n}}\n\
             KERNEL(fused, Job) {{\n    const {index} count = job.count, step = \
             ({index})gridDim.x * blockDim.x * {width};\n    {index} base = \
             (({index})blockIdx.x * blockDim.x + threadIdx.x) * {width};\n    \
             for (; base < count; base += step) {{\n        \
             if (count - base >= {width}) run<{width}>(job, base);\n        \
             else for ({index} i = base; i < count; i++) run<1>(job, i);\n    }}\n}}\n",
            values = values.concat(),
        );
        READS.to_owned() + &out
    }
}

/// How operands are read: `N` elements at once.
const READS: &str = r#"#include "types.cuh"
template <class T, int N> DEVICE Pack<T, N> dense(const u8* from) {
    return *reinterpret_cast<const Pack<T, N>*>(from);
}
template <class T, int N> DEVICE Pack<T, N> strided(const u8* from, long long step) {
    Pack<T, N> out;
#pragma unroll
    for (int k = 0; k < N; k++) out[k] = *reinterpret_cast<const T*>(from + k * step);
    return out;
}
template <class T, int N> DEVICE Pack<T, N> constant(const u8* from) {
    return strided<T, N>(from, 0);
}
"#;

/// Chains of all kinds of layout in all dtypes, for the compiler to see: what users write is theirs.
pub(super) fn modules() -> Vec<Module> {
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
                    strides: &[row as isize, 1],
                };
                let operands = Operands::new(&job);
                let layout = Layout::new(&job, &operands, 64 * row);
                all.extend(Writer::default().source(&job, &layout).ok());
            }
        }
    }
    let mut seen = std::collections::HashSet::new();
    all.retain(|source| seen.insert(source.clone()));
    let module = |source| Module::new(source, &[c"fused"]);
    all.into_iter().map(module).collect()
}
