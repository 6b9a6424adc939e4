//! Products of quantised matrices.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result};

use super::check::same_device;
use super::{Arg, contiguous, matmul, pointwise, to_dtype};
use crate::Device;
use crate::call::backend::{backend, find};
use crate::job::{ByteProduct, Bytes};
use crate::memory::list;
use crate::raw::Raw;
use crate::shape::{Shape, broadcast, product, scaled_stride};

const OP: &str = "quantized_matmul";

/// Multiplies matrices of `u8` or `i8` minus their zero points, along the last two dims: `a` is `(.., m, k)`, `b` `(.., k, n)`,
/// and the result `(.., m, n)` of `i32`. Batch dims broadcast. The zero points of `a` broadcast to `(.., m, 1)` and those of
/// `b` to `(.., 1, n)`. Sums are exact, or wrap if they exceed the range of `i32`.
///
/// # Errors
/// If an operand has another dtype or fewer than two dims, zero points are not integers, sizes do not match or broadcast,
/// devices differ, or memory is missing.
pub fn quantized_matmul(a: &Raw, b: &Raw, zeros: [Option<&Raw>; 2]) -> Result<Raw> {
    let operands = [a, b];
    let [Some([m, k]), Some([l, n])] = operands.map(|x| x.shape().last_chunk::<2>()) else {
        return Err(
            refuse(ErrorKind::Rank, a, b, "an operand has fewer than two dims")
                .hint("add dims with `unsqueeze`"),
        );
    };
    if let Some(other) = operands.iter().find(|x| !is_byte(x.dtype())) {
        let what = format!("an operand has dtype {}, expected u8 or i8", other.dtype());
        return Err(refuse(ErrorKind::DType, a, b, what).hint("use `matmul` for other dtypes"));
    }
    if k != l {
        let what = format!("the inner sizes differ: {k} and {l}");
        return Err(refuse(ErrorKind::Shape, a, b, what));
    }
    let [zeros_a, zeros_b] = zeros;
    let all = [Some(a), Some(b), zeros_a, zeros_b];
    same_device(OP, &all.into_iter().flatten().collect::<Vec<_>>())?;
    if a.rank() > 2 && b.rank() == 2 && zeros_a.is_none_or(|zeros| zeros.numel() == 1) {
        // One product, which reads the right operand once.
        let (rows, last) = (&a.shape()[..a.rank() - 1], b.shape()[1]);
        let flat = a.reshape(&[product(rows.iter().copied()), *k])?;
        let zero = zeros_a.map(|zeros| zeros.reshape(&[])).transpose()?;
        let out = quantized_matmul(&flat, b, [zero.as_ref(), zeros_b])?;
        let mut shape = Shape::from_slice(rows);
        shape.push(last);
        return out.reshape(&shape);
    }
    let batch = |x: &Raw| Shape::from_slice(&x.shape()[..x.rank() - 2]);
    let common = broadcast(OP, &[&batch(a), &batch(b)])?;
    let sizes = |last: [usize; 2]| {
        let mut shape = common.clone();
        shape.extend_from_slice(&last);
        shape
    };
    let (m, k, n) = (*m, *k, *n);
    let zeros_a = zero_points(a, zeros_a, &sizes([m, 1]))?;
    let zeros_b = zero_points(b, zeros_b, &sizes([1, n]))?;
    let mut out = Raw::empty(OP, &sizes([m, n]), DType::I32, a.device())?;
    if out.numel() == 0 {
        return Ok(out);
    }
    let (a, b) = (
        contiguous(a)?.expand(&sizes([m, k]))?,
        contiguous(b)?.expand(&sizes([k, n]))?,
    );
    let c = out.fresh_ptr().cast::<i32>();
    let offset = |x: &Raw, mut index: usize| {
        let mut offset = 0;
        for (&size, &stride) in common.iter().zip(x.strides()).rev() {
            offset += scaled_stride(stride, index % size);
            index /= size;
        }
        offset
    };
    let bytes = |x: &Raw, zeros: &Raw, index, along: usize| Bytes {
        ptr: x.as_ptr().wrapping_offset(offset(x, index)),
        signed: x.dtype() == DType::I8,
        zeros: zeros
            .as_ptr()
            .cast::<i32>()
            .wrapping_offset(offset(zeros, index)),
        zero_step: zeros.strides()[common.len() + along],
    };
    let count = product(common.iter().copied());
    let mut products = list(OP, [count])?;
    products.extend((0..count).map(|index| ByteProduct {
        m,
        k,
        n,
        a: bytes(&a, &zeros_a, index, 0),
        b: bytes(&b, &zeros_b, index, 1),
        c: c.wrapping_add(product([index, m, n])),
    }));
    // SAFETY: all sizes are those of the operands; the result is fresh, and nothing else shares it.
    if unsafe { backend(OP, out.device())?.byte_products(&products) }? {
        return Ok(out);
    }
    let sums = matmul(&centred(&a, &zeros_a)?, &centred(&b, &zeros_b)?)?;
    // Sums below 2^53 are exact in `f64`; conversions between integers wrap.
    to_dtype(&to_dtype(&sums, DType::I64)?, DType::I32)
}

