//! Random numbers, equal to those of the host: computed from the same words by the same steps.

use nomina_core::{DType, Result};

use super::Cuda;
use super::launch::{Argument, Grid};
use super::module::Module;
use super::order::sorted;
use super::source::{File, Source};
use crate::job::{Drawn, LineJob, Multinomial, Place, Task};

use crate::random::{Distribution, Draw, Stream};

/// The arguments: `Args` of `random.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct RandomArgs {
    dest: *mut u8,
    of: *const u8,
    flag: *mut u8,
    count: u64,
    seed: u64,
    position: u64,
    first: f64,
    second: f64,
    low: f64,
    high: f64,
    least: i64,
    many: u64,
    bits: u32,
    kind: u32,
    record: u32,
    pad: u32,
}

// SAFETY: `Args` of `random.cu`.
unsafe impl Argument for RandomArgs {}

impl RandomArgs {
    fn new(count: usize, dest: *mut u8, words: &Stream) -> Self {
        Self {
            dest,
            of: std::ptr::null(),
            flag: std::ptr::null_mut(),
            count: count as u64,
            seed: words.seed,
            position: words.position,
            first: 0.0,
            second: 0.0,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            least: 0,
            many: 0,
            bits: 0,
            kind: 0,
            record: 0,
            pad: 0,
        }
    }
}

/// The threads of a block.
const THREADS: u32 = 256;

/// The most blocks of a fill: several for each slot of a large device, and few enough that the setup of a thread is
/// shared by many elements.
const BLOCKS: u32 = 1 << 12;

/// Returns the number of elements that a thread of `random.cu` computes at once.
fn together(dtype: DType, draw: &str) -> usize {
    match draw {
        "poisson_of" => 1,
        "bernoulli" | "bernoulli_of" => 4,
        "integers" | "geometric" => 2,
        _ if dtype == DType::F64 => 2,
        _ => 4,
    }
}

/// Returns a module of `random.cu`.
fn filling(dtype: DType, draw: &'static str) -> Source {
    Source::new(File::Random)
        .dtype("T0", dtype)
        .word("DRAW", draw)
}

/// The float dtypes, for which continuous distributions are defined.
const FLOATS: [DType; 4] = [DType::F16, DType::BF16, DType::F32, DType::F64];

/// The real dtypes, in the order of their numbers in `shuffle.cu`.
const REAL: [DType; 10] = [
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Bool,
];

/// Returns the index of a dtype in a list.
fn number(dtypes: &[DType], dtype: DType) -> u32 {
    let at = dtypes.iter().position(|&known| known == dtype);
    at.unwrap_or_default() as u32
}

/// Lists every module that these calls use.
pub(super) fn modules() -> Vec<Module> {
    let mut all = Vec::new();
    let mut list = |dtypes: &[DType], draws: &[&'static str]| {
        for &dtype in dtypes {
            for draw in draws {
                all.push(Module::new(filling(dtype, draw), &[c"fill"]));
            }
        }
    };
    let floats = [
        "uniform",
        "normal",
        "log_normal",
        "exponential_times",
        "cauchy",
        "poisson_of",
    ];
    list(&FLOATS, &floats);
    list(&REAL[..9], &["geometric"]);
    list(&REAL, &["bernoulli", "integers", "bernoulli_of"]);
    all.push(Module::new(
        Source::new(File::Shuffle),
        &[
            c"keys",
            c"numbers",
            c"times",
            c"firsts",
            c"running_sums",
            c"search",
        ],
    ));
    all
}

