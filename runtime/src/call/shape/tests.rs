use crate::Device;
use nomina_core::{DType, ErrorKind, Scalar};

use super::*;
use crate::call::contiguous;

fn counted(shape: &[usize]) -> Raw {
    let count: usize = shape.iter().product();
    Raw::from_vec((0..count as i32).collect(), shape).unwrap()
}

fn numbers(x: &Raw) -> Vec<i32> {
    x.to_vec().unwrap()
}

#[test]
fn moved_and_repeated() {
    let x = counted(&[2, 3]);
    assert_eq!(numbers(&flip(&x, &[1]).unwrap()), [2, 1, 0, 5, 4, 3]);
    assert_eq!(numbers(&flip(&x, &[0, 1]).unwrap()), [5, 4, 3, 2, 1, 0]);
    assert_eq!(numbers(&roll(&x, 4, 1).unwrap()), [2, 0, 1, 5, 3, 4]);
    assert_eq!(numbers(&roll(&x, i64::MIN, 0).unwrap()), numbers(&x));
    let twice = repeat("repeat", &x, &[2, 1, 2]).unwrap();
    assert_eq!(twice.shape(), [2, 2, 6]);
    assert_eq!(numbers(&twice)[..6], [0, 1, 2, 0, 1, 2]);
    assert_eq!(repeat("repeat", &x, &[0, 2]).unwrap().shape(), [0, 6]);
    let each = interleave("repeat_interleave", &x, 1, 2).unwrap();
    assert_eq!(numbers(&each), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5]);
    let error = repeat("repeat", &x, &[usize::MAX, 2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
}

#[test]
fn large_ones_agree_with_small_steps() {
    // Large enough for more than one thread.
    let x = counted(&[260, 257]);
    let t = x.transpose(0, 1).unwrap();
    for source in [&x, &t] {
        let flipped = flip(source, &[0]).unwrap();
        let rows = source.shape()[0];
        assert_eq!(
            numbers(&flipped.select(0, 3).unwrap()),
            numbers(&source.select(0, rows - 4).unwrap())
        );
        let low = triangle("tril", source, -2, false).unwrap();
        let high = triangle("triu", source, -1, true).unwrap();
        for row in [0, 1, 2, 100, rows - 1] {
            let (whole, low, high) = (
                numbers(&source.select(0, row).unwrap()),
                numbers(&low.select(0, row).unwrap()),
                numbers(&high.select(0, row).unwrap()),
            );
            for column in 0..whole.len() {
                let below = column as i64 <= row as i64 - 2;
                let want = if below {
                    (whole[column], 0)
                } else {
                    (0, whole[column])
                };
                assert_eq!((low[column], high[column]), want, "{row} {column}");
            }
        }
    }
}

#[test]
fn triangles_of_views_and_batches() {
    let x = counted(&[2, 3, 3]);
    let low = triangle("tril", &x, 0, false).unwrap();
    assert_eq!(numbers(&low)[..9], [0, 0, 0, 3, 4, 0, 6, 7, 8]);
    let mut own = contiguous(&x).unwrap().transpose(1, 2).unwrap();
    triangle_in_place("triu_", own.as_mut().unwrap(), 1, true).unwrap();
    assert_eq!(numbers(&own)[..9], [0, 3, 6, 0, 0, 7, 0, 0, 0]);
    let error = triangle("tril", &counted(&[3]), 0, false).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Rank);
    assert!(
        numbers(&triangle("tril", &x, i64::MIN, false).unwrap())
            .iter()
            .all(|&v| v == 0)
    );
    assert_eq!(
        numbers(&triangle("triu", &x, i64::MIN, true).unwrap()),
        numbers(&x)
    );
}

#[test]
fn windows_overlap() {
    let x = counted(&[2, 5]);
    let seen = windows(&x, Some(1), 3, 2).unwrap();
    assert_eq!(
        (seen.shape(), seen.strides()),
        (&[2, 2, 3][..], &[5, 2, 1][..])
    );
    assert_eq!(numbers(&seen)[..6], [0, 1, 2, 2, 3, 4]);
    assert!(windows(&x, Some(1), 6, 1).is_err());
    assert!(windows(&x, Some(1), 1, 0).is_err());
    assert_eq!(windows(&x, Some(1), 0, 1).unwrap().shape(), [2, 6, 0]);
    let one = x.select(0, 0).unwrap().select(0, 3).unwrap();
    assert_eq!(numbers(&windows(&one, None, 1, 1).unwrap()), [3]);
    assert_eq!(
        windows(&x, Some(1), 5, usize::MAX).unwrap().shape(),
        [2, 1, 5]
    );
}

