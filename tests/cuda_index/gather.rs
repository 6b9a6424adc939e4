//! Reading by index, by mask, and dim by dim.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};
use nomina_runtime::Raw;
use nomina_runtime::call::{self, PadMode};

use crate::SCHEDULES;
use crate::both::{both, data, every_other, index, on_device};
use crate::here::device;
use crate::sample::some;

/// Replaces some indices by their negative equivalents.
fn from_both_ends(x: &Raw, size: usize) -> Raw {
    let each = x.iter::<i64>().unwrap().enumerate();
    let each = each.map(|(at, i)| if at % 3 == 1 { i - size as i64 } else { i });
    Raw::from_vec(each.collect(), x.shape()).unwrap()
}

#[test]
fn reads_of_every_dtype() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        let x = data(&[6, 9, 16], dtype, 1);
        for dim in 0..3 {
            let size = x.shape()[dim];
            let at = from_both_ends(&index(&[11], size, 2), size);
            both(&format!("{dtype} index_select {dim}"), |on| {
                Ok(vec![call::index_select(
                    Op::IndexSelect,
                    &on(&x),
                    dim,
                    &on(&at),
                )?])
            });
            both(&format!("{dtype} index_select {dim} of a part"), |on| {
                let part = every_other(&on(&x)).permute(&[1, 2, 0])?;
                let size = part.shape()[dim];
                let at = on(&index(&[2, 3], size, 3));
                Ok(vec![call::index_select(Op::IndexSelect, &part, dim, &at)?])
            });
            let mut shape = [5, 7, 13];
            shape[dim] = 21;
            let at = from_both_ends(&index(&shape, size, 4), size);
            both(&format!("{dtype} gather {dim}"), |on| {
                let narrow = call::to_dtype(&at, DType::I32)?;
                Ok(vec![
                    call::gather(Op::Gather, &on(&x), dim, &on(&at))?,
                    call::gather(Op::Gather, &on(&x), dim, &on(&narrow))?,
                ])
            });
        }
        let at = from_both_ends(&index(&[4, 5], 864, 5), 864);
        both(&format!("{dtype} take"), |on| {
            Ok(vec![call::take(&on(&x), &on(&at))?])
        });
        let (a, b) = (
            index(&[4, 1], 6, 6),
            from_both_ends(&index(&[5], 16, 7), 16),
        );
        both(&format!("{dtype} index"), |on| {
            let (x, a, b) = (on(&x), on(&a), on(&b));
            Ok(vec![
                call::index(&x, &[0, 2], &[&a, &b])?,
                call::index(&x.permute(&[2, 1, 0])?, &[0, 2], &[&b, &a])?,
            ])
        });
    }
    on_device(&["pick", "gather"]);
}

#[test]
fn masks_of_every_dtype() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        let x = data(&[7, 11, 90], dtype, 1);
        for (shape, below) in [
            (&[7, 11, 90][..], 2),
            (&[11, 1], 2),
            (&[90], 40),
            (&[90], 1),
        ] {
            let mask = call::to_dtype(&index(shape, below, 2), DType::Bool).unwrap();
            both(&format!("{dtype} masked_select {shape:?}"), |on| {
                let (x, mask) = (on(&x), on(&mask));
                Ok(vec![
                    call::masked_select(&x, &mask)?,
                    call::masked_select(&every_other(&x), &every_other(&mask))?,
                ])
            });
        }
        both(&format!("{dtype} nonzero"), |on| {
            let x = on(&x);
            Ok(vec![
                call::nonzero(Op::Nonzero, &x)?,
                call::nonzero(Op::Nonzero, &x.permute(&[2, 0, 1])?)?,
                call::nonzero(Op::Nonzero, &x.select(0, 0)?.select(0, 0)?.select(0, 0)?)?,
                call::nonzero(Op::Nonzero, &x.narrow(1, 3, 0)?)?,
            ])
        });
    }
    let long = call::to_dtype(&index(&[20_000], 3, 3), DType::Bool).unwrap();
    both("a long mask", |on| {
        let mask = on(&long);
        Ok(vec![
            call::nonzero(Op::Nonzero, &mask)?,
            call::nonzero(Op::Nonzero, &mask.narrow(0, 5, 12_345)?)?,
        ])
    });
    on_device(&["nonzero", "masked_select"]);
}

#[test]
fn dims_picked_one_by_one() {
    let _here = device!(&SCHEDULES);
    for dtype in some(DType::ALL) {
        let x = data(&[3, 5, 8], dtype, 1);
        for mode in [
            PadMode::Constant,
            PadMode::Reflect,
            PadMode::Replicate,
            PadMode::Circular,
        ] {
            both(&format!("{dtype} pad {mode:?}"), |on| {
                let (x, value) = (on(&x), Scalar::Int(3));
                let pad = |x: &Raw, dims: &[usize], pairs: &[(i64, i64)]| {
                    call::pad(Op::Pad, x, dims, pairs, mode, value)
                };
                Ok(vec![
                    pad(&x, &[2], &[(2, 3)])?,
                    pad(&x, &[1, 2], &[(1, -2), (-1, 4)])?,
                    pad(
                        &x.permute(&[2, 0, 1])?,
                        &[0, 1, 2],
                        &[(1, 1), (2, 0), (0, 3)],
                    )?,
                ])
            });
        }
    }
    on_device(&["spread", "pad"]);
}

#[test]
fn numbers_of_classes_and_places() {
    let _here = device!(&SCHEDULES);
    let at = index(&[4, 6], 7, 1);
    both("one_hot", |on| Ok(vec![call::one_hot(&on(&at), 9)?]));
    both("the number of classes", |on| {
        let classes = call::classes(&on(&at))?;
        let number = Raw::from_vec(vec![classes as i64], &[1])?;
        Ok(vec![on(&number)])
    });
    let places = from_both_ends(&index(&[50], 60, 2), 60);
    both("unravel", |on| call::unravel(&on(&places), &[3, 4, 5]));
    on_device(&["unravel_index", "one_hot", "update"]);
}

#[test]
fn without_elements() {
    let _here = device!(&SCHEDULES);
    let (x, none) = (data(&[4, 5], DType::F32, 1), index(&[0], 4, 1));
    both("nothing is read", |on| {
        let (x, none) = (on(&x), on(&none));
        let empty = x.narrow(1, 0, 0)?;
        Ok(vec![
            call::index_select(Op::IndexSelect, &x, 0, &none)?,
            call::gather(Op::Gather, &x, 0, &none.reshape(&[0, 5])?)?,
            call::index_select(Op::IndexSelect, &empty, 0, &on(&index(&[3], 4, 2)))?,
            call::masked_select(&empty, &on(&data(&[4, 1], DType::Bool, 3)))?,
        ])
    });
}

#[test]
fn many_dims() {
    let _here = device!(&SCHEDULES);
    let shape = [2, 3, 2, 1, 2, 3, 2, 2, 2];
    let x = data(&shape, DType::F32, 1);
    let order = [8, 1, 6, 3, 4, 5, 2, 7, 0];
    let at = index(&shape, 2, 2);
    both("nine dims", |on| {
        let (x, at) = (on(&x).permute(&order)?, on(&at).permute(&order)?);
        Ok(vec![
            call::gather(Op::Gather, &x, 2, &at)?,
            call::index_select(Op::IndexSelect, &x, 5, &on(&index(&[7], 3, 3)))?,
            call::sort(Op::Sort, &x, 1, false)?.1,
        ])
    });
}
