//! Matrix products.
//!
//! Large products of floats and complex numbers go to cuBLASLt where it is installed. Integers and
//! bool, products with a vector, small ones, and all where it is not, go to kernels of our own.

use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::Ordering;

use nomina_core::op::Op;
use nomina_core::{DType, Result, Scalar};

use super::catalog::Module;
use super::choice::Who;
use super::context::Cuda;
use super::cublaslt;
use super::index::{Divider, WIDE};
use super::launch::{Argument, Grid};
use super::source::{File, Source};
use super::tile::{self, Dims, Repeats, Side};
use crate::job::{Backend, Input, Matrix, Place, Pointwise, Product, Repeat};
use crate::storage::DeviceBuffer;

use crate::plan::Plan;
use crate::shape::{Shape, Strides};

const OP: &str = "matmul";

/// Threads of a block.
const THREADS: u32 = 256;
/// Steps of the summed dim that a block has at hand at a time, and rows of a result of wide elements.
const DEEP: usize = 16;
/// Multiplications up to which a start of our own kernel costs less than one of cuBLASLt: 32 cubed.
const SMALL: usize = 1 << 15;
/// A part of a summed dim is no shorter.
const PART: usize = 256;

#[repr(C)]
#[derive(Clone, Copy)]
struct Args {
    a: Side,
    b: Side,
    c: Side,
    d: Side,
    repeats: Repeats<4>,
    partial: u64,
    alpha: [u64; 2],
    beta: [u64; 2],
    m: u64,
    n: u64,
    k: u64,
    count: u64,
    parts: u64,
    steps: u64,
    down: Divider,
    across: Divider,
    scaled: u32,
    added: u32,
    packed: u32,
    pad: u32,
}

// SAFETY: the struct `Product` of `gemm.cu`, whose padding is written out.
unsafe impl Argument for Args {}

/// Who multiplies, as `NOMINA_CUDA_MATMUL` says.
fn who() -> Who {
    static WHO: OnceLock<Who> = OnceLock::new();
    *WHO.get_or_init(|| Who::of("NOMINA_CUDA_MATMUL", "cublaslt"))
}

/// Whether cuBLASLt is asked for nothing.
pub(super) fn never_asks() -> bool {
    matches!(who(), Who::Own)
}

/// Computes a product for every combination of the repeats' indices, and what comes after it.
///
/// # Safety
/// As for the backend's `product`: all matrices lie where they say, on this device.
pub(super) unsafe fn product(
    cuda: &'static Cuda,
    product: Product,
    repeats: &[Repeat],
) -> Result<()> {
    // SAFETY: the caller's promise.
    unsafe {
        sums(cuda, product, repeats)?;
        match product.after {
            None => Ok(()),
            Some(op) => after(cuda, op, &product, repeats),
        }
    }
}

/// Takes a result through an elementwise operator that gives its dtype. cuBLASLt would do two of them on
/// the way, but its relu makes a zero of NaN, and how exact its gelu is nobody says.
///
/// # Safety
/// As for [`product`].
unsafe fn after(cuda: &'static Cuda, op: Op, p: &Product, repeats: &[Repeat]) -> Result<()> {
    let mut shape: Shape = repeats.iter().map(|repeat| repeat.size).collect();
    let mut strides: Strides = repeats.iter().map(|repeat| repeat.c).collect();
    shape.extend_from_slice(&[p.m, p.n]);
    strides.extend_from_slice(&[p.c.rows, p.c.cols]);
    let size = p.dtype.size();
    let plan = Plan::new(&shape, &[(&strides, size), (&strides, size)]);
    let place = Place {
        ptr: p.c.ptr,
        dtype: p.dtype,
    };
    let job = Pointwise {
        op,
        compute: p.dtype,
        plan: &plan,
        dest: place,
        inputs: &[Input::Tensor(place)],
        in_place: true,
    };
    // SAFETY: the caller's promise; each element is read where it is written.
    unsafe { Backend::pointwise(cuda, &job) }
}

