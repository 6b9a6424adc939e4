//! Matrix products: cuBLASLt or our own kernels.
//!
//! Large products of floats and complex numbers go to cuBLASLt if it is installed. Products of integers and bool,
//! products with a vector, small ones, and all if cuBLASLt is missing, go to our own kernels in `gemm.cu`.

use std::sync::OnceLock;

use nomina_core::Result;

use super::context::Cuda;
use super::provider::Provider;
use super::tile::{self, RepeatedDims};
use super::{cublaslt, gemm};
use crate::job::{Backend, FinalOp, Input, Place, Pointwise, Product, Repeat};

use crate::plan::Plan;
use crate::shape::{Shape, Strides};

/// The most multiplications for which starting our own kernel costs less than starting one of cuBLASLt: 32 cubed.
const SMALL: usize = 1 << 15;

/// Returns the implementation of products that `NOMINA_CUDA_MATMUL` selects.
pub(super) fn provider() -> Provider {
    static PROVIDER: OnceLock<Provider> = OnceLock::new();
    *PROVIDER.get_or_init(|| Provider::from_env("NOMINA_CUDA_MATMUL", "cublaslt"))
}

/// Computes a product for every combination of the repeats' indices, and its epilogue.
///
/// # Safety
/// See the backend's `product`: all matrices are on this device, at their addresses and strides.
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
            Some(last) => after(cuda, last, &product, repeats),
        }
    }
}

/// Applies an elementwise operator that keeps the dtype to a result. cuBLASLt has epilogues for two such operators, but
/// its relu turns NaN into zero, and the accuracy of its gelu is not documented.
///
/// # Safety
/// See [`product`].
unsafe fn after(cuda: &'static Cuda, last: FinalOp, p: &Product, repeats: &[Repeat]) -> Result<()> {
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
    let mut inputs = crate::SmallVec::<[Input; 2]>::from_elem(Input::Tensor(place), 1);
    inputs.extend(last.number.map(|number| Input::Scalar(number.into())));
    let job = Pointwise {
        op: last.op,
        compute: p.dtype,
        plan: &plan,
        dest: place,
        inputs: &inputs,
        in_place: true,
    };
    // SAFETY: the caller's promise; each element is read at the address it is written to.
    unsafe { Backend::pointwise(cuda, &job) }
}

/// Computes the products without their epilogue.
///
/// # Safety
/// See [`product`].
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
    let library = match provider() {
        Provider::Own => false,
        Provider::Auto => product.n != 1 && !small,
        Provider::Library => true,
    };
    // SAFETY: the caller's promise.
    unsafe {
        if library && product.k != 0 && cublaslt::product(cuda, &product, &dims)? {
            return Ok(());
        }
        gemm::execute(cuda, &product, &dims)
    }
}

/// Merges repeats with the same right operand into the rows of one taller matrix, if the rows continue over them.
fn taller(product: &mut Product, dims: &mut RepeatedDims<4>) {
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