/// Returns whether a device has instructions for products of bytes; otherwise [`quantized_matmul`] multiplies in `f64`.
///
/// # Errors
/// If the device does not exist.
pub fn multiplies_bytes(device: Device) -> Result<bool> {
    // SAFETY: there is nothing to multiply.
    unsafe { find(OP, device)?.byte_products(&[]) }
}

fn is_byte(dtype: DType) -> bool {
    matches!(dtype, DType::U8 | DType::I8)
}

/// Returns the zero points of `x` as `i32` of this shape.
fn zero_points(x: &Raw, zeros: Option<&Raw>, shape: &[usize]) -> Result<Raw> {
    let Some(zeros) = zeros else {
        return Raw::zeros(OP, &[], DType::I32, x.device())?.expand(shape);
    };
    if !zeros.dtype().is_integral() {
        let what = format!(
            "zero points have dtype {}, expected integers",
            zeros.dtype()
        );
        return Err(refuse(ErrorKind::DType, x, zeros, what));
    }
    to_dtype(zeros, DType::I32)?.expand(shape).map_err(|_| {
        let what = format!("the zero points do not broadcast to {shape:?}");
        refuse(ErrorKind::Shape, x, zeros, what)
    })
}

/// Subtracts zero points; the integers are exact in `f64`.
fn centred(x: &Raw, zeros: &Raw) -> Result<Raw> {
    let (x, zeros) = (to_dtype(x, DType::F64)?, to_dtype(zeros, DType::F64)?);
    pointwise(Op::Sub, &[Arg::Tensor(&x), Arg::Tensor(&zeros)])
}