/// The products alone.
///
/// # Safety
/// As for [`product`].
unsafe fn sums(cuda: &'static Cuda, mut product: Product, repeats: &[Repeat]) -> Result<()> {
    let dims = repeats.iter().map(|r| (r.size, [r.a, r.b, r.c, r.d]));
    let mut dims = tile::merged(dims);
    taller(&mut product, &mut dims);
    if product.beta.is_none() {
        product.addend = None;
    } else if product.addend.is_none() {
        product.addend = Some(product.c);
        dims.iter_mut().for_each(|(_, steps)| steps[3] = steps[2]);
    }
    if product.m == 0 || product.n == 0 || tile::count(&dims) == 0 {
        return Ok(());
    }
    if product.m == 1 && product.n != 1 {
        product = product.flipped();
        dims.iter_mut().for_each(|(_, steps)| steps.swap(0, 1));
    }
    let small = product.work().saturating_mul(tile::count(&dims)) <= SMALL;
    let library = match who() {
        Who::Own => false,
        Who::Auto => product.n != 1 && !small,
        Who::Library => true,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if library && product.k != 0 && cublaslt::product(cuda, &product, &dims)? {
            return Ok(());
        }
        own(cuda, &product, &dims)
    }
}

/// Rows that continue over a repeat, with the same right operand, are one taller matrix.
fn taller(product: &mut Product, dims: &mut Dims<4>) {
    while let Some(&(size, [a, b, c, d])) = dims.last() {
        if product.m == 1 && b == 0 {
            (product.a.rows, product.c.rows) = (a, c);
            if let Some(addend) = &mut product.addend {
                addend.rows = d;
            }
        }
        let rows = product.m as isize;
        let goes_on = b == 0
            && a == rows * product.a.rows
            && c == rows * product.c.rows
            && product.addend.is_none_or(|x| d == rows * x.rows);
        if !goes_on {
            break;
        }
        product.m *= size;
        dims.pop();
    }
}

/// A number as kernels and cuBLASLt take it: in the type that the dtype computes in.
pub(super) fn words(dtype: DType, value: Scalar) -> [u64; 2] {
    let single = |x: f64| u64::from((x as f32).to_bits());
    match dtype {
        DType::Bool => [u64::from(value.to_bool()), 0],
        // The kernel takes the low half, and wraps at the end.
        DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => [value.to_i64() as u64, 0],
        DType::F16 | DType::BF16 | DType::F32 => [single(value.to_f64()), 0],
        DType::F64 => [value.to_f64().to_bits(), 0],
        DType::C64 => {
            let value = value.to_complex();
            [single(value.re) | (single(value.im) << 32), 0]
        }
        DType::C128 => {
            let value = value.to_complex();
            [value.re.to_bits(), value.im.to_bits()]
        }
    }
}

/// Bytes of what sums are kept in.
fn sum_size(dtype: DType) -> usize {
    match dtype {
        DType::I64 | DType::F64 | DType::C64 => 8,
        DType::C128 => 16,
        _ => 4,
    }
}

/// One of the kernels, with how it shares out the work.
#[derive(Clone, Copy)]
struct Way {
    entry: &'static CStr,
    /// Blocks without parts.
    blocks: usize,
    /// Into how many parts the summed dim may go.
    parts: usize,
    /// Parts are multiples of so many steps.
    unit: usize,
    packed: bool,
}

