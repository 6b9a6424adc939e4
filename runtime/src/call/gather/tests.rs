use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind};

use super::{ScatterReduce, Target};
use crate::call;
use crate::job::Update;
use crate::raw::Raw;

fn ints(data: &[i64], shape: &[usize]) -> Raw {
    Raw::from_vec(data.to_vec(), shape).unwrap()
}

#[test]
fn an_index_out_of_range_says_which() {
    let (x, index) = (ints(&[1, 2, 3], &[3]), ints(&[0, 7], &[2]));
    let error = call::index_select(Op::IndexSelect, &x, 0, &index).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    let text = error.to_string();
    assert!(
        text.contains("index 7 is out of range for size 3"),
        "{text}"
    );
    assert!(text.contains("indices go from -3 to 2"), "{text}");
    let none = ints(&[], &[0]);
    let error = call::index_select(Op::IndexSelect, &none, 0, &index).unwrap_err();
    assert!(error.to_string().contains("no elements"), "{error}");
}

#[test]
fn nothing_is_written_when_an_index_is_wrong() {
    let mut x = ints(&[1, 2, 3], &[3]);
    let (index, src) = (ints(&[0, 3], &[2]), ints(&[9, 9], &[2]));
    for how in [Update::Set, Update::Add] {
        let dest = x.as_mut().unwrap();
        assert!(call::scatter(Op::Scatter, dest, 0, &index, &src, how).is_err());
        let dest = x.as_mut().unwrap();
        assert!(call::index_update(Op::IndexAdd, dest, 0, &index, &src, how, false).is_err());
        assert!(call::put(Op::Put, &mut x, &index, &src, how).is_err());
    }
    let at = Target {
        dim: 0,
        index: &index,
        slices: false,
    };
    for reduce in [ScatterReduce::Mean, ScatterReduce::Amax] {
        let failed = call::reduced(Op::ScatterReduce, &mut x, at, &src, reduce, false);
        assert!(failed.is_err());
    }
    assert_eq!(x.to_vec::<i64>().unwrap(), [1, 2, 3]);
}

#[test]
fn reductions_of_every_dtype() {
    let index = ints(&[1, 1, 2], &[3]);
    let at = Target {
        dim: 0,
        index: &index,
        slices: true,
    };
    let wanted = [
        (ScatterReduce::Sum, [5, 7, 9]),
        (ScatterReduce::Prod, [5, 12, 20]),
        (ScatterReduce::Mean, [5, 3, 5]),
        (ScatterReduce::Amax, [5, 4, 5]),
        (ScatterReduce::Amin, [5, 3, 5]),
    ];
    for dtype in DType::ALL {
        if dtype == DType::Bool {
            continue;
        }
        for (reduce, wanted) in wanted {
            let mut own = call::to_dtype(&ints(&[5, 9, 4], &[3]), dtype).unwrap();
            let src = call::to_dtype(&ints(&[3, 4, 5], &[3]), dtype).unwrap();
            let with = matches!(reduce, ScatterReduce::Sum | ScatterReduce::Prod);
            let mut wanted = wanted;
            if with {
                // With what is there: 9 and 4.
                wanted = match reduce {
                    ScatterReduce::Sum => [5, 16, 9],
                    _ => [5, 108, 20],
                };
            }
            let done = call::reduced(Op::IndexReduce, &mut own, at, &src, reduce, with);
            let ordered = !matches!(reduce, ScatterReduce::Amax | ScatterReduce::Amin);
            if dtype.is_complex() && !ordered {
                assert_eq!(done.unwrap_err().kind(), ErrorKind::DType);
                continue;
            }
            done.unwrap();
            let found: Vec<i64> = own.scalars().map(|v| v.to_i64()).collect();
            let mean_of_floats = [5, 3, 5];
            if reduce == ScatterReduce::Mean {
                assert_eq!(found, mean_of_floats, "{dtype}");
            } else {
                assert_eq!(found, wanted, "{dtype} {reduce:?}");
            }
        }
    }
}