#[cold]
fn refuse(kind: ErrorKind, a: &Raw, b: &Raw, what: impl Into<String>) -> Error {
    [a, b].iter().fold(Error::new(kind, OP, what), |error, x| {
        error.operand(&Names::default(), x.shape())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that include the ends of both ranges.
    fn sample(shape: &[usize], dtype: DType, seed: usize) -> Raw {
        let value = |at: usize| match (at * 7 + seed) % 5 {
            0 => 255,
            1 => 128,
            2 => 127,
            _ => ((at * 89 + seed * 31) % 256) as u8,
        };
        let data: Vec<u8> = (0..product(shape.iter().copied())).map(value).collect();
        match dtype {
            DType::U8 => Raw::from_vec(data, shape),
            _ => Raw::from_vec(data.into_iter().map(u8::cast_signed).collect(), shape),
        }
        .unwrap()
    }

    fn integers(x: &Raw) -> Vec<i32> {
        to_dtype(x, DType::I32).unwrap().to_vec::<i32>().unwrap()
    }

    /// Computes by the definition.
    fn naive([m, k, n]: [usize; 3], [a, b]: [&Raw; 2], [s, t]: [&[i32]; 2]) -> Vec<i32> {
        let (a, b) = (integers(a), integers(b));
        let zero = |of: &[i32], at: usize| of.get(at % of.len().max(1)).copied().unwrap_or(0);
        let cell = |at: usize| {
            let (i, j) = (at / n, at % n);
            (0..k).fold(0i32, |sum, l| {
                let (a, b) = (a[i * k + l] - zero(s, i), b[l * n + j] - zero(t, j));
                sum.wrapping_add(a * b)
            })
        };
        (0..m * n).map(cell).collect()
    }

    #[test]
    fn products_are_the_definition() {
        let sizes = [
            [1, 1, 1],
            [1, 8, 3],
            [5, 0, 4],
            [3, 7, 1],
            [7, 5, 70],
            [13, 66, 65],
            [2, 1601, 130],
            [200, 40, 17],
        ];
        for [m, k, n] in sizes {
            for left in [DType::U8, DType::I8] {
                for right in [DType::U8, DType::I8] {
                    let (a, b) = (sample(&[m, k], left, m), sample(&[k, n], right, n));
                    let varied = |count: usize| (0..count as i32).map(|at| at % 200 - 72).collect();
                    let zeros: [[Vec<i32>; 2]; 7] = [
                        [vec![], vec![]],
                        [vec![128], vec![]],
                        [vec![-128], vec![128]],
                        [vec![], vec![-3]],
                        [varied(m), vec![]],
                        [vec![], varied(n)],
                        [varied(m), varied(n)],
                    ];
                    for [s, t] in &zeros {
                        let points = |zeros: &Vec<i32>, shape: [usize; 2]| match zeros.len() {
                            0 => None,
                            1 => Some(Raw::from_vec(zeros.clone(), &[]).unwrap()),
                            _ => Some(Raw::from_vec(zeros.clone(), &shape).unwrap()),
                        };
                        let (x, y) = (points(s, [m, 1]), points(t, [1, n]));
                        let got = quantized_matmul(&a, &b, [x.as_ref(), y.as_ref()]).unwrap();
                        let want = naive([m, k, n], [&a, &b], [s, t]);
                        let case = format!("{left} {right} {m} {k} {n} {s:?} {t:?}");
                        assert_eq!(got.shape(), [m, n], "{case}");
                        assert_eq!(integers(&got), want, "{case}");
                    }
                }
            }
        }
    }

    #[test]
    fn batches_broadcast_and_transposed_operands_are_read() {
        let (a, b) = (
            sample(&[3, 1, 5, 9], DType::U8, 1),
            sample(&[4, 6, 9], DType::I8, 2).transpose(1, 2).unwrap(),
        );
        let zeros = Raw::from_vec(vec![7u8, 9, 200], &[3, 1, 1, 1]).unwrap();
        let got = quantized_matmul(&a, &b, [Some(&zeros), None]).unwrap();
        assert_eq!(got.shape(), [3, 4, 5, 6]);
        let (all, left, right) = (integers(&got), integers(&a), integers(&b));
        for (i, zero) in [7, 9, 200].into_iter().enumerate() {
            for j in 0..4 {
                let a: Vec<i32> = left[i * 45..(i + 1) * 45]
                    .iter()
                    .map(|x| x - zero)
                    .collect();
                let b = &right[j * 54..(j + 1) * 54];
                let (a, b) = (
                    Raw::from_vec(a, &[5, 9]).unwrap(),
                    Raw::from_vec(b.to_vec(), &[9, 6]).unwrap(),
                );
                let want = naive([5, 9, 6], [&a, &b], [&[], &[]]);
                assert_eq!(all[(i * 4 + j) * 30..][..30], want, "{i} {j}");
            }
        }
        // A right operand of two dims.
        let b = b.select(0, 0).unwrap();
        let flat = quantized_matmul(&a, &b, [None, None]).unwrap();
        assert_eq!(flat.shape(), [3, 1, 5, 6]);
        let want = naive([15, 9, 6], [&a, &b], [&[], &[]]);
        assert_eq!(integers(&flat), want);
    }

    #[test]
    fn errors_name_the_operator() {
        let (a, b) = (sample(&[2, 3], DType::U8, 0), sample(&[4, 2], DType::I8, 0));
        let floats = Raw::from_vec(vec![0f32; 6], &[3, 2]).unwrap();
        let two = sample(&[2], DType::U8, 0);
        let errors = [
            quantized_matmul(&a, &b, [None, None]),
            quantized_matmul(&a, &floats, [None, None]),
            quantized_matmul(&a, &two, [None, None]),
            quantized_matmul(&a, &a.transpose(0, 1).unwrap(), [Some(&floats), None]),
            quantized_matmul(
                &a,
                &a.transpose(0, 1).unwrap(),
                [None, Some(&sample(&[3], DType::U8, 0))],
            ),
        ];
        for error in errors.map(Result::unwrap_err) {
            assert!(error.to_string().starts_with(OP), "{error}");
        }
    }
}
