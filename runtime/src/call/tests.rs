use crate::Device;
use half::f16;
use nomina_core::op::Op;
use nomina_core::{DType, Element, ErrorKind, Scalar};
use num_complex::Complex;

use super::*;
use crate::raw::Raw;
use crate::with_default_dtype;

fn raw<T: Element>(data: &[T], shape: &[usize]) -> Raw {
    Raw::from_vec(data.to_vec(), shape).unwrap()
}

fn int(value: i64) -> Arg<'static> {
    Arg::Scalar(Scalar::Int(value))
}

fn float(value: f64) -> Arg<'static> {
    Arg::Scalar(Scalar::Float(value))
}

#[test]
fn broadcasts_and_promotes() {
    let x = raw(&[1_i32, 2, 3, 4, 5, 6], &[2, 3]);
    let y = raw(&[0.5_f64, 1.5, 2.5], &[3]);
    let z = pointwise(Op::Add, &[(&x).into(), (&y).into()]).unwrap();
    assert_eq!(z.to_vec::<f64>().unwrap(), [1.5, 3.5, 5.5, 4.5, 6.5, 8.5]);
    let column = raw(&[10_u8, 20], &[2, 1]);
    let z = pointwise(Op::Mul, &[(&column).into(), (&x).into()]).unwrap();
    assert_eq!(z.to_vec::<i32>().unwrap(), [10, 20, 30, 80, 100, 120]);
    let z = pointwise(Op::Div, &[(&x).into(), int(2)]).unwrap();
    assert_eq!(z.to_vec::<f32>().unwrap(), [0.5, 1., 1.5, 2., 2.5, 3.]);
    let z = with_default_dtype(DType::F64, || pointwise(Op::Sqrt, &[(&x).into()])).unwrap();
    assert_eq!(z.dtype(), DType::F64);
    let z = pointwise(Op::Lt, &[(&x).into(), float(2.5)]).unwrap();
    assert_eq!(
        z.to_vec::<bool>().unwrap(),
        [true, true, false, false, false, false]
    );
}

#[test]
fn great_integers_stay_exact() {
    let x = raw(&[i64::MAX - 1], &[1]);
    let z = pointwise(Op::Eq, &[(&x).into(), int(i64::MAX - 1)]).unwrap();
    assert!(z.get::<bool>(&[0]).unwrap());
    let z = pointwise(Op::Add, &[(&x).into(), int(2)]).unwrap();
    assert_eq!(z.get::<i64>(&[0]).unwrap(), i64::MIN);
}

