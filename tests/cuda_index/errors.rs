//! An index out of range is reported to the next caller that waits for the device.

use nomina_core::op::Op;
use nomina_core::{DType, ErrorKind, Result};
use nomina_runtime::call::{self, Entropy, Losses, Update};
use nomina_runtime::{Raw, cuda};

use crate::SCHEDULES;
use crate::both::{data, index};
use crate::here::{DEVICE, cases, device};

fn on(x: &Raw) -> Raw {
    call::to_device(x, DEVICE).unwrap()
}

/// Asserts that the error of a call is reported by the next synchronize, or by the call if it waits
/// itself, and only once.
fn raises(run: impl Fn() -> Result<()>, operator: &str, text: &[&str]) {
    cuda::synchronize(0).unwrap();
    let error = run().and_then(|()| cuda::synchronize(0)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index, "{error}");
    assert_eq!(error.op(), operator, "{error}");
    let said = error.to_string();
    for text in text {
        assert!(said.contains(text), "{said}");
    }
    cuda::synchronize(0).unwrap();
    // The device still works.
    let x = on(&data(&[5], DType::F32, 1));
    let (values, _) = call::sort(Op::Sort, &x, 0, false).unwrap();
    assert_eq!(values.to_vec::<f32>().unwrap().len(), 5);
    cases(1);
}

fn bad(numbers: &[i64], shape: &[usize]) -> Raw {
    on(&Raw::from_vec(numbers.to_vec(), shape).unwrap())
}

// A single test, since the error flag belongs to the device.
#[test]
fn out_of_range() {
    let _here = device!(&SCHEDULES);
    let x = on(&data(&[3, 4], DType::F32, 1));
    let ends = &["index 9 is out of range for size 4", "from -4 to 3"];
    raises(
        || call::index_select(Op::IndexSelect, &x, 1, &bad(&[0, 9, 1], &[3])).map(drop),
        "index_select",
        ends,
    );
    raises(
        || call::gather(Op::Gather, &x, 1, &bad(&[0, 9], &[2, 1])).map(drop),
        "gather",
        ends,
    );
    raises(
        || call::gather(Op::Gather, &x, 1, &bad(&[0, -5], &[2, 1])).map(drop),
        "gather",
        &["index -5 is out of range for size 4"],
    );
    raises(
        || call::take(&x, &bad(&[3, 12], &[2])).map(drop),
        "take",
        &["index 12 is out of range for size 12"],
    );
    raises(
        || call::index(&x, &[0, 1], &[&bad(&[0, 1], &[2]), &bad(&[0, 9], &[2])]).map(drop),
        "index",
        ends,
    );
    for how in [Update::Set, Update::Add, Update::Mul, Update::Max] {
        let write = |numbers: &[i64]| {
            let mut own = x.clone();
            let src = on(&data(&[3, 2], DType::F32, 2));
            let at = bad(numbers, &[3, 2]);
            call::scatter(Op::Scatter, own.as_mut()?, 1, &at, &src, how)
        };
        raises(|| write(&[0, 9, 1, 2, 0, 1]), "scatter", ends);
        let rows = |numbers: &[i64]| {
            let mut own = x.clone();
            let src = on(&data(&[2, 4], DType::F32, 2));
            let at = bad(numbers, &[2]);
            call::index_update(Op::IndexAdd, own.as_mut()?, 0, &at, &src, how, false)
        };
        raises(
            || rows(&[0, 3]),
            "index_add",
            &["index 3 is out of range for size 3"],
        );
    }
    raises(
        || call::one_hot(&bad(&[0, -1], &[2]), 5).map(drop),
        "one_hot",
        &["index -1 is out of range for 5 classes"],
    );
    raises(
        || call::unravel(&bad(&[0, 24], &[2]), &[2, 3, 4]).map(drop),
        "unravel_index",
        &["position 24 is out of range for 24 elements"],
    );
    let sequence = on(&index(&[2], 5, 3));
    raises(
        || {
            let (values, sorter) = (on(&index(&[3], 5, 4)), bad(&[7, 7], &[2]));
            call::searchsorted(Op::Searchsorted, &sequence, &values, Some(&sorter), false).map(drop)
        },
        "searchsorted",
        &["the sorter has 7"],
    );
    for losses in [Losses::Each, Losses::Mean] {
        let plain = Entropy {
            logits: true,
            weight: None,
            ignore_index: -100,
            smoothing: 0.0,
        };
        let targets = bad(&[0, -100, 4], &[3]);
        raises(
            || call::entropy(Op::CrossEntropy, &x, &targets, 1, plain, losses).map(drop),
            "cross_entropy",
            &["target 4 is out of range for 4 classes"],
        );
    }
    // There may be more calls without a wait than there are flags; the first error is reported.
    let good = bad(&[3, 0], &[2]);
    let x_of = |index: &Raw| call::index_select(Op::IndexSelect, &x, 1, index).map(drop);
    raises(
        || {
            x_of(&bad(&[8, 0], &[2]))?;
            x_of(&bad(&[9, 0], &[2]))?;
            (0..900).try_for_each(|_| x_of(&good))
        },
        "index_select",
        &["index 8 is out of range for size 4"],
    );
    (0..2500).try_for_each(|_| x_of(&good)).unwrap();
    // Reading elements waits, too.
    let picked = call::index_select(Op::IndexSelect, &x, 1, &bad(&[5], &[1])).unwrap();
    assert_eq!(picked.to_vec::<f32>().unwrap_err().kind(), ErrorKind::Index);
    cuda::synchronize(0).unwrap();
    // Elements with an index out of range are skipped, and the others are written.
    let mut own = on(&Raw::from_vec(vec![1_i64, 2, 3], &[3]).unwrap());
    let src = on(&Raw::from_vec(vec![7_i64, 8], &[2]).unwrap());
    let at = bad(&[1, 3], &[2]);
    call::scatter(
        Op::Scatter,
        own.as_mut().unwrap(),
        0,
        &at,
        &src,
        Update::Set,
    )
    .unwrap();
    assert!(cuda::synchronize(0).is_err());
    assert_eq!(own.to_vec::<i64>().unwrap(), [1, 7, 3]);
}
