//! Matrix products by cuBLASLt, if it is installed. It is loaded at the first product, and chooses an algorithm once
//! for each kind of product.
//!
//! The library's matrices are column-major: a row-major result is the transpose of the product of the transposed
//! operands, in reverse order. Operands of which neither stride is 1 are no matrices of the library and are copied
//! first.

mod plan;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::context::Cuda;
use super::gemm::{self, words};
use super::per_device::{PerDevice, lock};
use super::precision::tf32_is_allowed;
use super::probe;
use super::tile::{self, RepeatedDims};
use crate::job::{Backend, Matrix, Place, Product};
use crate::storage::DeviceBuffer;

use crate::plan::Plan;
use crate::shape::{Shape, Strides};
use plan::{MatmulPlan, ProductAddresses, ProductQuery};

const OP: &str = "matmul";

/// The most plans that are kept. All are discarded when a program exceeds it.
const KEPT: usize = 4096;

/// The most calls of the library for one product; above it, operands are copied.
const CALLS: usize = 8;

/// The functions of the library that we call.
const NEEDED: &[&str] = &[
    "cublasLtCreate",
    "cublasLtGetCudartVersion",
    "cublasLtMatmul",
    "cublasLtMatmulAlgoGetHeuristic",
    "cublasLtMatmulDescCreate",
    "cublasLtMatmulDescDestroy",
    "cublasLtMatmulDescSetAttribute",
    "cublasLtMatmulPreferenceCreate",
    "cublasLtMatmulPreferenceDestroy",
    "cublasLtMatmulPreferenceSetAttribute",
    "cublasLtMatrixLayoutCreate",
    "cublasLtMatrixLayoutDestroy",
    "cublasLtMatrixLayoutSetAttribute",
];

/// The library on one device.
#[derive(Debug)]
pub(super) struct CublasLt {
    handle: sys::cublasLtHandle_t,
    /// The CUDA version of the library.
    pub(super) version: (u32, u32),
    /// `None` for a product that the library cannot compute.
    plans: Mutex<HashMap<ProductQuery, Option<MatmulPlan>>>,
    calls: AtomicU64,
}

// SAFETY: any thread may call the library with the same handle; plans are behind a lock.
unsafe impl Send for CublasLt {}
// SAFETY: as above.
unsafe impl Sync for CublasLt {}

/// The library on each device, from the first product on, or why it is not used.
static LIBRARIES: PerDevice<Result<CublasLt, String>> = PerDevice::new();

/// Returns the library on a device, or why it is not used.
pub(super) fn library(cuda: &Cuda) -> Result<&'static CublasLt, &'static String> {
    cuda.library(&LIBRARIES, CublasLt::open)
}

/// Returns whether the library is installed and has all functions that we call.
fn present() -> bool {
    static THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads a library by name, which is allowed at any time; symbols are only looked up.
    *THERE.get_or_init(|| unsafe {
        let there = |name: &&str| sys::culib().get::<*const ()>(name.as_bytes()).is_ok();
        sys::is_culib_present() && NEEDED.iter().all(there)
    })
}

impl CublasLt {
    /// Opens the library, or returns why it is not used.
    fn open(cuda: &Cuda) -> Result<Self, String> {
        if !present() {
            return Err("cuBLASLt (libcublasLt) was not found".to_owned());
        }
        // SAFETY: the library is there and has this function.
        let version = probe::numbers(unsafe { sys::cublasLtGetCudartVersion() } as u32);
        let text = |error: Error| error.to_string();
        probe::fits(OP, "libcublasLt", "nvidia-cublas", version).map_err(text)?;
        let _bound = cuda.bind(OP).map_err(text)?;
        Ok(Self {
            handle: result::create_handle().map_err(|error| text(failed(error)))?,
            version,
            plans: Mutex::default(),
            calls: AtomicU64::new(0),
        })
    }

