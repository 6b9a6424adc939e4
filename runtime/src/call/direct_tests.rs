use nomina_core::{DType, Element, Scalar};
use num_complex::Complex;

use super::super::{Arg, pointwise, pointwise_owned, pointwise_reusing};
use super::*;

/// Row-major, and the same elements two apart, which no loop reads as they lie.
fn both<T: Element>(data: &[T], shape: &[usize]) -> [Raw; 2] {
    let dense = Raw::from_vec(data.to_vec(), shape).unwrap();
    let wide: Vec<T> = data.iter().flat_map(|&x| [x, x]).collect();
    let doubled: Vec<usize> = shape.iter().copied().chain([2]).collect();
    let wide = Raw::from_vec(wide, &doubled).unwrap();
    [dense, wide.select(shape.len(), 0).unwrap()]
}

fn bits(raw: &Raw) -> (DType, Vec<usize>, Vec<isize>, Vec<String>) {
    let text = raw.scalars().map(|x| format!("{x}")).collect();
    (raw.dtype(), raw.shape().into(), raw.strides().into(), text)
}

fn short(op: Op, args: &[Arg<'_>]) -> bool {
    Short::new(op, args.len(), |i| args[i].into()).is_some()
}

fn copy(x: &Raw) -> Raw {
    super::super::duplicate(x).unwrap()
}

/// Both ways give the same, and the short one was one.
fn same_both_ways(op: Op, args: &[Arg<'_>], far: &[Arg<'_>]) {
    assert!(short(op, args) && !short(op, far), "{op:?}");
    let wanted = bits(&pointwise(op, far).unwrap());
    assert_eq!(bits(&pointwise(op, args).unwrap()), wanted, "{op:?}");
    // Where the shortest way comes before.
    let made = Short::new(op, args.len(), |i| args[i].into()).map(|short| short.run(op).unwrap());
    assert_eq!(made.as_ref().map(bits), Some(wanted.clone()), "{op:?}");
    for (i, arg) in args.iter().enumerate() {
        let Arg::Tensor(x) = *arg else { continue };
        let mut own = copy(x);
        let fits = x.dtype() == wanted.0 && x.shape() == wanted.1;
        let reused = pointwise_reusing(op, &args[..i], &mut own, &args[i + 1..]).unwrap();
        assert_eq!(reused, fits, "{op:?} into operand {i}");
        let left = if reused { wanted.clone() } else { bits(x) };
        assert_eq!(bits(&own), left, "{op:?} into operand {i}");
        if i == 0 {
            let owned = pointwise_owned(op, copy(x), &args[1..]).unwrap();
            assert_eq!(bits(&owned), wanted, "{op:?} into its operand");
        }
    }
}

fn pairs<T: Element>(op: Op, x: &[T], y: &[T], number: Scalar) {
    let ([x, far_x], [y, far_y]) = (both(x, &[x.len()]), both(y, &[y.len()]));
    if matches!(op.row().class, nomina_core::op::Class::Unary(_)) {
        return same_both_ways(op, &[(&x).into()], &[(&far_x).into()]);
    }
    let (tensor, far) = (
        [(&x).into(), (&y).into()],
        [(&far_x).into(), (&far_y).into()],
    );
    same_both_ways(op, &tensor, &far);
    same_both_ways(
        op,
        &[(&x).into(), number.into()],
        &[(&far_x).into(), number.into()],
    );
    same_both_ways(
        op,
        &[number.into(), (&y).into()],
        &[number.into(), (&far_y).into()],
    );
}

#[test]
fn the_short_way_leads_where_the_long_one_does() {
    let sizes: &[usize] = if cfg!(miri) {
        &[1, 17]
    } else {
        &[1, 16, 1023, 9000]
    };
    for &n in sizes {
        let x: Vec<f32> = (0..n).map(|i| (i % 37) as f32 * 0.25 - 3.0).collect();
        let y: Vec<f32> = (0..n).map(|i| (i % 11) as f32 * 0.5 - 2.0).collect();
        let ops = [
            Op::Add,
            Op::Sub,
            Op::Mul,
            Op::Div,
            Op::Pow,
            Op::Lt,
            Op::Exp,
            Op::Tanh,
            Op::Lgamma,
            Op::Relu,
        ];
        for op in ops {
            pairs(op, &x, &y, Scalar::Float(1.5));
            let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            pairs(op, &wide(&x), &wide(&y), Scalar::Int(2));
        }
        let whole = |x: &[f32]| x.iter().map(|&x| x as i32).collect::<Vec<_>>();
        for op in [Op::Add, Op::Sub, Op::Mul, Op::Lt, Op::BitwiseXor] {
            pairs(op, &whole(&x), &whole(&y), Scalar::Int(3));
        }
        let complex = |x: &[f32]| x.iter().map(|&x| Complex::new(x, 1.0)).collect::<Vec<_>>();
        for op in [Op::Add, Op::Sub, Op::Mul] {
            pairs(op, &complex(&x), &complex(&y), Scalar::Float(0.5));
        }
    }
}

#[test]
fn small_operands_repeat_as_in_the_long_way() {
    let numbers = |shape: &[usize], start: usize| -> Vec<f32> {
        let count: usize = shape.iter().product();
        (start..start + count)
            .map(|i| (i % 29) as f32 - 11.5)
            .collect()
    };
    let cases: &[(&[usize], &[usize])] = &[
        (&[4, 4], &[4]),
        (&[4, 4], &[4, 1]),
        (&[4, 4], &[1, 4]),
        (&[4, 4], &[1]),
        (&[4, 4], &[]),
        (&[2, 3, 5], &[3, 5]),
        (&[2, 3, 5], &[2, 3, 1]),
        (&[2, 3, 5], &[2, 1, 1]),
        (&[1, 3], &[1, 1]),
        (&[1, 4], &[4]),
        (&[90, 17], &[17]),
        (&[90, 17], &[90, 1]),
        // Longer than a block.
        (&[3, 2000], &[2000]),
        (&[3, 2000], &[3, 1]),
        (&[5, 1030], &[1]),
    ];
    let cases = if cfg!(miri) { &cases[..9] } else { cases };
    for &(large, small) in cases {
        let [x, far_x] = both(&numbers(large, 0), large);
        let [y, far_y] = both(&numbers(small, 7), small);
        for op in [Op::Sub, Op::Ge] {
            let near = [Arg::Tensor(&x), Arg::Tensor(&y)];
            let far = [Arg::Tensor(&far_x), Arg::Tensor(&far_y)];
            same_both_ways(op, &near, &far);
            same_both_ways(op, &[near[1], near[0]], &[far[1], far[0]]);
        }
        let [x, far_x] = both(
            &numbers(large, 0)
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>(),
            large,
        );
        let [y, far_y] = both(
            &numbers(small, 7)
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>(),
            small,
        );
        let near = [
            Arg::Tensor(&x),
            Arg::Tensor(&y),
            Arg::Scalar(Scalar::Float(4.0)),
        ];
        let far = [
            Arg::Tensor(&far_x),
            Arg::Tensor(&far_y),
            Arg::Scalar(Scalar::Float(4.0)),
        ];
        same_both_ways(Op::Clamp, &near, &far);
    }
}

#[test]
fn what_needs_more_goes_the_long_way() {
    let x = Raw::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let wide = Raw::from_vec(vec![1.0_f64; 4], &[2, 2]).unwrap();
    let none = Raw::from_vec(Vec::<f32>::new(), &[0]).unwrap();
    let whole = Raw::from_vec(vec![1_i32; 4], &[2, 2]).unwrap();
    let truth = Raw::from_vec(vec![true; 4], &[2, 2]).unwrap();
    let middle = Raw::from_vec(vec![1.0_f32; 2], &[1, 2, 1]).unwrap();
    let unlike = Raw::from_vec(vec![1.0_f32; 3], &[3]).unwrap();
    let turned = x.transpose(0, 1).unwrap();
    for other in [&wide, &whole, &truth, &turned, &middle, &unlike] {
        assert!(!short(Op::Add, &[(&x).into(), other.into()]));
        assert!(!short(Op::Add, &[other.into(), (&x).into()]));
    }
    assert!(!short(Op::Div, &[(&whole).into(), (&whole).into()]));
    assert!(!short(Op::Fmod, &[(&whole).into(), (&whole).into()]));
    assert!(!short(Op::Pow, &[(&whole).into(), Scalar::Int(-1).into()]));
    assert!(!short(Op::Exp, &[(&none).into()]));
    let complex = Scalar::Complex(Complex::new(0.0, 1.0));
    for number in [complex, Scalar::Bool(true)] {
        assert!(!short(Op::Add, &[(&x).into(), number.into()]));
    }
    assert!(!short(
        Op::Add,
        &[(&whole).into(), Scalar::Float(1.0).into()]
    ));
    assert!(!short(
        Op::BitwiseAnd,
        &[(&truth).into(), Scalar::Int(1).into()]
    ));
    // Refused, as before.
    assert!(pointwise(Op::BitwiseNot, &[(&x).into()]).is_err());
    assert!(pointwise(Op::Sub, &[(&truth).into(), (&truth).into()]).is_err());
    assert!(pointwise(Op::Add, &[(&x).into()]).is_err());
    assert!(pointwise(Op::Add, &[(&x).into(), (&unlike).into()]).is_err());
    // Both repeat, after different numbers of elements.
    let row = Raw::from_vec(vec![1.0_f64, 2.0], &[2]).unwrap();
    let column = Raw::from_vec(vec![3.0_f64, 4.0], &[2, 1]).unwrap();
    assert!(short(
        Op::Clamp,
        &[(&wide).into(), (&row).into(), (&column).into()]
    ));
    let long = Raw::from_vec(vec![1.0_f64; 6], &[2, 3]).unwrap();
    let row = Raw::from_vec(vec![1.0_f64; 3], &[3]).unwrap();
    let one = Raw::from_vec(vec![1.0_f64], &[]).unwrap();
    assert!(!short(
        Op::Clamp,
        &[(&long).into(), (&row).into(), (&one).into()]
    ));
}

/// The dtypes that a loop reads and writes are those of the row, wherever the short way is taken.
#[test]
fn loops_and_rows_agree_about_dtypes() {
    let mut seen = 0;
    for &op in Op::ALL {
        for dtype in DType::ALL {
            let Some(kernel) = crate::cpu::pointwise::kernel(op, dtype) else {
                continue;
            };
            assert_eq!(kernel.reads_only(dtype), kernel.inputs == [dtype; OPERANDS]);
            if kernel.reads_only(dtype) {
                assert!(op.row().dtypes.contains(dtype), "{op:?} of {dtype}");
                let resolved = op.row().dtype.resolve(dtype, DType::F32);
                assert_eq!(
                    (resolved.compute, resolved.result),
                    (dtype, kernel.output),
                    "{op:?}"
                );
                seen += 1;
            }
        }
    }
    assert!(seen > 300, "{seen}");
}

#[test]
fn a_shared_operand_is_not_written_to() {
    let x = Raw::from_vec(vec![1.0_f32, 2.0], &[2]).unwrap();
    let y = pointwise_owned(Op::Neg, x.clone(), &[]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!(y.to_vec::<f32>().unwrap(), [-1.0, -2.0]);
    let mut shared = x.clone();
    assert!(!pointwise_reusing(Op::Sub, &[(&y).into()], &mut shared, &[]).unwrap());
}

#[test]
fn a_part_of_a_buffer_is_not_kept_for_a_result() {
    let x = Raw::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let mut part = x.select(0, 1).unwrap();
    drop(x);
    assert!(part.is_unique());
    assert!(!pointwise_reusing(Op::Neg, &[], &mut part, &[]).unwrap());
}
