//! Groups, windows, blocks and weighted means that skip NaN, against plain loops in f64.

use nomina::prelude::*;
use nomina::{DType, DynTensor, ErrorKind, bf16};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::Op;

dims! { Time, Lat, Site, Season = 4 }

const NAN: f64 = f64::NAN;

type Fold = fn(&[f64]) -> f64;

fn var(x: &[f64]) -> f64 {
    let mean = x.iter().sum::<f64>() / x.len() as f64;
    let squares: f64 = x.iter().map(|x| (x - mean) * (x - mean)).sum();
    squares / (x.len() as f64 - 1.0).max(0.0)
}

/// The reductions of the values that are present.
const FOLDS: [(&str, Fold); 7] = [
    ("nansum", |x| x.iter().sum()),
    ("nanmean", |x| x.iter().sum::<f64>() / x.len() as f64),
    ("nanmax", |x| x.iter().copied().fold(NAN, f64::max)),
    ("nanmin", |x| x.iter().copied().fold(NAN, f64::min)),
    ("nanvar", var),
    ("nanstd", |x| var(x).sqrt()),
    ("count", |x| x.len() as f64),
];

/// Returns 3 series of `n` elements of which about a third are NaN, and some infinite.
fn series(n: usize, dtype: DType) -> DynTensor {
    let mut state = 7_u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / 65536.0 - 128.0
    };
    let one = |i: usize| match (i * 7 + i / 3) % 10 {
        0..3 => NAN,
        _ if i % 97 == 96 => f64::NEG_INFINITY,
        _ => next(),
    };
    let data: Vec<f64> = (0..3 * n).map(one).collect();
    let x = DynTensor::from_vec(data, &[3, n], ["Site", "Time"]).unwrap();
    x.to_dtype(dtype).unwrap()
}

fn check(found: &DynTensor, x: &DynTensor, lists: &[Vec<usize>], fold: Fold, what: &str) {
    let (n, data) = (x.shape()[1], numbers(x));
    let within = match x.dtype() {
        DType::F64 => 1e-11,
        DType::F32 => 1e-5,
        _ => 2e-2,
    };
    let mut found = numbers(found).into_iter();
    for row in data.chunks(n) {
        for (i, list) in lists.iter().enumerate() {
            let there = list.iter().map(|&at| row[at]).filter(|x| !x.is_nan());
            let (want, got) = (fold(&there.collect::<Vec<_>>()), found.next().unwrap());
            let near = want.is_finite() && (got - want).abs() <= within * want.abs().max(64.0);
            let same = got == want || got.is_nan() && want.is_nan();
            assert!(near || same, "{what}, part {i}: {got}, not {want}");
        }
    }
    assert!(found.next().is_none(), "{what}");
}

fn numbers(x: &DynTensor) -> Vec<f64> {
    x.detach().to_dtype(DType::F64).unwrap().to_vec().unwrap()
}

fn by_name(op: Op, x: &DynTensor, args: Vec<Value>) -> DynTensor {
    let args = [Value::Tensor(x.clone())].into_iter().chain(args).collect();
    match invoke(op, Form::Method, Bound::new(op, args, vec![]).unwrap()).unwrap() {
        Value::Tensor(x) => x,
        other => panic!("{other:?} is no tensor"),
    }
}

const DTYPES: [DType; 3] = [DType::F64, DType::F32, DType::BF16];

#[test]
fn parts_skip_nan() {
    let n = 120;
    let labels: Vec<i64> = (0..n).map(|i| [0, 1, 3, 4, 1][i * i % 5]).collect();
    let groups = |group| (0..n).filter(|&i| labels[i] == group).collect();
    let groups: Vec<Vec<usize>> = (0..6).map(groups).collect();
    let labels = DynTensor::from_vec(labels.clone(), &[n], ["Time"]).unwrap();
    for dtype in DTYPES {
        let x = series(n, dtype);
        for (word, fold) in FOLDS {
            for window in [1, 2, 7, 16, 23, 100] {
                let lists: Vec<Vec<usize>> = (0..=n - window)
                    .map(|i| (i..i + window).collect())
                    .collect();
                let args = vec!["Time".into(), Value::Int(window as i64), word.into()];
                let found = by_name(Op::Rolling, &x, args);
                check(
                    &found,
                    &x,
                    &lists,
                    fold,
                    &format!("{word} of windows of {window}, {dtype}"),
                );
            }
            for steps in [1, 4, 24] {
                let blocks = (0..n).step_by(steps).map(|i| (i..i + steps).collect());
                let args = vec!["Time".into(), Value::Int(steps as i64), word.into()];
                let found = by_name(Op::Resample, &x, args);
                let blocks: Vec<Vec<usize>> = blocks.collect();
                check(
                    &found,
                    &x,
                    &blocks,
                    fold,
                    &format!("{word} of blocks of {steps}, {dtype}"),
                );
            }
            let args = vec![
                "Time".into(),
                Value::Tensor(labels.clone()),
                Value::Int(6),
                word.into(),
            ];
            let found = by_name(Op::GroupBy, &x, args);
            check(
                &found,
                &x,
                &groups,
                fold,
                &format!("{word} of groups, {dtype}"),
            );
        }
    }
}

