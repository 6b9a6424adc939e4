use nomina_core::{DType, Scalar};

use crate::call;
use crate::raw::Raw;

fn numbers(dtype: DType, shape: &[usize]) -> Raw {
    let count = shape.iter().product::<usize>();
    let data: Vec<f64> = (0..count).map(|i| (i % 100) as f64).collect();
    call::to_dtype(&Raw::from_vec(data, shape).unwrap(), dtype).unwrap()
}

#[test]
fn every_pair_of_dtypes() {
    for from in DType::ALL {
        for to in DType::ALL {
            // 70 elements: full vectors and a remainder.
            pair(from, to, 70);
        }
    }
}

#[test]
fn floats_out_of_range_are_the_nearest_integer() {
    let far = [
        f64::NAN,
        1e30,
        -1e30,
        300.7,
        -300.7,
        -0.9,
        40_000.0,
        -40_000.0,
        f64::INFINITY,
    ];
    let floats = [DType::F32, DType::F64, DType::BF16, DType::C64, DType::C128];
    for from in floats {
        // Once as full vectors, once reversed with gaps.
        let x = call::to_dtype(&Raw::from_vec(far.repeat(8), &[72]).unwrap(), from).unwrap();
        for x in [&x, &x.flip(0).unwrap()] {
            for to in [DType::U8, DType::I8, DType::I16, DType::I32, DType::I64] {
                let y = call::to_dtype(x, to).unwrap();
                for (value, cast) in x.scalars().zip(y.scalars()) {
                    let value = value.to_f64();
                    let nearest = match to {
                        DType::U8 => i64::from(value as u8),
                        DType::I8 => i64::from(value as i8),
                        DType::I16 => i64::from(value as i16),
                        DType::I32 => i64::from(value as i32),
                        _ => value as i64,
                    };
                    assert_eq!(cast.to_i64(), nearest, "{value} of {from} to {to}");
                }
            }
        }
    }
}

#[test]
fn far_more_than_the_caches_hold() {
    let types = [DType::BF16, DType::F32, DType::U8, DType::C64];
    for from in types {
        for to in types {
            pair(from, to, if cfg!(miri) { 70 } else { 5003 });
            // From an unaligned start, with gaps, to rows that begin anywhere.
            let x = numbers(from, &[3, 3001]).narrow(1, 1, 2999).unwrap();
            let y = call::to_dtype(&x, to).unwrap();
            let one = call::to_dtype(&x.select(0, 2).unwrap(), to).unwrap();
            assert!(
                y.select(0, 2).unwrap().scalars().eq(one.scalars()),
                "{from} to {to}"
            );
        }
    }
}

/// Compares the conversion of numbers of one dtype to another, forwards and backwards.
fn pair(from: DType, to: DType, count: usize) {
    let x = numbers(from, &[count]);
    let backwards = x.flip(0).unwrap();
    let (y, z) = (
        call::to_dtype(&x, to).unwrap(),
        call::to_dtype(&backwards, to).unwrap(),
    );
    assert_eq!(y.dtype(), to);
    let truth = from == DType::Bool || to == DType::Bool;
    for (i, value) in y.scalars().enumerate() {
        let expected = if truth {
            f64::from(u8::from(i % 100 != 0))
        } else {
            (i % 100) as f64
        };
        assert_eq!(value.to_f64(), expected, "{from} to {to}");
    }
    let mut reversed: Vec<Scalar> = z.scalars().collect();
    reversed.reverse();
    assert_eq!(
        reversed,
        y.scalars().collect::<Vec<_>>(),
        "{from} to {to}, backwards"
    );
}

#[test]
fn transposed_copies_by_tiles() {
    let shapes: &[[usize; 3]] = if cfg!(miri) {
        &[[2, 5, 37]]
    } else {
        &[[2, 5, 37], [3, 130, 257]]
    };
    for shape in shapes {
        for dtype in [DType::U8, DType::F32, DType::C128] {
            let x = numbers(dtype, shape);
            for dims in [[0, 2, 1], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
                let view = x.permute(&dims).unwrap();
                let copy = call::contiguous(&view).unwrap();
                assert!(copy.is_contiguous() && copy.shape() == view.shape());
                assert!(
                    copy.scalars().eq(view.scalars()),
                    "{shape:?} {dims:?} {dtype}"
                );
                let flipped = view.flip(1).unwrap();
                assert!(
                    call::contiguous(&flipped)
                        .unwrap()
                        .scalars()
                        .eq(flipped.scalars())
                );
            }
        }
    }
}
