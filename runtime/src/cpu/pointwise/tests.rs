//! Tests every kernel against plain iteration, for every operand layout.

use nomina_core::op::{Class, Op, Samples};
use nomina_core::{DType, Scalar};

use crate::call::{Arg, pointwise, pointwise_in_place, pointwise_owned, to_dtype};
use crate::raw::Raw;

/// Creates elements that are small, exact in every dtype and not all equal; zero is among them.
fn numbers(dtype: DType, shape: &[usize], seed: usize) -> Raw {
    let count = shape.iter().product::<usize>();
    let data: Vec<f64> = (0..count)
        .map(|i| ((i * 7 + seed * 3) % 5) as f64)
        .collect();
    to_dtype(&Raw::from_vec(data, shape).unwrap(), dtype).unwrap()
}

/// Creates operands of shape (a, b) in all layouts.
fn ways(dtype: DType, [a, b]: [usize; 2], seed: usize) -> Vec<Raw> {
    let make = |shape: &[usize]| numbers(dtype, shape, seed);
    vec![
        make(&[a, b]),
        make(&[b, a]).transpose(0, 1).unwrap(),
        make(&[a, b]).flip(1).unwrap(),
        make(&[a, 2 * b]).slice(1, 1, b, 2).unwrap(),
        make(&[a + 2, b + 1])
            .narrow(0, 1, a)
            .unwrap()
            .narrow(1, 1, b)
            .unwrap(),
        make(&[b]),
        make(&[a, 1]),
        make(&[]),
    ]
}

/// Compares with the expected result: each element computed separately, from operands of one
/// element, which take the simplest path.
fn check(op: Op, args: &[Raw], shape: [usize; 2]) {
    let refs: Vec<Arg<'_>> = args.iter().map(Arg::from).collect();
    let result = pointwise(op, &refs).unwrap();
    let wide: Vec<Raw> = args.iter().map(|x| x.expand(&shape).unwrap()).collect();
    let full = result.expand(&shape).unwrap();
    for i in [0, 1, shape[0] / 2, shape[0] - 1] {
        for j in [0, 1, shape[1] / 2, shape[1] - 2, shape[1] - 1] {
            let at = |x: &Raw| x.select(0, i).unwrap().select(0, j).unwrap();
            let cells: Vec<Raw> = wide.iter().map(at).collect();
            // Rank 1, so that they promote like the whole tensors.
            let cells: Vec<Raw> = cells
                .iter()
                .zip(args)
                .map(|(x, arg)| x.reshape(&vec![1; arg.rank()]).unwrap())
                .collect();
            let cells: Vec<Arg<'_>> = cells.iter().map(Arg::from).collect();
            let expected = pointwise(op, &cells).unwrap().item().unwrap();
            let found = at(&full).item().unwrap();
            assert!(
                equal(expected, found),
                "{op:?} at {i}, {j}: {found} instead of {expected}"
            );
        }
    }
    if result.shape() == args[0].shape() && result.dtype() == args[0].dtype() {
        let mut in_place = args[0].clone();
        pointwise_in_place(op, in_place.as_mut().unwrap(), &refs[1..]).unwrap();
        assert!(same(&in_place, &result), "{op:?} in place");
        let owned = crate::call::duplicate(&args[0]).unwrap();
        let owned = pointwise_owned(op, owned, &refs[1..]).unwrap();
        assert!(same(&owned, &result), "{op:?} owned");
    }
}

/// Returns whether two numbers are equal or both NaN; complex numbers part by part.
fn equal(a: Scalar, b: Scalar) -> bool {
    let equal = |a: f64, b: f64| a == b || a.is_nan() && b.is_nan();
    match (a, b) {
        (Scalar::Complex(a), Scalar::Complex(b)) => equal(a.re, b.re) && equal(a.im, b.im),
        (Scalar::Float(a), Scalar::Float(b)) => equal(a, b),
        _ => a == b,
    }
}

fn same(a: &Raw, b: &Raw) -> bool {
    a.shape() == b.shape() && a.scalars().zip(b.scalars()).all(|(a, b)| equal(a, b))
}

/// Returns shapes with few columns, for which blocks gather many runs, and with many, for which
/// each run is blocked separately.
fn shapes() -> &'static [[usize; 2]] {
    if cfg!(miri) {
        &[[3, 5]]
    } else {
        &[[37, 5], [3, 1500]]
    }
}

#[test]
fn operands_may_lie_anyhow() {
    for &shape in shapes() {
        for x in ways(DType::F32, shape, 0) {
            for y in ways(DType::F32, shape, 1) {
                check(Op::Add, &[x.clone(), y.clone()], shape);
                check(Op::Lt, &[x.clone(), y], shape);
            }
            check(Op::Exp, std::slice::from_ref(&x), shape);
        }
        for x in ways(DType::F16, shape, 0) {
            for y in ways(DType::U8, shape, 1) {
                check(Op::Mul, &[x.clone(), y.clone()], shape);
                check(Op::Sub, &[y, x.clone()], shape);
            }
        }
        for mask in ways(DType::Bool, shape, 2) {
            let [x, y] = [
                ways(DType::C64, shape, 0).remove(1),
                ways(DType::I16, shape, 1).remove(5),
            ];
            check(Op::Where, &[mask, x, y], shape);
        }
    }
}