#[test]
fn groups_without_values() {
    // Group 1 has only NaN, group 2 is empty.
    let x = tensor!([1., f32::NAN, f32::NAN, 4., f32::INFINITY]; Time);
    let groups = x.group_by(Time, &tensor!([0, 0, 1, 0, 3]; Time), Season);
    assert_eq!(groups.nansum().to_vec(), [5.0, 0.0, 0.0, f32::INFINITY]);
    assert_eq!(groups.count().to_vec(), [2, 0, 0, 1]);
    for found in [groups.nanmean(), groups.nanmax(), groups.nanmin()] {
        let found = found.to_vec();
        assert!(found[1].is_nan() && found[2].is_nan());
        assert_eq!(found[3], f32::INFINITY);
    }
    assert_eq!(groups.nanvar().to_vec()[0], 4.5);
    assert!(groups.nanstd().to_vec()[1..].iter().all(|x| x.is_nan()));
    // Integers have no NaN: an empty group has no extreme.
    let whole = tensor!([1, 2, 3, 4, 5]; Time);
    let groups = whole.group_by(Time, &tensor!([0, 0, 1, 0, 3]; Time), Season);
    assert_eq!(groups.nansum().to_vec(), [7, 3, 0, 5]);
    assert_eq!(groups.try_nanmax().unwrap_err().kind(), ErrorKind::Shape);
}

#[test]
fn sums_of_narrow_floats_are_wide() {
    let mut data = vec![bf16::ONE; 600];
    data[7] = bf16::NAN;
    let x = Tensor::<(Time,), bf16>::from_vec(data, [600]).unwrap();
    let labels = Tensor::<(Time,), i64>::zeros([600]);
    let groups = x.group_by(Time, &labels, Season);
    assert_eq!(groups.nansum().to_vec()[0], bf16::from_f32(599.0));
    assert_eq!(groups.nanmean().to_vec()[0], bf16::ONE);
    assert_eq!(x.rolling(Time, 512).nanmean().to_vec()[3], bf16::ONE);
}

#[test]
fn weights_of_missing_values_do_not_count() {
    let x = tensor!([[1., f64::NAN, 4.], [f64::NAN, f64::NAN, f64::NAN]]; Site, Lat).to::<f64>();
    let w = tensor!([1., 5., 2.]; Lat).to::<f64>();
    let found = x.weighted_nanmean(&w, Lat).to_vec();
    assert_eq!(found[0], 3.0);
    assert!(found[1].is_nan());
    assert!(x.weighted_mean(&w, Lat).to_vec()[0].is_nan());
    assert_eq!(x.weighted_nanmean(&w, ..).item(), 3.0);
    // Weights that sum to zero give NaN and not an infinity, as in xarray.
    let none = tensor!([1., -1.]; Lat);
    assert!(
        tensor!([1., 3.]; Lat)
            .weighted_mean(&none, Lat)
            .item()
            .is_nan()
    );
}

/// Compares gradients with central differences; NaN elements have gradient 0.
#[test]
fn gradients_pass_by_what_is_missing() {
    type Compute = fn(&DynTensor) -> nomina::Result<DynTensor>;
    fn groups(x: &DynTensor) -> nomina::Result<nomina_runtime::tensor::GroupBy> {
        let labels =
            DynTensor::from_vec((0..24).map(|i| i % 5 % 3).collect::<Vec<i64>>(), &[24], ())?;
        x.group_by(1, &labels, 4, None::<&str>)
    }
    let cases: [(&str, Compute); 9] = [
        ("groups sum", |x| groups(x)?.nansum()),
        ("groups mean", |x| groups(x)?.nanmean()),
        ("groups max", |x| groups(x)?.nanmax()),
        ("groups var", |x| groups(x)?.nanvar()),
        ("groups std", |x| groups(x)?.nanstd()),
        ("windows mean", |x| x.rolling(1, 4)?.nanmean()),
        ("long windows mean", |x| x.rolling(1, 17)?.nanmean()),
        ("windows min", |x| x.rolling(1, 5)?.nanmin()),
        ("weighted", |x| {
            let w = DynTensor::from_vec(
                (0..24)
                    .map(|i| 1.0 + f64::from(i % 5))
                    .collect::<Vec<f64>>(),
                &[1, 24],
                (),
            )?;
            x.weighted_nanmean(&w.expand_as(x)?, 1)
        }),
    ];
    let data: Vec<f64> = (0..48)
        .map(|i| {
            if i % 7 < 2 {
                NAN
            } else {
                f64::from(i * 37 % 101) / 9.0
            }
        })
        .collect();
    for (name, compute) in cases {
        let total = |data: &[f64]| {
            let x = DynTensor::from_vec(data.to_vec(), &[2, 24], ()).unwrap();
            let y = numbers(&compute(&x).unwrap());
            y.iter()
                .enumerate()
                .filter(|(_, y)| !y.is_nan())
                .map(|(i, y)| y * (1.0 + i as f64))
                .sum::<f64>()
        };
        let mut x = DynTensor::from_vec(data.clone(), &[2, 24], ()).unwrap();
        x.requires_grad_().unwrap();
        let y = compute(&x).unwrap();
        let seed = numbers(&y)
            .iter()
            .enumerate()
            .map(|(i, y)| if y.is_nan() { 0.0 } else { 1.0 + i as f64 })
            .collect();
        let seed = DynTensor::from_vec::<f64>(seed, y.shape(), ()).unwrap();
        y.backward_with(&seed, nomina::BackwardOptions::default())
            .unwrap();
        for (i, got) in numbers(&x.grad().unwrap()).into_iter().enumerate() {
            let moved = |by: f64| {
                let mut data = data.clone();
                data[i] += by;
                total(&data)
            };
            let want = if data[i].is_nan() {
                0.0
            } else {
                (moved(1e-5) - moved(-1e-5)) / 2e-5
            };
            assert!(
                (got - want).abs() < 1e-5 * want.abs().max(1.0),
                "{name}, element {i}: {got}, not {want}"
            );
        }
    }
}
