//! Scatters: writing at indices.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, ScatterReduce, Target, Update};

use crate::SCHEDULES;
use crate::both::{both, data, every_other, index, on_device, small};
use crate::here::device;
use crate::sample::some;

const ALL: [Update; 5] = [
    Update::Set,
    Update::Add,
    Update::Mul,
    Update::Max,
    Update::Min,
];

/// Returns the update rules of a dtype, each with a generator of values: with special values,
/// unless the rule adds or multiplies.
fn rules(dtype: DType) -> impl Iterator<Item = (Update, fn(&[usize], DType, u64) -> Raw)> {
    let all = ALL.into_iter();
    let all =
        all.filter(move |how| !(dtype.is_complex() && matches!(how, Update::Max | Update::Min)));
    all.map(|how| match how {
        Update::Add | Update::Mul => (how, small as fn(&[usize], DType, u64) -> Raw),
        _ => (how, data as _),
    })
}

#[test]
fn writes_at_one_index_per_element() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        for (how, values) in rules(dtype) {
            for dim in 0..3 {
                let own = values(&[5, 6, 7], dtype, 1);
                let mut shape = [4, 5, 6];
                shape[dim] = 30;
                let (at, src) = (index(&shape, 5, 2), values(&[30, 30, 30], dtype, 3));
                both(&format!("{dtype} scatter {how:?} {dim}"), |on| {
                    let mut own = on(&own);
                    call::scatter(Op::Scatter, own.as_mut()?, dim, &on(&at), &on(&src), how)?;
                    Ok(vec![own])
                });
                both(&format!("{dtype} scatter {how:?} {dim} to a part"), |on| {
                    let (mut own, at) = (on(&values(&[7, 14, 6], dtype, 4)), on(&at));
                    let dest = own.as_mut()?.slice(1, 0, 7, 2)?.permute(&[0, 2, 1])?;
                    let src = every_other(&on(&values(&[30, 30, 60], dtype, 5)));
                    call::scatter(Op::Scatter, dest, dim, &at, &src, how)?;
                    Ok(vec![own])
                });
            }
        }
    }
    on_device(&["update", "scatter"]);
}

#[test]
fn writes_of_whole_slices() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        for (how, values) in rules(dtype) {
            for dim in 0..2 {
                let own = values(&[9, 6, 4], dtype, 1);
                let at = index(&[20], 6, 2);
                let mut shape = [9, 6, 4];
                shape[dim] = 20;
                both(&format!("{dtype} index_update {how:?} {dim}"), |on| {
                    let (mut own, at) = (on(&own), on(&at));
                    let src = on(&values(&shape, dtype, 3));
                    call::index_update(Op::IndexAdd, own.as_mut()?, dim, &at, &src, how, false)?;
                    Ok(vec![own])
                });
                both(
                    &format!("{dtype} index_update {how:?} {dim} one value"),
                    |on| {
                        let (mut own, at) = (on(&own), on(&at));
                        let value = on(&values(&[1], dtype, 4)).reshape(&[])?;
                        call::index_update(
                            Op::IndexFill,
                            own.as_mut()?,
                            dim,
                            &at,
                            &value,
                            how,
                            true,
                        )?;
                        Ok(vec![own])
                    },
                );
            }
            both(&format!("{dtype} index_put {how:?}"), |on| {
                let (mut own, a, b) = (
                    on(&values(&[5, 3, 6], dtype, 5)),
                    on(&index(&[8, 1], 5, 6)),
                    on(&index(&[4], 6, 7)),
                );
                let src = on(&values(&[8, 4, 3], dtype, 8));
                call::index_put(own.as_mut()?, &[0, 2], &[&a, &b], &src, how)?;
                Ok(vec![own])
            });
            both(&format!("{dtype} put {how:?}"), |on| {
                let mut own = on(&values(&[5, 6], dtype, 9)).permute(&[1, 0])?;
                let (at, src) = (on(&index(&[70], 30, 10)), on(&values(&[70], dtype, 11)));
                call::put(Op::Put, &mut own, &at, &src, how)?;
                Ok(vec![own])
            });
        }
    }
    on_device(&["update", "scatter"]);
}