#[test]
fn bounds_and_conditions() {
    let x = raw(&[-1.0_f32, f32::NAN, 3.0], &[3]);
    let z = clamp(&x, Some(int(0)), None)
        .unwrap()
        .to_vec::<f32>()
        .unwrap();
    assert!(z[0] == 0.0 && z[1].is_nan() && z[2] == 3.0);
    let bytes = raw(&[1_u8, 200], &[2]);
    assert_eq!(
        clamp(&bytes, Some(int(-1)), Some(int(2)))
            .unwrap()
            .to_vec::<u8>()
            .unwrap(),
        [2, 2]
    );
    assert_eq!(
        clamp(&bytes, None, Some(int(7)))
            .unwrap()
            .to_vec::<u8>()
            .unwrap(),
        [1, 7]
    );
    assert_eq!(
        clamp(&x, None, None).unwrap_err().kind(),
        ErrorKind::Argument
    );

    let mask = raw(&[true, false, true], &[3]);
    let z = pointwise(Op::Where, &[(&mask).into(), (&x).into(), int(9)]).unwrap();
    assert_eq!(z.to_vec::<f32>().unwrap(), [-1.0, 9.0, 3.0]);
    let halves = raw(&[f16::ONE; 3], &[3]);
    let z = pointwise(
        Op::MaskedFill,
        &[(&halves).into(), (&mask).into(), float(0.5)],
    )
    .unwrap();
    assert_eq!(
        z.to_vec::<f16>().unwrap(),
        [0.5, 1.0, 0.5].map(f16::from_f32)
    );
    let error = pointwise(Op::Where, &[(&x).into(), (&x).into(), int(9)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
}

#[test]
fn wrong_operands_are_errors() {
    let (x, y) = (raw(&[1_i32, 2], &[2]), raw(&[1_i32, 2, 3], &[3]));
    let error = pointwise(Op::Add, &[(&x).into(), (&y).into()]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert_eq!(error.operands()[1].shape, [3]);
    let truth = raw(&[true, false], &[2]);
    assert_eq!(
        pointwise(Op::Neg, &[(&truth).into()]).unwrap_err().kind(),
        ErrorKind::DType
    );
    let complex = raw(&[Complex::new(1.0_f32, 0.0)], &[1]);
    let error = pointwise(Op::Lt, &[(&complex).into(), int(1)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
    let error = pointwise(Op::Pow, &[(&x).into(), int(-1)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert_eq!(
        pointwise(Op::Add, &[(&x).into()]).unwrap_err().kind(),
        ErrorKind::Argument
    );
    assert!(pointwise(Op::Sum, &[(&x).into()]).is_err());
}

#[test]
fn in_place_never_touches_what_others_see() {
    let mut x = raw(&[1.0_f32, 2.0, 3.0, 4.0], &[2, 2]);
    let shared = x.clone();
    let transposed = x.transpose(0, 1).unwrap();
    pointwise_in_place(Op::Add, x.as_mut().unwrap(), &[(&transposed).into()]).unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [2., 5., 5., 8.]);
    assert_eq!(shared.to_vec::<f32>().unwrap(), [1., 2., 3., 4.]);

    // A part of a tensor that nobody shares changes where it lies.
    let before = x.as_ptr();
    let part = x.as_mut().unwrap().select(1, 0).unwrap();
    pointwise_in_place(Op::Mul, part, &[int(10)]).unwrap();
    assert_eq!(
        (x.as_ptr(), x.to_vec::<f32>().unwrap()),
        (before, vec![20., 5., 50., 8.])
    );

    let mut whole = raw(&[1_i64, 2], &[2]);
    let error = pointwise_in_place(Op::Add, whole.as_mut().unwrap(), &[float(0.5)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
    let error = pointwise_in_place(Op::Add, whole.as_mut().unwrap(), &[(&x).into()]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::DType | ErrorKind::Shape));
    assert_eq!(whole.to_vec::<i64>().unwrap(), [1, 2]);
}

#[test]
fn owned_operands_are_reused() {
    let x = raw(&[1.0_f32; 8], &[8]);
    let address = x.as_ptr();
    let y = pointwise_owned(Op::Add, x, &[float(1.0)]).unwrap();
    assert_eq!(
        (y.as_ptr(), y.to_vec::<f32>().unwrap()),
        (address, vec![2.0; 8])
    );
    let shared = y.clone();
    let z = pointwise_owned(Op::Exp, y, &[]).unwrap();
    assert!(!z.shares_storage(&shared) && shared.to_vec::<f32>().unwrap() == [2.0; 8]);
    let compared = pointwise_owned(Op::Lt, z, &[int(0)]).unwrap();
    assert_eq!(compared.dtype(), DType::Bool);
}

#[test]
fn results_go_where_they_are_sent() {
    let x = raw(&[f16::from_f32(0.1), f16::from_f32(2.0)], &[2]);
    let mut out = Raw::zeros("zeros", &[2, 2], DType::F64, Device::Cpu).unwrap();
    let row = out.as_mut().unwrap().select(0, 1).unwrap().flip(0).unwrap();
    pointwise_into(Op::Add, row, &[(&x).into(), (&x).into()]).unwrap();
    // Rounded to 16 bits before it is widened.
    let expected = f16::from_f32(2.0 * f16::from_f32(0.1).to_f32()).to_f64();
    assert_eq!(out.to_vec::<f64>().unwrap(), [0.0, 0.0, 4.0, expected]);
    let error = pointwise_into(Op::Add, out.as_mut().unwrap(), &[(&x).into(), int(1)]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn ranges_and_diagonals() {
    let range = |start, end, step, dtype| arange(start, end, step, dtype, Device::Cpu);
    let ints = |a, b, c| range(Scalar::Int(a), Scalar::Int(b), Scalar::Int(c), DType::I64);
    assert_eq!(ints(1, 8, 3).unwrap().to_vec::<i64>().unwrap(), [1, 4, 7]);
    assert_eq!(
        ints(3, -3, -2).unwrap().to_vec::<i64>().unwrap(),
        [3, 1, -1]
    );
    assert!(ints(2, 2, 1).unwrap().to_vec::<i64>().unwrap().is_empty());
    for (a, b, c) in [(0, 5, 0), (0, 5, -1), (5, 0, 1)] {
        assert_eq!(ints(a, b, c).unwrap_err().kind(), ErrorKind::Argument);
    }
    assert!(ints(i64::MIN, i64::MAX, 1).is_err());
    let x = range(
        Scalar::Float(0.0),
        Scalar::Float(1.0),
        Scalar::Float(0.25),
        DType::F32,
    )
    .unwrap();
    assert_eq!(x.to_vec::<f32>().unwrap(), [0.0, 0.25, 0.5, 0.75]);
    let long = range(
        Scalar::Int(0),
        Scalar::Int(1000),
        Scalar::Int(1),
        DType::F16,
    )
    .unwrap();
    assert_eq!(long.get::<f16>(&[999]).unwrap().to_f32(), 999.0);
    assert!(range(Scalar::Int(0), Scalar::Int(1), Scalar::Int(1), DType::C64).is_err());
    let x = eye(2, 3, DType::C64, Device::Cpu)
        .unwrap()
        .to_vec::<Complex<f32>>()
        .unwrap();
    assert_eq!(x.map_re(), [1., 0., 0., 0., 1., 0.]);
    let x = full(&[2], Scalar::Float(-0.0), DType::F32, Device::Cpu).unwrap();
    assert!(x.get::<f32>(&[0]).unwrap().is_sign_negative());
    let error = full(&[2], Scalar::Int(1), DType::F32, Device::Cuda(None)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Device);
    let error = full(&[usize::MAX, 2], Scalar::Int(1), DType::F32, Device::Cpu).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let error = full(&[1 << 54], Scalar::Int(1), DType::F32, Device::Cpu).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory);
}

trait Parts {
    fn map_re(self) -> Vec<f32>;
}

impl Parts for Vec<Complex<f32>> {
    fn map_re(self) -> Vec<f32> {
        self.into_iter().map(|x| x.re).collect()
    }
}

#[test]
fn writing_broadcasts_and_casts() {
    let mut x = Raw::zeros("zeros", &[2, 3], DType::I8, Device::Cpu).unwrap();
    copy_into(x.as_mut().unwrap(), &raw(&[1.9_f32, -2.9, 300.0], &[3])).unwrap();
    assert_eq!(x.to_vec::<i8>().unwrap(), [1, -2, 127, 1, -2, 127]);
    fill(
        x.as_mut().unwrap().narrow(1, 1, 2).unwrap(),
        Scalar::Float(7.5),
    )
    .unwrap();
    assert_eq!(x.to_vec::<i8>().unwrap(), [1, 7, 7, 1, 7, 7]);
    let error = copy_into(x.as_mut().unwrap(), &raw(&[1_i8, 2], &[2])).unwrap_err();
    assert_eq!(
        (error.kind(), error.operands().len()),
        (ErrorKind::Shape, 2)
    );
    // An expanded tensor gets elements of its own before it is written to.
    let mut wide = raw(&[1_i32], &[1]).expand(&[3]).unwrap();
    fill(
        wide.as_mut().unwrap().narrow(0, 0, 1).unwrap(),
        Scalar::Int(5),
    )
    .unwrap();
    assert_eq!(wide.to_vec::<i32>().unwrap(), [5, 1, 1]);
    // Any destination gives this result: nothing there is read.
    let nothing = Raw::zeros("zeros", &[0, 3], DType::I8, Device::Cpu).unwrap();
    assert!(
        to_dtype(&nothing, DType::F64)
            .unwrap()
            .to_vec::<f64>()
            .unwrap()
            .is_empty()
    );
}
