use nomina_core::Element;
use num_complex::Complex;

use super::super::{pointwise, pointwise_owned};
use super::*;

/// Row-major, and the same elements two apart, which no loop reads as they lie.
fn both<T: Element>(data: &[T]) -> [Raw; 2] {
    let dense = Raw::from_vec(data.to_vec(), &[data.len()]).unwrap();
    let wide: Vec<T> = data.iter().flat_map(|&x| [x, x]).collect();
    let wide = Raw::from_vec(wide, &[data.len(), 2]).unwrap();
    [dense, wide.select(1, 0).unwrap()]
}

fn bits(raw: &Raw) -> (DType, Vec<String>) {
    let text = |raw: &Raw| match raw.dtype() {
        DType::Bool => raw
            .iter::<bool>()
            .unwrap()
            .map(|x| format!("{x}"))
            .collect(),
        DType::F64 => raw.iter::<f64>().unwrap().map(|x| format!("{x}")).collect(),
        DType::C64 => (raw.iter::<Complex<f32>>().unwrap())
            .map(|x| format!("{x}"))
            .collect(),
        _ => raw.iter::<f32>().unwrap().map(|x| format!("{x}")).collect(),
    };
    (raw.dtype(), text(raw))
}

fn short(op: Op, args: &[Arg<'_>]) -> bool {
    new(op, args).unwrap().is_some()
}

/// Both ways give the same, and the short one was one.
fn same<T: Element>(op: Op, x: &[T], y: &[T], number: Scalar) {
    let ([x, far_x], [y, far_y]) = (both(x), both(y));
    let rests = match op.row().class {
        Class::Unary(_) => vec![[None, None]],
        _ => vec![
            [Some(Arg::Tensor(&y)), Some(Arg::Tensor(&far_y))],
            [Some(Arg::Scalar(number)); 2],
        ],
    };
    for [near, far] in rests {
        let args: Vec<Arg<'_>> = [Some(Arg::Tensor(&x)), near]
            .into_iter()
            .flatten()
            .collect();
        let long: Vec<Arg<'_>> = [Some(Arg::Tensor(&far_x)), far]
            .into_iter()
            .flatten()
            .collect();
        assert!(short(op, &args) && !short(op, &long), "{op:?}");
        let wanted = bits(&pointwise(op, &long).unwrap());
        assert_eq!(bits(&pointwise(op, &args).unwrap()), wanted, "{op:?}");
        let own = call_copy(&x);
        let address = own.as_ptr();
        let got = pointwise_owned(op, own, &args[1..]).unwrap();
        assert_eq!(bits(&got), wanted, "{op:?} into its operand");
        assert_eq!(got.as_ptr() == address, got.dtype() == x.dtype(), "{op:?}");
    }
}

fn call_copy(x: &Raw) -> Raw {
    super::super::duplicate(x).unwrap()
}

#[test]
fn the_short_way_leads_where_the_long_one_does() {
    let sizes: &[usize] = if cfg!(miri) {
        &[1, 17]
    } else {
        &[1, 16, 1023, 5000]
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
            Op::Relu,
        ];
        for op in ops {
            same(op, &x, &y, Scalar::Float(1.5));
            let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
            same(op, &wide(&x), &wide(&y), Scalar::Int(2));
        }
        let pairs = |x: &[f32]| x.iter().map(|&x| Complex::new(x, 1.0)).collect::<Vec<_>>();
        for op in [Op::Add, Op::Mul] {
            same(op, &pairs(&x), &pairs(&y), Scalar::Float(0.5));
        }
    }
}

#[test]
fn what_needs_more_goes_the_long_way() {
    let x = Raw::from_vec(vec![1.0_f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let row = Raw::from_vec(vec![1.0_f32, 2.0], &[2]).unwrap();
    let wide = Raw::from_vec(vec![1.0_f64; 4], &[2, 2]).unwrap();
    let none = Raw::from_vec(Vec::<f32>::new(), &[0]).unwrap();
    let whole = Raw::from_vec(vec![1_i32; 4], &[2, 2]).unwrap();
    let turned = x.transpose(0, 1).unwrap();
    for other in [&row, &wide, &whole, &turned] {
        assert!(!short(Op::Add, &[(&x).into(), other.into()]));
    }
    assert!(!short(Op::Add, &[(&whole).into(), (&whole).into()]));
    assert!(!short(Op::Exp, &[(&none).into()]));
    let complex = Scalar::Complex(Complex::new(0.0, 1.0));
    for number in [complex, Scalar::Bool(true)] {
        assert!(!short(Op::Add, &[(&x).into(), number.into()]));
    }
    // Refused, as before.
    assert!(pointwise(Op::BitwiseNot, &[(&x).into()]).is_err());
    assert!(pointwise(Op::Add, &[(&x).into()]).is_err());
}

#[test]
fn a_shared_operand_is_not_written_to() {
    let x = Raw::from_vec(vec![1.0_f32, 2.0], &[2]).unwrap();
    let y = pointwise_owned(Op::Neg, x.clone(), &[]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!(y.to_vec::<f32>().unwrap(), [-1.0, -2.0]);
}