#[test]
fn few_writes_to_many_places_and_many_to_few() {
    let _here = device!(&SCHEDULES);
    for dtype in some([DType::F32, DType::I64, DType::BF16, DType::C128]) {
        for (how, values) in rules(dtype) {
            let own = values(&[70_000], dtype, 1);
            let (at, src) = (index(&[60], 40, 2), values(&[60], dtype, 3));
            both(&format!("{dtype} few {how:?}"), |on| {
                let mut own = on(&own);
                let (at, src) = (on(&at), on(&src));
                call::index_update(Op::IndexAdd, own.as_mut()?, 0, &at, &src, how, false)?;
                Ok(vec![own])
            });
            let how = if how == Update::Mul { Update::Set } else { how };
            // All ones, so that every sum is exact.
            let ones =
                call::full(&[3000, 2], 1.into(), dtype, nomina_runtime::Device::Cpu).unwrap();
            both(&format!("{dtype} many {how:?}"), |on| {
                let mut own = on(&small(&[3, 2], dtype, 4));
                let (at, src) = (on(&index(&[3000], 3, 5)), on(&ones));
                call::index_update(Op::IndexAdd, own.as_mut()?, 0, &at, &src, how, false)?;
                Ok(vec![own])
            });
        }
    }
    on_device(&["update", "scatter"]);
}

#[test]
fn rows_are_added_in_the_index_s_order() {
    let _here = device!(&SCHEDULES);
    // Not exact: a different order of the sums would show.
    for dtype in some([DType::F32, DType::F16, DType::C64, DType::F64]) {
        let own = data(&[12, 10], dtype, 1);
        let finite = |shape: &[usize], seed| {
            let all = crate::both::numbers(shape.iter().product(), 1000, seed);
            let all = all.into_iter().map(|n| n as f64 / 7.0 - 70.0).collect();
            call::to_dtype(&Raw::from_vec::<f64>(all, shape).unwrap(), dtype).unwrap()
        };
        let (at, src) = (index(&[100], 12, 2), finite(&[100, 10], 3));
        for how in [Update::Add, Update::Mul] {
            both(&format!("{dtype} rows {how:?}"), |on| {
                let (mut own, at, src) = (on(&own), on(&at), on(&src));
                call::index_update(Op::IndexAdd, own.as_mut()?, 0, &at, &src, how, false)?;
                Ok(vec![own])
            });
        }
    }
}

#[test]
fn reductions() {
    let _here = device!(&SCHEDULES);
    let all = [
        ScatterReduce::Sum,
        ScatterReduce::Prod,
        ScatterReduce::Mean,
        ScatterReduce::Amax,
        ScatterReduce::Amin,
    ];
    for dtype in some([DType::F32, DType::I32, DType::F16, DType::U8, DType::F64]) {
        for reduce in all {
            for include in [false, true] {
                for slices in [false, true] {
                    let what = format!("{dtype} {reduce:?} {include} {slices}");
                    both(&what, |on| {
                        let mut own = on(&small(&[6, 5], dtype, 1));
                        let at = if slices { &[9][..] } else { &[9, 5] };
                        let (at, src) = (on(&index(at, 6, 2)), on(&small(&[9, 5], dtype, 3)));
                        let target = Target {
                            dim: 0,
                            index: &at,
                            slices,
                        };
                        call::reduced(Op::ScatterReduce, &mut own, target, &src, reduce, include)?;
                        Ok(vec![own])
                    });
                }
            }
        }
    }
}

#[test]
fn values_where_a_mask_holds() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        let (own, src) = (data(&[9, 20], dtype, 1), data(&[200], dtype, 2));
        let mask = call::to_dtype(&index(&[20], 2, 3), DType::Bool).unwrap();
        both(&format!("{dtype} masked_scatter"), |on| {
            let mut own = on(&own);
            call::masked_scatter(&mut own, &on(&mask), &on(&src))?;
            Ok(vec![own])
        });
        both(&format!("{dtype} index_put by a mask"), |on| {
            let (mut own, mask) = (on(&own), on(&mask));
            let at = call::from_mask(&mask)?;
            let at: Vec<&Raw> = at.iter().collect();
            let value = on(&src).narrow(0, 0, 1)?;
            call::index_put(own.as_mut()?, &[1], &at, &value, Update::Set)?;
            Ok(vec![own])
        });
    }
    on_device(&["update", "nonzero"]);
}