/// By our own kernels.
///
/// # Safety
/// As for [`product`].
pub(super) unsafe fn own(cuda: &'static Cuda, p: &Product, dims: &Dims<4>) -> Result<()> {
    cuda.own_products.fetch_add(1, Ordering::Relaxed);
    let (repeats, outer) = Repeats::new(dims);
    let count = repeats.count();
    let way = way(p, dims, count);
    let busy = 4 * cuda.multiprocessors();
    let parts = (busy / way.blocks.max(1)).clamp(1, way.parts.max(1));
    let steps = p.k.div_ceil(parts).next_multiple_of(way.unit).max(way.unit);
    let parts = p.k.div_ceil(steps).max(1);
    let results = count.saturating_mul(p.m).saturating_mul(p.n);
    let partial = if parts > 1 {
        Some(cuda.scratch(OP, [parts, results, sum_size(p.dtype)])?)
    } else {
        None
    };
    let size = p.dtype.size();
    let divider = |size: usize| Divider::new(u32::try_from(size).unwrap_or(1));
    let side = |at: Option<Matrix>, shift| at.map_or(Side::NONE, |at| Side::new(at, shift, size));
    let alpha = words(p.dtype, p.alpha);
    let args = |at: [isize; 4]| Args {
        a: side(Some(p.a), at[0]),
        b: side(Some(p.b), at[1]),
        c: side(Some(p.c), at[2]),
        d: side(p.addend, at[3]),
        repeats,
        partial: partial
            .as_ref()
            .map_or(0, |block: &DeviceBuffer| block.as_ptr() as u64),
        alpha,
        beta: words(p.dtype, p.beta.unwrap_or(Scalar::Int(0))),
        m: p.m as u64,
        n: p.n as u64,
        k: p.k as u64,
        count: count as u64,
        parts: parts as u64,
        steps: steps as u64,
        down: divider(p.m),
        across: divider(p.n),
        scaled: u32::from(alpha != words(p.dtype, Scalar::Int(1))),
        added: u32::from(p.addend.is_some()),
        packed: u32::from(way.packed),
        pad: 0,
    };
    let wide = results.max(p.m.saturating_mul(count).saturating_mul(parts)) >= WIDE;
    let blocks = way.blocks.saturating_mul(parts);
    let function = cuda.function(OP, source(p.dtype, wide), way.entry)?;
    let combine = match parts {
        1 => None,
        _ => Some(cuda.function(OP, source(p.dtype, wide), c"combine")?),
    };
    tile::walk(outer, |at| {
        let args = args(at);
        // SAFETY: the caller's promise; the parts' sums have a block of their own, which is used
        // again only by what comes after.
        unsafe {
            cuda.launch(OP, function, Grid::blocks(blocks, THREADS), &args)?;
            if let Some(combine) = combine {
                cuda.launch(OP, combine, Grid::linear(results, THREADS), &args)?;
            }
        }
        Ok(())
    })
}

fn way(p: &Product, dims: &Dims<4>, count: usize) -> Way {
    if p.n != 1 {
        let edge = if p.dtype == DType::C128 { 32 } else { 64 };
        return Way {
            entry: c"tiles",
            blocks: p.m.div_ceil(edge) * p.n.div_ceil(edge) * count,
            parts: p.k / PART,
            unit: DEEP,
            packed: false,
        };
    }
    if p.m == 1 || p.a.cols.unsigned_abs() <= p.a.rows.unsigned_abs() {
        let aligned = |x: isize| (x * p.dtype.size() as isize) % 16 == 0;
        let packed = p.a.cols == 1
            && p.b.rows == 1
            && (p.m == 1 || aligned(p.a.rows))
            && (p.a.ptr as usize).is_multiple_of(16)
            && (p.b.ptr as usize).is_multiple_of(16)
            && dims
                .iter()
                .all(|(_, [a, b, ..])| aligned(*a) && aligned(*b));
        return Way {
            entry: c"rows",
            blocks: (p.m * count).div_ceil(THREADS as usize / 32),
            parts: p.k / (4 * PART),
            unit: 2 * PART,
            packed,
        };
    }
    Way {
        entry: c"columns",
        blocks: p.m.div_ceil(32) * count,
        parts: p.k / PART,
        unit: DEEP,
        packed: false,
    }
}

fn source(dtype: DType, wide: bool) -> Source {
    Source::new(File::Gemm).dtype("T0", dtype).index(wide)
}

/// Every module that calls here ask for.
pub(super) fn modules() -> Vec<Module> {
    let each = |dtype| [false, true].map(|wide| source(dtype, wide));
    let entries = &[c"tiles", c"rows", c"columns", c"combine"];
    let sources = DType::ALL.into_iter().flat_map(each);
    sources.map(|source| Module::new(source, entries)).collect()
}
