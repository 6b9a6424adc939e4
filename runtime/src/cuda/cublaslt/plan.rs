//! Plans: the description of a product to cuBLASLt, and the algorithm that it chose.

use std::ffi::c_void;

use cudarc::cublaslt::result::{self, CublasError};
use cudarc::cublaslt::sys::{
    self, cublasComputeType_t as Compute, cublasLtEpilogue_t as Epilogue,
    cublasLtMatmulDescAttributes_t as OfProduct,
    cublasLtMatmulPreferenceAttributes_t as Preference,
    cublasLtMatrixLayoutAttribute_t as OfLayout, cublasLtReductionScheme_t as Scheme,
    cublasStatus_t as Status, cudaDataType_t as Type,
};
use nomina_core::DType;

/// The most bytes of an algorithm's workspace: 32 MiB, as much as the largest need.
const WORKSPACE: usize = 32 << 20;

/// The properties of a product of column-major matrices on which the choice of an algorithm depends. Arrays of four
/// have an item for each operand, the addend and the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProductQuery {
    pub(super) dtype: DType,
    pub(super) tf32: bool,
    pub(super) m: usize,
    pub(super) n: usize,
    pub(super) k: usize,
    /// Whether the operands are transposed.
    pub(super) turned: [bool; 2],
    /// The leading dimensions.
    pub(super) leading: [i64; 4],
    pub(super) batch: i32,
    /// The strides of the batch.
    pub(super) steps: [i64; 4],
    /// The alignment of the bias, a number for each row; 0 for no bias.
    pub(super) bias: u32,
    /// The alignments of addresses.
    pub(super) aligned: [u32; 4],
}

/// The algorithm for a product, and its descriptors.
#[derive(Debug)]
pub(super) struct MatmulPlan {
    desc: Desc,
    layouts: [MatrixLayout; 4],
    algorithm: sys::cublasLtMatmulAlgo_t,
    pub(super) workspace: usize,
}

/// The addresses of one product, and its factors in the type of the computation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProductAddresses {
    pub(super) alpha: [u64; 2],
    pub(super) beta: [u64; 2],
    /// The addresses of the operands, the addend and the result.
    pub(super) at: [*mut u8; 4],
    pub(super) bias: *const u8,
    pub(super) workspace: *mut u8,
}

// SAFETY: descriptors are plain memory of the library, changed only under the lock of the plans.
unsafe impl Send for MatmulPlan {}

#[derive(Debug)]
struct Desc(sys::cublasLtMatmulDesc_t);

impl Drop for Desc {
    fn drop(&mut self) {
        // SAFETY: created by the library, and dropped once. A drop has no caller for errors.
        let _ = unsafe { result::destroy_matmul_desc(self.0) };
    }
}

impl Desc {
    /// Sets the address of the bias.
    fn add(&self, bias: *const u8) -> Result<(), CublasError> {
        let which = OfProduct::CUBLASLT_MATMUL_DESC_BIAS_POINTER;
        // SAFETY: the attribute is an address.
        unsafe { result::set_matmul_desc_attribute(self.0, which, address(&bias), 8) }
    }
}

#[derive(Debug)]
struct MatrixLayout(sys::cublasLtMatrixLayout_t);

impl Drop for MatrixLayout {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { result::destroy_matrix_layout(self.0) };
    }
}

struct Wishes(sys::cublasLtMatmulPreference_t);

impl Drop for Wishes {
    fn drop(&mut self) {
        // SAFETY: as above.
        let _ = unsafe { result::destroy_matmul_pref(self.0) };
    }
}

/// Returns the types of elements, sums and factors; `None` if the library does not support the dtype.
fn types(dtype: DType, tf32: bool) -> Option<(Type, Compute, Type)> {
    let single = if tf32 {
        Compute::CUBLAS_COMPUTE_32F_FAST_TF32
    } else {
        Compute::CUBLAS_COMPUTE_32F
    };
    let double = Compute::CUBLAS_COMPUTE_64F;
    match dtype {
        DType::F16 => Some((
            Type::CUDA_R_16F,
            Compute::CUBLAS_COMPUTE_32F,
            Type::CUDA_R_32F,
        )),
        DType::BF16 => Some((
            Type::CUDA_R_16BF,
            Compute::CUBLAS_COMPUTE_32F,
            Type::CUDA_R_32F,
        )),
        DType::F32 => Some((Type::CUDA_R_32F, single, Type::CUDA_R_32F)),
        DType::F64 => Some((Type::CUDA_R_64F, double, Type::CUDA_R_64F)),
        DType::C64 => Some((Type::CUDA_C_32F, single, Type::CUDA_C_32F)),
        DType::C128 => Some((Type::CUDA_C_64F, double, Type::CUDA_C_64F)),
        DType::Bool | DType::U8 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => None,
    }
}

/// Returns whether the library multiplies elements of a dtype.
pub(super) fn takes(dtype: DType) -> bool {
    types(dtype, false).is_some()
}