/// Writes random numbers.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
pub(super) unsafe fn random(cuda: &'static Cuda, n: usize, dest: Place, draw: &Draw) -> Result<()> {
    let parts = if dest.dtype.is_complex() { 2 } else { 1 };
    let dtype = dest.dtype.to_real();
    let double = dtype == DType::F64;
    let mut args = RandomArgs {
        low: draw.low,
        high: draw.high,
        bits: draw.bits,
        ..RandomArgs::new(parts * n, dest.ptr, &draw.words)
    };
    let name = match draw.what {
        Distribution::Uniform { from, to } => {
            (args.first, args.second) = if double {
                (from, (to - from) / (1_u64 << 53) as f64)
            } else {
                let step = (to - from) as f32 / (1_u32 << draw.bits) as f32;
                ((from as f32).into(), step.into())
            };
            "uniform"
        }
        Distribution::Normal { mean, std } => {
            (args.first, args.second) = (mean, std);
            "normal"
        }
        Distribution::LogNormal { mean, std } => {
            (args.first, args.second) = (mean, std);
            "log_normal"
        }
        Distribution::Exponential { lambd } => {
            args.first = lambd;
            "exponential_times"
        }
        Distribution::Cauchy { median, sigma } => {
            (args.first, args.second) = (median, sigma);
            "cauchy"
        }
        Distribution::Geometric { p } => {
            args.first = (-p).ln_1p();
            "geometric"
        }
        Distribution::Bernoulli { p } => {
            args.many = (p * (1_u64 << 32) as f64).ceil() as u64;
            "bernoulli"
        }
        Distribution::Integers { low, high } => {
            args.least = low;
            args.many = (high.wrapping_sub(low) as u64).wrapping_add(1);
            "integers"
        }
    };
    // SAFETY: the caller's promise.
    unsafe { fill(cuda, "random", dtype, name, &args) }
}

/// Starts a fill. The caller ensures that the addresses in the struct are valid.
unsafe fn fill(
    cuda: &'static Cuda,
    op: &'static str,
    dtype: DType,
    draw: &'static str,
    args: &RandomArgs,
) -> Result<()> {
    if args.count == 0 {
        return Ok(());
    }
    let function = cuda.function(op, filling(dtype, draw), c"fill")?;
    let groups = (args.count as usize).div_ceil(together(dtype, draw));
    let mut grid = Grid::linear(groups, THREADS);
    grid.blocks[0] = grid.blocks[0].min(BLOCKS);
    // SAFETY: the caller's promise.
    unsafe { cuda.launch(op, function, grid, args) }
}

/// Writes random numbers of distributions with the parameters in `of`.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable, and `n` parameters at `of` are readable.
pub(super) unsafe fn random_of(
    cuda: &'static Cuda,
    n: usize,
    dest: Place,
    of: Place,
    what: Drawn,
    words: &Stream,
) -> Result<()> {
    let (op, name) = match what {
        Drawn::Bernoulli => ("bernoulli", "bernoulli_of"),
        Drawn::Poisson => ("poisson", "poisson_of"),
    };
    let raise = cuda.may_raise(op, move |at| what.refused(at as usize))?;
    let args = RandomArgs {
        of: of.ptr,
        kind: number(&FLOATS, of.dtype),
        flag: raise.flag,
        record: raise.record,
        ..RandomArgs::new(n, dest.ptr, words)
    };
    // SAFETY: the caller's promise.
    unsafe { fill(cuda, op, dest.dtype, name, &args) }
}

/// The arguments: `Args` of `shuffle.cu`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Shuffle {
    keys: *mut u8,
    order: *mut u8,
    dest: *mut u8,
    weights: *const u8,
    sums: *mut u8,
    last: *mut u8,
    flag: *mut u8,
    seed: u64,
    position: u64,
    rows: u64,
    places: u64,
    samples: u64,
    kind: u32,
    record: u32,
}

// SAFETY: `Args` of `shuffle.cu`.
unsafe impl Argument for Shuffle {}