    /// Returns the number of products that it has computed.
    pub(super) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Starts a product, or returns false if the library cannot compute it.
    ///
    /// # Safety
    /// The operands are at their addresses, laid out as the question says.
    unsafe fn run(
        &self,
        cuda: &'static Cuda,
        asked: ProductQuery,
        mut operands: ProductAddresses,
    ) -> Result<bool> {
        let _bound = cuda.bind(OP)?;
        let mut plans = lock(&self.plans);
        if plans.len() >= KEPT {
            plans.clear();
        }
        let plan = match plans.entry(asked) {
            std::collections::hash_map::Entry::Occupied(kept) => kept.into_mut(),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(MatmulPlan::new(self.handle, &asked, operands.bias).map_err(failed)?)
            }
        };
        let Some(plan) = plan else {
            return Ok(false);
        };
        // Freed in the order of the stream: the next product may use it again.
        let workspace = match plan.workspace {
            0 => None,
            bytes => Some(cuda.scratch(OP, [bytes])?),
        };
        operands.workspace = workspace
            .as_ref()
            .map_or(std::ptr::null_mut(), DeviceBuffer::as_ptr);
        // SAFETY: the caller's promise; the workspace has the length of the plan.
        unsafe { plan.run(self.handle, &operands, cuda.stream.cast()) }.map_err(failed)?;
        self.calls.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }
}

#[cold]
fn failed(error: CublasError) -> Error {
    let what = format!("cuBLASLt says {:?}", error.0);
    Error::new(ErrorKind::Device, OP, what)
        .hint("set NOMINA_CUDA_MATMUL=own to multiply without it, and report this")
}

/// Returns the leading dimension of a column-major matrix; `None` if it is not column-major.
fn leading(matrix: Matrix, rows: usize, cols: usize) -> Option<i64> {
    let rows_of = rows.max(1) as isize;
    let step = if cols == 1 { rows_of } else { matrix.cols };
    ((rows == 1 || matrix.rows == 1) && step >= rows_of).then_some(step as i64)
}

/// Like [`leading`], but for an operand, which may be transposed: also returns whether it is.
fn operand(matrix: Matrix, rows: usize, cols: usize) -> Option<(bool, i64)> {
    let plain = leading(matrix, rows, cols).map(|leading| (false, leading));
    plain.or_else(|| leading(matrix.t(), cols, rows).map(|leading| (true, leading)))
}

/// Computes a product for every combination of the indices. Does nothing and returns false if the library is missing or
/// does not support the product.
///
/// # Safety
/// See the backend's `product`: all matrices are on this device, at their addresses and strides.
pub(super) unsafe fn product(
    cuda: &'static Cuda,
    product: &Product,
    dims: &RepeatedDims<4>,
) -> Result<bool> {
    if !plan::takes(product.dtype) {
        return Ok(false);
    }
    let Ok(library) = library(cuda) else {
        return Ok(false);
    };
    let (mut p, mut dims) = (*product, dims.clone());
    if leading(p.c, p.m, p.n).is_none() {
        p = p.flipped();
        dims.iter_mut().for_each(|(_, steps)| steps.swap(0, 1));
    }
    if leading(p.c, p.m, p.n).is_none() {
        return Ok(false);
    }
    let mut kept: [Option<DeviceBuffer>; 2] = [None, None];
    // SAFETY: the caller's promise. Copies are in workspaces, which only later work uses again.
    unsafe {
        for (which, kept) in kept.iter_mut().enumerate() {
            let (matrix, rows, cols) = factor(&p, which);
            if operand(matrix, rows, cols).is_none() {
                *kept = Some(pack(cuda, &mut p, &mut dims, which, false)?);
            }
        }
        dims = tile::merged(dims);
        let longest =
            |dims: &RepeatedDims<4>| dims.iter().map(|(size, _)| *size).max().unwrap_or(1);
        if tile::count(&dims) / longest(&dims) > CALLS {
            for (which, kept) in kept.iter_mut().enumerate() {
                let goes_on = |pair: &[tile::RepeatedDim<4>]| {
                    pair[0].1[which] == pair[1].1[which] * pair[1].0 as isize
                };
                if !dims.windows(2).all(goes_on) {
                    *kept = Some(pack(cuda, &mut p, &mut dims, which, true)?);
                }
            }
            dims = tile::merged(dims);
        }
        let added = added(cuda, &mut p, &dims)?;
        let longest = longest(&dims);
        let at = dims.iter().position(|(size, _)| *size == longest);
        let batch = match at {
            Some(at) => dims.remove(at),
            None => (1, [0; 4]),
        };
        tile::walk(&dims, |shift| {
            batched(cuda, library, &p, shift, batch, added)
        })?;
    }
    drop(kept);
    Ok(true)
}

