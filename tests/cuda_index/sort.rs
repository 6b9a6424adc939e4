//! Sorted lines, and selection from them.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::{Raw, call};

use crate::SCHEDULES;
use crate::both::{On, REAL, both, data, every_other, on_device};
use crate::here::device;
use crate::sample::some;

/// Runs all operators that sort along a dim.
fn all(what: &str, x: &Raw, dim: usize, view: impl Fn(&Raw) -> Raw) {
    let len = view(x).shape()[dim];
    let own = |on: On<'_>| view(&on(x));
    for descending in [false, true] {
        both(&format!("{what} sort {descending}"), |on| {
            let (values, at) = call::sort(Op::Sort, &own(on), dim, descending)?;
            Ok(vec![values, at])
        });
        let mut counts = vec![0, 1, 5.min(len), len / 3, len];
        counts.dedup();
        for k in counts {
            both(&format!("{what} topk {k} {descending}"), |on| {
                let (values, at) = call::topk(Op::Topk, &own(on), k as i64, dim, descending)?;
                Ok(vec![values, at])
            });
        }
    }
    for k in [1, len / 2 + 1, len] {
        both(&format!("{what} kthvalue {k}"), |on| {
            let (value, at) = call::kthvalue(&own(on), k as i64, dim, false)?;
            Ok(vec![value, at])
        });
    }
    for op in [Op::Median, Op::Nanmedian, Op::Mode] {
        both(&format!("{what} {op:?}"), |on| {
            let (value, at) = call::typical(op, &own(on), dim, true)?;
            Ok(vec![value, at])
        });
    }
    for op in [Op::Cummax, Op::Cummin] {
        both(&format!("{what} {op:?}"), |on| {
            let (values, at) = call::running_extreme(op, &own(on), dim)?;
            Ok(vec![values, at])
        });
    }
}

#[test]
fn lines_of_every_dtype_and_length() {
    let _here = device!(&SCHEDULES);
    for dtype in some(REAL) {
        for len in [1, 2, 31, 33, 1000] {
            let what = format!("{dtype} {len}");
            all(&what, &data(&[3, len], dtype, 1), 1, Raw::clone);
            all(
                &format!("{what} across"),
                &data(&[len, 5], dtype, 2),
                0,
                Raw::clone,
            );
        }
        let middle = data(&[2, 33, 7], dtype, 3);
        all(&format!("{dtype} middle"), &middle, 1, Raw::clone);
        all(&format!("{dtype} permuted"), &middle, 2, |x| {
            x.permute(&[1, 2, 0]).unwrap()
        });
        all(
            &format!("{dtype} apart"),
            &data(&[2, 70], dtype, 4),
            1,
            every_other,
        );
    }
    on_device(&["lines", "sort"]);
}

#[test]
fn long_lines() {
    let _here = device!(&SCHEDULES);
    for dtype in some(REAL) {
        // A sorting network, a radix sort of a line in one block, and one in several blocks.
        for len in [500, 2049, 4096, 4097] {
            all(
                &format!("{dtype} {len}"),
                &data(&[2, len], dtype, 5),
                1,
                Raw::clone,
            );
        }
    }
    for len in [2500, 4500] {
        let across = data(&[len, 3], DType::F32, 6);
        all("f32 long across", &across, 0, Raw::clone);
    }
    let side_by_side = data(&[5, 1030], DType::F16, 7);
    all("f16 many columns", &side_by_side, 0, Raw::clone);
    let nan = Raw::from_vec(vec![f32::NAN; 9000], &[2, 4500]).unwrap();
    all("all NaN", &nan, 1, Raw::clone);
    on_device(&["lines", "sort"]);
}

#[test]
fn very_long_lines() {
    let _here = device!(&SCHEDULES);
    for dtype in some([DType::U8, DType::BF16, DType::F32, DType::I64]) {
        let x = data(&[70_000], dtype, 8);
        all(&format!("{dtype} 70,000"), &x, 0, Raw::clone);
    }
    // More tiles than one thread handles.
    let x = data(&[140_000], DType::I16, 9);
    both("i16 140,000 sort", |on| {
        let (values, at) = call::sort(Op::Sort, &on(&x), 0, false)?;
        Ok(vec![values, at])
    });
    on_device(&["lines", "sort"]);
}

#[test]
fn without_elements() {
    let _here = device!(&SCHEDULES);
    for shape in [&[0][..], &[3, 0], &[0, 4]] {
        let x = data(shape, DType::F32, 1);
        for dim in 0..shape.len() {
            both(&format!("sort of {shape:?} along {dim}"), |on| {
                let (values, at) = call::sort(Op::Sort, &on(&x), dim, false)?;
                Ok(vec![values, at])
            });
        }
    }
    let number = data(&[], DType::F64, 2);
    both("sort of a number", |on| {
        let (values, at) = call::sort(Op::Sort, &on(&number), 0, true)?;
        Ok(vec![values, at])
    });
}