#[test]
fn both_ends_are_exact() {
    let x = linspace(0.1.into(), 0.7.into(), 7, DType::F64, Device::Cpu).unwrap();
    let values: Vec<f64> = x.to_vec().unwrap();
    assert_eq!((values[0], values[6]), (0.1, 0.7));
    let one = linspace(3.into(), 9.into(), 1, DType::I64, Device::Cpu).unwrap();
    assert_eq!(one.to_vec::<i64>().unwrap(), [3]);
    let none = logspace(3.into(), 9.into(), 0, 2.0, DType::F32, Device::Cpu).unwrap();
    assert_eq!(none.numel(), 0);
    let i = Scalar::Complex(num_complex::Complex::new(0.0, 1.0));
    assert!(linspace(0.into(), i, 3, DType::F32, Device::Cpu).is_err());
}

#[test]
fn complex_numbers_are_pairs() {
    let pairs = Raw::from_vec(vec![1.0f32, 2.0, 3.0, 4.0], &[2, 2]).unwrap();
    let x = as_complex(&pairs).unwrap();
    assert!(x.shares_storage(&pairs));
    assert_eq!(real(&x).unwrap().to_vec::<f32>().unwrap(), [1.0, 3.0]);
    assert_eq!(imag(&x).unwrap().to_vec::<f32>().unwrap(), [2.0, 4.0]);
    assert_eq!(as_real(&x).unwrap().shape(), [2, 2]);
    assert!(as_complex(&pairs.transpose(0, 1).unwrap()).is_err());
    assert!(imag(&pairs).is_err());
    let back = join_parts("complex", &real(&x).unwrap(), &imag(&x).unwrap()).unwrap();
    assert!(back.scalars().eq(x.scalars()));
    // Written to, a part leaves the whole alone.
    let mut part = real(&x).unwrap();
    crate::call::fill(part.as_mut().unwrap(), 7.into()).unwrap();
    assert_eq!(real(&x).unwrap().to_vec::<f32>().unwrap(), [1.0, 3.0]);
}

/// Beside the definition, and where only a few of very many rows have elements.
#[test]
fn indices_of_triangles() {
    let of = |rows, columns, offset, upper| {
        let place = (DType::I64, Device::Cpu);
        triangle_indices("tri", (rows, columns), offset, upper, place.0, place.1)
    };
    for (rows, columns) in [(0, 0), (0, 3), (3, 0), (1, 1), (2, 5), (5, 2), (4, 4)] {
        for offset in [i64::MIN, -6, -5, -2, -1, 0, 1, 2, 5, 6, i64::MAX] {
            for upper in [false, true] {
                let mut expected = [vec![], vec![]];
                for row in 0..rows as i64 {
                    for column in 0..columns as i64 {
                        let off = i128::from(column - row) - i128::from(offset);
                        if if upper { off >= 0 } else { off <= 0 } {
                            expected[0].push(row);
                            expected[1].push(column);
                        }
                    }
                }
                let got = of(rows, columns, offset, upper).unwrap();
                assert_eq!(got.shape(), [2, expected[0].len()]);
                let got = got.to_vec::<i64>().unwrap();
                assert_eq!(got, expected.concat(), "{rows} {columns} {offset} {upper}");
            }
        }
    }
    let most = i64::MAX as usize;
    for sizes in [(most, 0), (0, most), (usize::MAX, 0), (0, usize::MAX)] {
        assert_eq!(of(sizes.0, sizes.1, 0, false).unwrap().shape(), [2, 0]);
        assert_eq!(of(sizes.0, sizes.1, 0, true).unwrap().shape(), [2, 0]);
    }
    let corner = of(2, usize::MAX, 0, false).unwrap();
    assert_eq!(corner.to_vec::<i64>().unwrap(), [0, 1, 1, 0, 0, 1]);
    let last = of(most, 1, 1 - i64::MAX, false).unwrap();
    assert_eq!(last.to_vec::<i64>().unwrap(), [i64::MAX - 1, 0]);
    let first = of(most, most, i64::MAX - 1, true).unwrap();
    assert_eq!(first.to_vec::<i64>().unwrap(), [0, i64::MAX - 1]);
    for upper in [false, true] {
        assert!(of(most, most, 0, upper).is_err());
        assert!(of(usize::MAX, usize::MAX, 0, upper).is_err());
    }
}