fn factor(p: &Product, which: usize) -> (Matrix, usize, usize) {
    if which == 0 {
        (p.a, p.m, p.k)
    } else {
        (p.b, p.k, p.n)
    }
}

/// Replaces an operand by a row-major copy. Dims over which it is broadcast stay so, unless `all`.
///
/// # Safety
/// See [`product`].
unsafe fn pack(
    cuda: &'static Cuda,
    p: &mut Product,
    dims: &mut RepeatedDims<4>,
    which: usize,
    all: bool,
) -> Result<DeviceBuffer> {
    let (matrix, rows, cols) = factor(p, which);
    let size = p.dtype.size();
    let (mut shape, mut from, mut to) = (Shape::new(), Strides::new(), Strides::new());
    shape.extend_from_slice(&[rows, cols]);
    from.extend_from_slice(&[matrix.rows, matrix.cols]);
    to.extend_from_slice(&[cols as isize, 1]);
    let mut step = (rows * cols) as isize;
    for (count, steps) in dims.iter_mut().rev() {
        if steps[which] != 0 || all {
            shape.insert(0, *count);
            from.insert(0, steps[which]);
            to.insert(0, step);
            steps[which] = step;
            step *= *count as isize;
        }
    }
    let block = cuda.scratch(OP, [crate::shape::bytes(OP, &shape, p.dtype)?])?;
    let place = |ptr| Place {
        ptr,
        dtype: p.dtype,
    };
    let plan = Plan::new(&shape, &[(&to, size), (&from, size)]);
    // SAFETY: the caller's promise; the block has the length of the copy.
    unsafe { Backend::copy(cuda, &plan, place(block.as_ptr()), place(matrix.ptr))? };
    let copy = Matrix {
        ptr: block.as_ptr(),
        rows: cols as isize,
        cols: 1,
    };
    if which == 0 {
        p.a = copy;
    } else {
        p.b = copy;
    }
    Ok(block)
}

/// The kind of addend.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AddendKind {
    Nothing,
    /// A number for each row of the library's matrix, added by its epilogue.
    Bias,
    /// A matrix.
    Matrix,
}

/// Chooses how the library adds the addend. An addend that it cannot read is copied to the result first.
///
/// # Safety
/// See [`product`].
unsafe fn added(
    cuda: &'static Cuda,
    p: &mut Product,
    dims: &RepeatedDims<4>,
) -> Result<AddendKind> {
    let (Some(d), Some(beta)) = (p.addend, p.beta) else {
        return Ok(AddendKind::Nothing);
    };
    let row = (p.m == 1 || d.rows == 1) && (p.n == 1 || d.cols == 0);
    let once = words(p.dtype, beta) == words(p.dtype, Scalar::Int(1));
    let real = !matches!(p.dtype, DType::C64 | DType::C128);
    let aligned = (d.ptr as usize).is_multiple_of(16);
    let same = dims.iter().all(|(_, steps)| steps[3] == 0);
    if row && once && real && aligned && same && d.ptr != p.c.ptr {
        return Ok(AddendKind::Bias);
    }
    if leading(d, p.m, p.n).is_none() {
        // SAFETY: the caller's promise.
        unsafe { preset(cuda, p, dims)? };
    }
    Ok(AddendKind::Matrix)
}

/// Copies the addend to the result.
///
/// # Safety
/// See [`product`].
unsafe fn preset(
    cuda: &'static Cuda,
    p: &mut Product,
    dims: &[tile::RepeatedDim<4>],
) -> Result<()> {
    let Some(d) = p.addend else {
        return Ok(());
    };
    let mut shape: Shape = dims.iter().map(|(size, _)| *size).collect();
    shape.extend_from_slice(&[p.m, p.n]);
    let strides = |matrix: Matrix, which: usize| -> Strides {
        let outer = dims.iter().map(|(_, steps)| steps[which]);
        outer.chain([matrix.rows, matrix.cols]).collect()
    };
    let (to, from) = (strides(p.c, 2), strides(d, 3));
    let size = p.dtype.size();
    let plan = Plan::new(&shape, &[(&to, size), (&from, size)]);
    let place = |ptr| Place {
        ptr,
        dtype: p.dtype,
    };
    // SAFETY: the caller's promise.
    unsafe { Backend::copy(cuda, &plan, place(p.c.ptr), place(d.ptr))? };
    p.addend = Some(p.c);
    Ok(())
}