impl Shuffle {
    fn new(rows: usize, places: usize, samples: usize, dest: *mut u8, words: &Stream) -> Self {
        Self {
            keys: std::ptr::null_mut(),
            order: std::ptr::null_mut(),
            dest,
            weights: std::ptr::null(),
            sums: std::ptr::null_mut(),
            last: std::ptr::null_mut(),
            flag: std::ptr::null_mut(),
            seed: words.seed,
            position: words.position,
            rows: rows as u64,
            places: places as u64,
            samples: samples as u64,
            kind: 0,
            record: 0,
        }
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// The addresses of the struct are valid.
    unsafe fn start(
        &self,
        cuda: &'static Cuda,
        op: &'static str,
        entry: &'static std::ffi::CStr,
        grid: Grid,
    ) -> Result<()> {
        let function = cuda.function(op, Source::new(File::Shuffle), entry)?;
        // SAFETY: the caller's promise.
        unsafe { cuda.launch(op, function, grid, self) }
    }

    /// Sorts the keys of each row, and writes the first `samples` positions to `order`.
    ///
    /// # Safety
    /// The addresses of the struct are valid.
    unsafe fn sort(&self, cuda: &'static Cuda, op: &'static str) -> Result<()> {
        let [rows, places, samples] = [self.rows, self.places, self.samples].map(|n| n as usize);
        let job = LineJob {
            op,
            task: Task::Sort { descending: false },
            shape: &[rows, places],
            strides: &[places as isize, 1],
            x: self.keys,
            dtype: DType::I64,
            dim: 1,
            count: samples,
            values: std::ptr::null_mut(),
            positions: self.order.cast(),
            out_strides: &[samples as isize, 1],
        };
        // Kernels support two dims, so the result is true.
        // SAFETY: the caller's promise.
        unsafe { sorted(cuda, &job, u64::BITS).map(drop) }
    }
}

/// Writes the numbers below `n` in random order: sorted by 64 random bits, and by value for equal bits.
///
/// # Safety
/// `n` adjacent elements at `dest` are writable.
pub(super) unsafe fn permutation(
    cuda: &'static Cuda,
    n: usize,
    dest: Place,
    words: &Stream,
) -> Result<()> {
    let op = "randperm";
    if n == 0 {
        return Ok(());
    }
    let mut args = Shuffle::new(1, n, n, dest.ptr, words);
    args.kind = number(&REAL, dest.dtype);
    let converts = dest.dtype != DType::I64;
    let keys = cuda.scratch(op, [n, 8])?;
    let order = cuda.scratch(op, [if converts { n } else { 0 }, 8])?;
    args.keys = keys.as_ptr();
    args.order = if converts { order.as_ptr() } else { dest.ptr };
    let all = Grid::linear(n, THREADS);
    // SAFETY: the workspaces have a key and a position for each number; the caller promises the rest.
    unsafe {
        args.start(cuda, op, c"keys", all)?;
        args.sort(cuda, op)?;
        if converts {
            args.start(cuda, op, c"numbers", all)
        } else {
            Ok(())
        }
    }
}

/// Draws positions by weight from each row.
///
/// # Safety
/// The weights are readable, `rows * samples` adjacent elements of `i64` at `dest` writable.
pub(super) unsafe fn multinomial(cuda: &'static Cuda, job: &Multinomial) -> Result<()> {
    let op = "multinomial";
    if job.rows == 0 {
        return Ok(());
    }
    let samples = job.samples;
    let refused = move |row: i64| Multinomial::refused(row as usize, samples);
    let raise = cuda.may_raise(op, refused)?;
    let mut args = Shuffle {
        weights: job.weights.ptr,
        kind: number(&FLOATS, job.weights.dtype),
        flag: raise.flag,
        record: raise.record,
        ..Shuffle::new(job.rows, job.categories, samples, job.dest.ptr, &job.words)
    };
    let all = Grid::linear(job.rows * samples, THREADS);
    if job.replacement {
        let weights = job.rows * job.categories;
        let sums = cuda.scratch(op, [weights, 8])?;
        let last = cuda.scratch(op, [job.rows, 8])?;
        (args.sums, args.last) = (sums.as_ptr(), last.as_ptr());
        // SAFETY: the workspaces have a sum for each weight, and room for each row; the caller promises the rest.
        unsafe {
            let rows = Grid::blocks(job.rows, THREADS);
            args.start(cuda, op, c"running_sums", rows)?;
            args.start(cuda, op, c"search", all)
        }
    } else {
        let places = job.rows * job.categories;
        let keys = cuda.scratch(op, [places, 8])?;
        let order = cuda.scratch(op, [job.rows, samples, 8])?;
        (args.keys, args.order) = (keys.as_ptr(), order.as_ptr());
        // SAFETY: the workspaces have a key for each weight, and room for the drawn positions; the caller promises the
        // rest.
        unsafe {
            args.start(cuda, op, c"times", Grid::linear(places, THREADS))?;
            args.sort(cuda, op)?;
            args.start(cuda, op, c"firsts", all)
        }
    }
}