impl MatmulPlan {
    /// Asks the library for an algorithm; `None` if it has none. Only the alignment of `bias` matters: the memory is
    /// not read.
    pub(super) fn new(
        handle: sys::cublasLtHandle_t,
        asked: &ProductQuery,
        bias: *const u8,
    ) -> Result<Option<Self>, CublasError> {
        let Some((element, compute, scale)) = types(asked.dtype, asked.tf32) else {
            return Ok(None);
        };
        let desc = Desc(result::create_matmul_desc(compute, scale)?);
        let set = |which, value: &i32| {
            // SAFETY: the attribute is a 32-bit number.
            unsafe { result::set_matmul_desc_attribute(desc.0, which, address(value), 4) }
        };
        let turned = asked.turned.map(i32::from);
        set(OfProduct::CUBLASLT_MATMUL_DESC_TRANSA, &turned[0])?;
        set(OfProduct::CUBLASLT_MATMUL_DESC_TRANSB, &turned[1])?;
        if asked.bias != 0 {
            let epilogue = Epilogue::CUBLASLT_EPILOGUE_BIAS as i32;
            set(OfProduct::CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue)?;
            desc.add(bias)?;
        }
        let swapped = |turned: bool, rows, cols| if turned { (cols, rows) } else { (rows, cols) };
        let sizes = [
            swapped(asked.turned[0], asked.m, asked.k),
            swapped(asked.turned[1], asked.k, asked.n),
            (asked.m, asked.n),
            (asked.m, asked.n),
        ];
        let layout = |at: usize| -> Result<MatrixLayout, CublasError> {
            let (rows, cols) = sizes[at];
            let layout =
                result::create_matrix_layout(element, rows as u64, cols as u64, asked.leading[at]);
            let layout = MatrixLayout(layout?);
            let set = |which, value: *const c_void, size| {
                // SAFETY: the attribute has this size.
                unsafe { result::set_matrix_layout_attribute(layout.0, which, value, size) }
            };
            if asked.batch != 1 {
                let count = OfLayout::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
                let step = OfLayout::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
                set(count, address(&asked.batch), 4)?;
                set(step, address(&asked.steps[at]), 8)?;
            }
            Ok(layout)
        };
        let layouts = [layout(0)?, layout(1)?, layout(2)?, layout(3)?];
        let wishes = wishes(asked)?;
        let [a, b, c, d] = [0, 1, 2, 3].map(|at: usize| layouts[at].0);
        // SAFETY: all handles were created above.
        let answer =
            unsafe { result::get_matmul_algo_heuristic(handle, desc.0, a, b, c, d, wishes.0) };
        match answer {
            Ok(answer) => Ok(Some(Self {
                desc,
                layouts,
                algorithm: answer.algo,
                workspace: answer.workspaceSize,
            })),
            Err(CublasError(
                Status::CUBLAS_STATUS_NOT_SUPPORTED
                | Status::CUBLAS_STATUS_INVALID_VALUE
                | Status::CUBLAS_STATUS_ARCH_MISMATCH,
            )) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Starts the product.
    ///
    /// # Safety
    /// The operands are at their addresses, laid out as in the question, and the workspace has the length of the plan.
    pub(super) unsafe fn run(
        &self,
        handle: sys::cublasLtHandle_t,
        operands: &ProductAddresses,
        stream: *mut c_void,
    ) -> Result<(), CublasError> {
        let [a, b, c, d] = operands.at;
        let layouts = &self.layouts;
        // SAFETY: the caller's promise; the descriptors belong to the plan. The lock of the plans is held, so no other
        // thread sets a bias meanwhile.
        unsafe {
            if !operands.bias.is_null() {
                self.desc.add(operands.bias)?;
            }
            result::matmul(
                handle,
                self.desc.0,
                address(&operands.alpha),
                address(&operands.beta),
                a.cast(),
                layouts[0].0,
                b.cast(),
                layouts[1].0,
                c.cast(),
                layouts[2].0,
                d.cast(),
                layouts[3].0,
                &raw const self.algorithm,
                operands.workspace.cast(),
                self.workspace,
                stream.cast(),
            )
        }
    }
}

/// Returns the limits for the choice of an algorithm.
fn wishes(asked: &ProductQuery) -> Result<Wishes, CublasError> {
    let wishes = Wishes(result::create_matmul_pref()?);
    let set = |which, value: *const c_void, size| {
        // SAFETY: the attribute has this size.
        unsafe { result::set_matmul_pref_attribute(wishes.0, which, value, size) }
    };
    let most = Preference::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
    set(most, address(&WORKSPACE), 8)?;
    if matches!(asked.dtype, DType::F16 | DType::BF16) {
        // Partial sums are added in f32, and rounded once.
        let scheme = Scheme::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;
        let which = Preference::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK;
        set(which, address(&scheme), 4)?;
    }
    let which = [
        Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
        Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
        Preference::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES,
    ];
    for (which, aligned) in which.into_iter().zip(&asked.aligned) {
        set(which, address(aligned), 4)?;
    }
    Ok(wishes)
}

fn address<T>(value: &T) -> *const c_void {
    std::ptr::from_ref(value).cast()
}