/// Computes the products of one batch dim, with operands offset by `shift` elements.
///
/// # Safety
/// See [`product`].
unsafe fn batched(
    cuda: &'static Cuda,
    library: &CublasLt,
    p: &Product,
    shift: [isize; 4],
    batch: tile::RepeatedDim<4>,
    added: AddendKind,
) -> Result<()> {
    let size = p.dtype.size() as isize;
    let moved = |matrix: Matrix, by: isize| Matrix {
        ptr: matrix.ptr.wrapping_offset(by * size),
        ..matrix
    };
    let in_place = p.addend.is_some_and(|d| d.ptr == p.c.ptr);
    let (count, mut steps) = batch;
    let mut p = Product {
        a: moved(p.a, shift[0]),
        b: moved(p.b, shift[1]),
        c: moved(p.c, shift[2]),
        addend: p
            .addend
            .map(|d| moved(d, if in_place { shift[2] } else { shift[3] })),
        ..*p
    };
    if in_place {
        steps[3] = steps[2];
    }
    // SAFETY: the caller's promise.
    unsafe {
        if let Some((asked, operands)) = question(&p, (count, steps), added)
            && library.run(cuda, asked, operands)?
        {
            return Ok(());
        }
        let mut dims = RepeatedDims::<4>::new();
        if count != 1 {
            dims.push((count, steps));
        }
        if added == AddendKind::Bias {
            preset(cuda, &mut p, &dims)?;
            dims.iter_mut().for_each(|(_, steps)| steps[3] = steps[2]);
            steps[3] = steps[2];
            if let Some((asked, operands)) = question(&p, (count, steps), AddendKind::Matrix)
                && library.run(cuda, asked, operands)?
            {
                return Ok(());
            }
        }
        gemm::execute(cuda, &p, &dims)
    }
}

/// Describes a product to the library: the key of its plan, and the addresses. `None` if that is not possible.
fn question(
    p: &Product,
    batch: tile::RepeatedDim<4>,
    added: AddendKind,
) -> Option<(ProductQuery, ProductAddresses)> {
    let (turned_a, leading_a) = operand(p.a, p.m, p.k)?;
    let (turned_b, leading_b) = operand(p.b, p.k, p.n)?;
    let leading_d = leading(p.c, p.m, p.n)?;
    let (count, [a, b, d, c]) = batch;
    let (bias, addend) = match (added, p.addend) {
        (AddendKind::Bias, Some(bias)) => (bias.ptr.cast_const(), None),
        (AddendKind::Matrix, addend) => (std::ptr::null(), addend),
        _ => (std::ptr::null(), None),
    };
    let (from, leading_c, step_c) = match addend {
        Some(matrix) => (matrix.ptr, leading(matrix, p.m, p.n)?, c),
        None => (p.c.ptr, leading_d, d),
    };
    let at = [p.a.ptr, p.b.ptr, from, p.c.ptr];
    // The library uses alignments of up to 256 bytes.
    let multiple = |ptr: *const u8| 1 << (ptr as usize).trailing_zeros().min(8);
    let aligned = at.map(|ptr| multiple(ptr));
    let beta = if addend.is_some() { p.beta } else { None };
    let asked = ProductQuery {
        dtype: p.dtype,
        tf32: tf32_is_allowed() && matches!(p.dtype, DType::F32 | DType::C64),
        m: p.m,
        n: p.n,
        k: p.k,
        turned: [turned_a, turned_b],
        leading: [leading_a, leading_b, leading_c, leading_d],
        batch: i32::try_from(count).ok()?,
        steps: [a, b, step_c, d].map(|step| step as i64),
        bias: if bias.is_null() { 0 } else { multiple(bias) },
        aligned,
    };
    let operands = ProductAddresses {
        alpha: words(p.dtype, p.alpha),
        beta: words(p.dtype, beta.unwrap_or(Scalar::Int(0))),
        at,
        bias,
        workspace: std::ptr::null_mut(),
    };
    Some((asked, operands))
}