#[test]
fn sixteen_bits_are_computed_in_f32_and_rounded() {
    // Every sign and exponent with fractions at both ends and in the middle; infinities and NaN.
    let some = |step: usize| (0..=u16::MAX).step_by(if cfg!(miri) { 4099 } else { step });
    for dtype in [DType::BF16, DType::F16] {
        let make = |bits: Vec<u16>| {
            let n = bits.len();
            match dtype {
                DType::BF16 => {
                    let floats = bits.into_iter().map(half::bf16::from_bits);
                    Raw::from_vec(floats.collect(), &[n])
                }
                _ => {
                    let floats = bits.into_iter().map(half::f16::from_bits);
                    Raw::from_vec(floats.collect(), &[n])
                }
            }
            .unwrap()
        };
        let (x, y) = (make(some(997).collect()), make(some(631).collect()));
        let (rows, n) = (x.numel(), y.numel());
        let x = x.reshape(&[rows, 1]).unwrap().expand(&[rows, n]).unwrap();
        let x = crate::call::contiguous(&x).unwrap();
        let wide = |x: &Raw| to_dtype(x, DType::F32).unwrap();
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Div] {
            let found = pointwise(op, &[(&x).into(), (&y).into()]).unwrap();
            let expected = pointwise(op, &[(&wide(&x)).into(), (&wide(&y)).into()]).unwrap();
            assert_eq!(found.dtype(), dtype);
            assert!(
                same(&found, &to_dtype(&expected, dtype).unwrap()),
                "{op:?} of {dtype}"
            );
        }
    }
}

#[test]
fn every_operator_in_every_dtype() {
    let shape = shapes()[0];
    let mut kernels = 0;
    for &op in Op::ALL {
        let arity = match op.row().class {
            Class::Unary(_) => 1,
            Class::Binary(_) => 2,
            Class::Ternary(_) => 3,
            _ => continue,
        };
        if op.row().numbers().next().is_some() {
            continue;
        }
        for dtype in op.row().dtypes.iter() {
            let args: Vec<Raw> = (0..arity)
                .map(|i| {
                    let condition = matches!((op, i), (Op::Where, 0) | (Op::MaskedFill, 1));
                    let dtype = if condition { DType::Bool } else { dtype };
                    let mut x = ways(dtype, shape, i).swap_remove(i + 1);
                    let integer = dtype.is_integral() && dtype != DType::Bool;
                    if i == 1 && op.row().samples == Samples::NonZero && integer {
                        let one = [Scalar::Int(1).into()];
                        pointwise_in_place(Op::Add, x.as_mut().unwrap(), &one).unwrap();
                    }
                    x
                })
                .collect();
            check(op, &args, shape);
            kernels += 1;
        }
    }
    assert!(kernels > 200, "{kernels}");
}

#[test]
fn values_are_those_of_rust() {
    let data = [
        -2.5_f64,
        -0.0,
        0.0,
        0.3,
        1.0,
        40.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    let x = Raw::from_vec(data.to_vec(), &[9]).unwrap();
    let unary: [(Op, fn(f64) -> f64); 8] = [
        (Op::Neg, |x| -x),
        (Op::Abs, f64::abs),
        (Op::Exp, f64::exp),
        (Op::Log, f64::ln),
        (Op::Sqrt, f64::sqrt),
        (Op::Tanh, f64::tanh),
        (Op::Sigmoid, |x| 1.0 / (1.0 + (-x).exp())),
        (Op::Relu, |x| if x.is_nan() { x } else { x.max(0.0) }),
    ];
    for (op, f) in unary {
        let y = pointwise(op, &[(&x).into()])
            .unwrap()
            .to_vec::<f64>()
            .unwrap();
        for (&x, y) in data.iter().zip(y) {
            let expected = f(x);
            let near = (y - expected).abs() <= 4.0 * f64::EPSILON * expected.abs();
            assert!(
                near || y == expected || y.is_nan() && expected.is_nan(),
                "{op:?} of {x}: {y}"
            );
        }
    }
    let binary: [(Op, fn(f64, f64) -> f64); 5] = [
        (Op::Add, |x, y| x + y),
        (Op::Sub, |x, y| x - y),
        (Op::Mul, |x, y| x * y),
        (Op::Div, |x, y| x / y),
        (Op::Pow, f64::powf),
    ];
    for (op, f) in binary {
        for y in data {
            let z = pointwise(op, &[(&x).into(), Scalar::Float(y).into()]).unwrap();
            for (&x, z) in data.iter().zip(z.to_vec::<f64>().unwrap()) {
                let expected = f(x, y);
                // The two implementations of a power may differ in the last bit.
                let off = if op == Op::Pow { f64::EPSILON } else { 0.0 };
                let near = (z - expected).abs() <= off * expected.abs();
                assert!(
                    near || z == expected || z.is_nan() && expected.is_nan(),
                    "{op:?} of {x}, {y}: {z}"
                );
            }
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn any_number_of_threads_gives_the_same() {
    let shape: [usize; 2] = if cfg!(miri) { [5, 7] } else { [301, 211] };
    let x = numbers(DType::F16, &[shape[1], shape[0]], 0)
        .transpose(0, 1)
        .unwrap();
    let y = numbers(DType::F32, &shape, 1);
    let add = || pointwise(Op::Add, &[(&x).into(), (&y).into()]).unwrap();
    let here = add();
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        assert!(same(&pool.install(add), &here));
    }
}
