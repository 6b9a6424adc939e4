use nomina_core::Scalar;

use super::*;
use crate::cpu::reduce::tests::{layouts, sample};

#[test]
fn cat_joins_and_promotes() {
    for dtype in [DType::Bool, DType::I16, DType::BF16, DType::F32, DType::C64] {
        for x in layouts(&sample(&[4, 3, 2], dtype, 1)) {
            for dim in 0..3 {
                let mut shape = x.shape().to_vec();
                shape[dim] = 2;
                let y = sample(&shape, DType::F32, 2);
                let out = cat(&[&x, &y, &x], dim).unwrap();
                assert_eq!(out.dtype(), dtype.promote(DType::F32));
                assert_eq!(out.shape()[dim], 2 * x.shape()[dim] + 2);
                let part = |start, len| out.narrow(dim, start, len).unwrap();
                let n = x.shape()[dim];
                let same = |a: &Raw, b: &Raw| {
                    a.scalars()
                        .zip(b.scalars())
                        .all(|(a, b)| a.to_complex() == b.to_complex())
                };
                assert!(
                    same(&part(0, n), &x) && same(&part(n, 2), &y) && same(&part(n + 2, n), &x)
                );
            }
        }
    }
    let number = sample(&[], DType::F32, 1);
    let (x, empty) = (sample(&[2, 3], DType::F32, 1), sample(&[0], DType::F64, 1));
    let kind = |xs: &[&Raw], dim| cat(xs, dim).unwrap_err().kind();
    assert_eq!(kind(&[&x, &number], 0), ErrorKind::Rank);
    assert_eq!(
        kind(&[&x, &sample(&[2], DType::F32, 1)], 0),
        ErrorKind::Rank
    );
    assert_eq!(
        kind(&[&x, &sample(&[3, 3], DType::F32, 1)], 1),
        ErrorKind::Shape
    );
    assert_eq!(kind(&[&x], 2), ErrorKind::Index);
    assert_eq!(kind(&[], 0), ErrorKind::Argument);
    assert_eq!(cat(&[&empty, &x], 0).unwrap().shape(), [2, 3]);
    assert_eq!(cat(&[&empty, &empty], 0).unwrap().shape(), [0]);
}

#[test]
fn masked_select_in_order() {
    let shapes: &[&[usize]] = if cfg!(miri) {
        &[&[3, 4]]
    } else {
        &[&[], &[0], &[3, 4], &[300, 257], &[2, 3, 4]]
    };
    for shape in shapes {
        for dtype in [DType::U8, DType::F16, DType::F32, DType::C128, DType::C64] {
            for x in layouts(&sample(shape, dtype, 1)) {
                let mask = sample(x.shape(), DType::I8, 2);
                let mask = pointwise(Op::Gt, &[Arg::Tensor(&mask), Scalar::Int(0).into()]).unwrap();
                let out = masked_select(&x, &mask).unwrap();
                let want: Vec<Scalar> = x
                    .scalars()
                    .zip(mask.scalars())
                    .filter(|(_, take)| take.to_bool())
                    .map(|(x, _)| x)
                    .collect();
                assert_eq!(out.shape(), [want.len()]);
                assert!(out.scalars().eq(want));
            }
        }
    }
}

#[test]
fn masked_select_broadcasts() {
    let x = Raw::from_vec(vec![1, 2, 3], &[3]).unwrap();
    let mask = Raw::from_vec(vec![true, false], &[2, 1]).unwrap();
    assert_eq!(
        masked_select(&x, &mask).unwrap().to_vec::<i32>().unwrap(),
        [1, 2, 3]
    );
    let mask = Raw::from_vec(vec![false, true, true], &[3]).unwrap();
    let column = Raw::from_vec(vec![7, 8], &[2, 1]).unwrap();
    assert_eq!(
        masked_select(&column, &mask)
            .unwrap()
            .to_vec::<i32>()
            .unwrap(),
        [7, 7, 8, 8]
    );
    assert_eq!(masked_select(&x, &x).unwrap_err().kind(), ErrorKind::DType);
    let mask = Raw::from_vec(vec![true; 2], &[2]).unwrap();
    assert_eq!(
        masked_select(&x, &mask).unwrap_err().kind(),
        ErrorKind::Shape
    );
}

#[test]
fn equal_looks_at_all() {
    for dtype in DType::ALL {
        let n = if cfg!(miri) { 20 } else { 70_000 };
        let x = sample(&[2, n], dtype, 1);
        let copy = super::super::duplicate(&x).unwrap();
        assert!(equal(&x, &copy).unwrap());
        let t = contiguous(&x.transpose(0, 1).unwrap())
            .unwrap()
            .transpose(0, 1)
            .unwrap();
        assert!(equal(&x, &t).unwrap(), "{dtype}");
        // Noise as bool is true throughout.
        let symmetric = dtype == DType::Bool;
        assert_eq!(
            equal(&x, &t.flip(1).unwrap()).unwrap(),
            symmetric,
            "{dtype}"
        );
        assert!(!equal(&x, &t.transpose(0, 1).unwrap()).unwrap());
    }
    let nan = Raw::from_vec(vec![f32::NAN], &[1]).unwrap();
    assert!(!equal(&nan, &nan).unwrap());
    assert!(equal(&nan, &sample(&[1], DType::F64, 1)).is_err());
    let none = sample(&[0, 2], DType::F32, 1);
    assert!(equal(&none, &none.flip(1).unwrap()).unwrap());
}
