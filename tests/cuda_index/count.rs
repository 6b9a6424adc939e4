//! Unique elements, binary search, bins, quantiles.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Interpolation};

use crate::SCHEDULES;
use crate::both::{REAL, both, data, every_other, index, numbers, on_device};
use crate::here::device;
use crate::sample::some;

#[test]
fn different_elements() {
    let _here = device!(&SCHEDULES);
    for dtype in some(REAL) {
        let x = data(&[6, 50], dtype, 1);
        for consecutive in [false, true] {
            let op = if consecutive {
                Op::UniqueConsecutive
            } else {
                Op::Unique
            };
            for dim in [None, Some(0), Some(1)] {
                both(&format!("{dtype} {op:?} {dim:?}"), |on| {
                    let x = on(&x);
                    let narrow =
                        call::index_select(Op::IndexSelect, &x, 0, &on(&index(&[9], 3, 2)))?;
                    let mut all = Vec::new();
                    for x in [&x, &narrow, &every_other(&x), &narrow.narrow(1, 4, 1)?] {
                        let found = call::unique(op, x, dim, consecutive)?;
                        all.extend([found.values, found.inverse, found.counts]);
                    }
                    Ok(all)
                });
            }
        }
    }
    let long = index(&[5000], 300, 3);
    both("unique of many", |on| {
        let found = call::unique(Op::Unique, &on(&long), None, false)?;
        Ok(vec![found.values, found.inverse, found.counts])
    });
    let none = data(&[0], DType::F32, 4);
    both("unique of none", |on| {
        let found = call::unique(Op::Unique, &on(&none), None, false)?;
        Ok(vec![found.values, found.inverse, found.counts])
    });
    on_device(&["unique", "pick", "lines"]);
}

#[test]
fn places_in_sequences() {
    let _here = device!(&SCHEDULES);
    for dtype in some(REAL) {
        let (x, values) = (data(&[4, 60], dtype, 1), data(&[4, 33], dtype, 2));
        for right in [false, true] {
            both(&format!("{dtype} searchsorted {right}"), |on| {
                let (x, values) = (on(&x), on(&values));
                let (sorted, order) = call::sort(Op::Sort, &x, 1, false)?;
                let find = |sequence: &Raw, values: &Raw, sorter| {
                    call::searchsorted(Op::Searchsorted, sequence, values, sorter, right)
                };
                Ok(vec![
                    find(&sorted, &values, None)?,
                    find(&x, &values, Some(&order))?,
                    find(&sorted.select(0, 1)?, &every_other(&values), None)?,
                ])
            });
        }
        both(&format!("{dtype} isin"), |on| {
            let (x, others) = (on(&x), on(&values.narrow(1, 0, 4)?));
            Ok(vec![
                call::isin(&x, &others, false)?,
                call::isin(&x, &others, true)?,
            ])
        });
    }
    on_device(&["searchsorted", "isin"]);
}

#[test]
fn bins() {
    let _here = device!(&SCHEDULES);
    let many = numbers(5000, 40, 1);
    for dtype in some([DType::U8, DType::I8, DType::I16, DType::I32, DType::I64]) {
        let x = Raw::from_vec(many.clone(), &[5000]).unwrap();
        let x = call::to_dtype(&x, dtype).unwrap();
        both(&format!("{dtype} bincount"), |on| {
            let x = on(&x);
            Ok(vec![
                call::bincount(&x, None, 0)?,
                call::bincount(&x, None, 5000)?,
                call::bincount(&every_other(&x), None, 3)?,
                call::bincount(&x.narrow(0, 0, 0)?, None, 4)?,
            ])
        });
    }
    let x = Raw::from_vec(many, &[5000]).unwrap();
    for dtype in some([DType::F32, DType::F64, DType::I32, DType::F16]) {
        let weights = call::to_dtype(&index(&[5000], 9, 2), dtype).unwrap();
        both(&format!("bincount by {dtype}"), |on| {
            Ok(vec![call::bincount(&on(&x), Some(&on(&weights)), 0)?])
        });
    }
    for dtype in some([DType::F32, DType::F64]) {
        let x = data(&[3000], dtype, 3);
        let finite = call::to_dtype(&index(&[3000], 77, 4), dtype).unwrap();
        both(&format!("{dtype} histc"), |on| {
            let finite = on(&finite);
            Ok(vec![
                call::histc(&on(&x), 13, -40.0, 60.0)?,
                call::histc(&finite, 5000, 0.0, 70.0)?,
                call::histc(&finite, 7, 0.0, 0.0)?,
                call::histc(&every_other(&finite), 4, 1.0, 9.0)?,
            ])
        });
    }
    on_device(&["bincount", "histc"]);
}

#[test]
fn quantiles() {
    let _here = device!(&SCHEDULES);
    let by = [
        Interpolation::Linear,
        Interpolation::Lower,
        Interpolation::Higher,
        Interpolation::Midpoint,
        Interpolation::Nearest,
    ];
    for dtype in some([DType::F32, DType::F64]) {
        let (x, odd) = (
            call::to_dtype(&index(&[7, 30], 1000, 1), dtype).unwrap(),
            data(&[7, 30], dtype, 2),
        );
        let q = Raw::from_vec(vec![0.0, 0.1, 0.25, 0.5, 0.77, 1.0], &[6]).unwrap();
        let q = call::to_dtype(&q, dtype).unwrap();
        for by in by {
            for op in [Op::Quantile, Op::Nanquantile] {
                both(&format!("{dtype} {op:?} {by:?}"), |on| {
                    let (x, odd, q) = (on(&x), on(&odd), on(&q));
                    Ok(vec![
                        call::quantile(op, &x, &q, 1, by)?,
                        call::quantile(op, &x, &q.select(0, 3)?, 0, by)?,
                        call::quantile(op, &odd, &q, 1, by)?,
                        call::quantile(op, &odd, &q, 0, by)?,
                    ])
                });
            }
        }
    }
    on_device(&["quantile"]);
}
