//! Chains of elementwise operators as one kernel.
//!
//! The CUDA source of a program is generated once (`written.rs`). It does not contain sizes, strides and numbers, so
//! one kernel serves all calls with the same expression, dtypes and kinds of layout.

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::context::Cuda;
use super::index::WIDE;
use super::launch::Grid;
use super::module::Module;
use super::source::{File, Source, Text};
use super::written::{Lies, Written};
use crate::SmallVec;
use crate::job::{FusedJob, Known, Node, Place};

use crate::cpu::fused::WalkOperands;

/// The threads of a block.
const THREADS: u32 = 256;

/// The most strided operands of a kernel, whose steps take room in its argument.
const WALKED: usize = 16;

/// The most words of an argument.
const WORDS: usize = 500;

/// Computes a program. Returns false, without computing, if it has more dims or operands than kernels support.
///
/// # Safety
/// See [`Backend::fused`].
pub(super) unsafe fn execute(cuda: &Cuda, job: &FusedJob<'_>) -> Result<bool> {
    let count: usize = job.shape.iter().product();
    if count == 0 {
        return Ok(true);
    }
    let Some(chain) = ChainCall::new(job, count)? else {
        return Ok(false);
    };
    let source = chain.before(File::Fused);
    let function = cuda.function(job.op, source, c"fused")?;
    let mut words = chain.words;
    words.extend_from_slice(&[count as u64, job.dest.ptr as u64]);
    let grid = Grid::linear(count.div_ceil(chain.width), THREADS);
    // SAFETY: the words have the layout of `Fused` of `fused.cu`; the caller promises the positions.
    unsafe { cuda.launch_words(job.op, function, grid, &words)? };
    Ok(true)
}

/// The generated source of a program, and the arguments of one call.
pub(super) struct ChainCall {
    text: Text,
    /// The struct that the source declares. If it has numbers, its length is a multiple of 16 bytes.
    pub(super) words: SmallVec<[u64; 64]>,
    /// Whether it has numbers, which are aligned to 16 bytes.
    pub(super) aligned: bool,
    pub(super) dtype: DType,
    width: usize,
    wide: bool,
}

impl ChainCall {
    /// Generates the source of a job, or finds it again. `None` for more dims or operands than kernels support.
    pub(super) fn new(job: &FusedJob<'_>, count: usize) -> Result<Option<Self>> {
        let operands = WalkOperands::new(job);
        let layout = OperandLayout::new(job, &operands, count);
        let written = Written::generate(job, &layout.lies, operands.sizes.len())?;
        let Some(walked) = layout.walked(&operands) else {
            return Ok(None);
        };
        let mut words: SmallVec<[u64; 64]> = SmallVec::new();
        for constant in written.numbers(job) {
            words.extend_from_slice(&constant.words());
        }
        let aligned = !words.is_empty();
        words.extend(job.inputs.iter().map(|(place, _)| place.ptr as u64));
        words.extend_from_slice(&walked);
        if aligned && !words.len().is_multiple_of(2) {
            words.push(0);
        }
        let chain = Self {
            text: written.text.clone(),
            words,
            aligned,
            dtype: job.dest.dtype,
            width: layout.width,
            wide: layout.wide,
        };
        Ok((chain.words.len() <= WORDS).then_some(chain))
    }

    /// Returns the module of a class file that reads the elements of the chain.
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

/// The layout of all operands.
struct OperandLayout {
    lies: SmallVec<[Lies; 8]>,
    /// The number of elements that a thread computes at once.
    width: usize,
    wide: bool,
}

impl OperandLayout {
    fn new(job: &FusedJob<'_>, operands: &WalkOperands, count: usize) -> Self {
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

    /// Returns the operands that are read by strides.
    fn strided(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.lies.len()).filter(|&at| self.lies[at].walked())
    }

    /// Returns the dims and strides in the form of the kernel, as words.
    fn walked(&self, operands: &WalkOperands) -> Option<SmallVec<[u64; 64]>> {
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

/// Returns chains with all kinds of layout in all dtypes, as samples of those that users write.
pub(super) fn samples() -> Vec<ChainCall> {
    let program = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Apply(Op::Add, &[0, 1]),
        Node::Scalar(0),
        Node::Apply(Op::Mul, &[2, 3]),
        Node::Tensor(2),
        Node::Apply(Op::Sub, &[4, 5]),
    ];
    // The strides of operands for a result of 64 rows and 128 columns: contiguous, a row, a column, a transpose, one
    // number.
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
                all.extend(ChainCall::new(&job, 64 * row).ok().flatten());
            }
        }
    }
    all
}

/// Lists the modules of the samples.
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
