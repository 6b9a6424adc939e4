//! Analysis by name against plain loops: groups, windows and blocks of a dim, means with weights.

use nomina::prelude::*;
use nomina::{DType, DynTensor, ErrorKind, Generator, bf16, f16};
use nomina_by_name::{Bound, Form, Value, invoke};
use nomina_core::op::Op;

dims! { Time, Lat, Lon, Site, Month, Season = 4 }

type Fold = fn(&[f64]) -> f64;

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

fn std(x: &[f64]) -> f64 {
    let mean = mean(x);
    (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (x.len() as f64 - 1.0)).sqrt()
}

/// The reductions and their names.
const FOLDS: [(&str, Fold); 5] = [
    ("sum", |x| x.iter().sum()),
    ("mean", mean),
    ("max", |x| {
        x.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }),
    ("min", |x| x.iter().copied().fold(f64::INFINITY, f64::min)),
    ("std", std),
];

fn random(dtype: DType, sizes: &[usize], names: &[&str]) -> DynTensor {
    let mut generator = Generator::new(sizes.iter().sum::<usize>() as u64);
    let options = DynTensor::options().dtype(DType::F64);
    let x = options.randn_from(sizes, names, &mut generator).unwrap();
    x.mul(8.0).unwrap().to_dtype(dtype).unwrap()
}

/// Applies `fold` along `dim` to the elements at each list of positions.
fn folded(x: &DynTensor, dim: &str, lists: &[Vec<usize>], fold: Fold) -> Vec<f64> {
    let names = x.names().iter().map(|name| name.as_ref().unwrap().as_str());
    let at = names
        .collect::<Vec<_>>()
        .iter()
        .position(|&name| name == dim)
        .unwrap();
    let x = x.to_dtype(DType::F64).unwrap();
    let (outer, inner) = (&x.shape()[..at], &x.shape()[at + 1..]);
    let (outer, inner): (usize, usize) = (outer.iter().product(), inner.iter().product());
    let (size, all) = (x.shape()[at], x.to_vec::<f64>().unwrap());
    let mut found = Vec::new();
    for i in 0..outer {
        for list in lists {
            for j in 0..inner {
                let element = |&t: &usize| all[(i * size + t) * inner + j];
                found.push(fold(&list.iter().map(element).collect::<Vec<_>>()));
            }
        }
    }
    found
}

fn close(found: &DynTensor, want: &[f64], told: &str) {
    let epsilon = match found.dtype() {
        DType::F16 | DType::BF16 => 0.02,
        DType::F32 => 1e-5,
        _ => 1e-12,
    };
    let found = found.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
    assert_eq!(found.len(), want.len(), "{told}");
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        let near = (found - want).abs() <= epsilon * want.abs().max(4.0);
        let same = found == want || (found.is_nan() && want.is_nan());
        assert!(near || same, "{told}, element {i}: {found}, not {want}");
    }
}

/// Calls an operator by its name.
fn by_name(op: Op, x: &DynTensor, args: Vec<Value>) -> nomina::Result<DynTensor> {
    let args = [Value::Tensor(x.clone())].into_iter().chain(args).collect();
    match invoke(op, Form::Method, Bound::new(op, args, vec![])?)? {
        Value::Tensor(x) => Ok(x),
        other => panic!("{other:?} is no tensor"),
    }
}

const DTYPES: [DType; 5] = [DType::F64, DType::F32, DType::BF16, DType::I32, DType::Bool];

fn takes(dtype: DType, word: &str) -> bool {
    dtype.is_float() || word != "std"
}

#[test]
fn windows_slide_along_any_dim() {
    for sizes in [[1, 40, 1], [3, 40, 5], [2, 47, 1]] {
        for dtype in DTYPES {
            let x = random(dtype, &sizes, &["Site", "Time", "Lon"]);
            for window in [1, 2, 7, 15, 16, 23, 31, 40] {
                let count = sizes[1] - window + 1;
                let lists: Vec<Vec<usize>> =
                    (0..count).map(|i| (i..i + window).collect()).collect();
                for (word, fold) in FOLDS {
                    let args = vec!["Time".into(), Value::Int(window as i64), word.into()];
                    let found = by_name(Op::Rolling, &x, args);
                    if !takes(dtype, word) {
                        assert_eq!(found.unwrap_err().kind(), ErrorKind::DType);
                        continue;
                    }
                    let found = found.unwrap();
                    assert_eq!(found.shape(), [sizes[0], count, sizes[2]]);
                    assert_eq!(found.names(), x.names());
                    let told = format!("{word} of {window} in {dtype}");
                    close(&found, &folded(&x, "Time", &lists, fold), &told);
                }
            }
        }
    }
}

#[test]
fn what_is_no_number_stays_in_its_windows() {
    let nan = f64::NAN;
    let x = tensor!([1., nan, 1e30, -1e30, 2., 3.]; Time).to::<f64>();
    let sums = x.rolling(Time, 2).sum().to_vec();
    assert!(sums[..2].iter().all(|x| x.is_nan()));
    assert_eq!(sums[2..], [0.0, 2.0 - 1e30, 5.0]);
    // In 16-bit dtypes the sum is rounded once, at the end.
    let ones: Tensor<(Time,), bf16> = Tensor::full([600], bf16::ONE);
    assert_eq!(
        ones.rolling(Time, 512).sum().to_vec()[3],
        bf16::from_f32(512.0)
    );
    let halves: Tensor<(Time,), f16> = Tensor::full([3000], f16::from_f32(60.0));
    assert_eq!(
        halves.rolling(Time, 2048).mean().to_vec()[0],
        f16::from_f32(60.0)
    );
}

#[test]
fn blocks_are_reduced_as_one() {
    for dtype in DTYPES {
        let x = random(dtype, &[3, 24, 2], &["Site", "Time", "Lon"]);
        for steps in [1, 4, 24] {
            let lists = (0..24).step_by(steps).map(|i| (i..i + steps).collect());
            let lists: Vec<Vec<usize>> = lists.collect();
            for (word, fold) in FOLDS {
                if takes(dtype, word) {
                    let args = vec!["Time".into(), Value::Int(steps as i64), word.into()];
                    let found = by_name(Op::Resample, &x, args).unwrap();
                    let want = folded(&x, "Time", &lists, fold);
                    close(&found, &want, &format!("{word} of {steps} in {dtype}"));
                }
            }
        }
    }
    let error = random(DType::F32, &[50], &["Time"]).resample("Time", 24);
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    assert!(
        error.to_string().contains("`narrow` the dim to 48"),
        "{error}"
    );
    assert!(error.to_string().contains("Time=50"), "{error}");
}

#[test]
fn groups_hold_what_their_label_says() {
    let labels = [2_i64, 0, 2, 2, 0, 1, 2, 0, 1, 1, 1, 0];
    let lists: Vec<Vec<usize>> = (0..3)
        .map(|group| (0..12).filter(|&t| labels[t] == group).collect())
        .collect();
    let labels = DynTensor::from_vec(labels.to_vec(), &[12], ["Time"]).unwrap();
    for (sizes, names) in [
        ([12, 2, 3], ["Time", "Lat", "Lon"]),
        ([2, 12, 3], ["Lat", "Time", "Lon"]),
        ([2, 3, 12], ["Lat", "Lon", "Time"]),
    ] {
        for dtype in DTYPES {
            let x = random(dtype, &sizes, &names);
            for (word, fold) in FOLDS {
                let labels = Value::Tensor(labels.clone());
                let args = vec!["Time".into(), labels, Value::Int(3), word.into()];
                let found = by_name(Op::GroupBy, &x, args);
                if !takes(dtype, word) {
                    assert_eq!(found.unwrap_err().kind(), ErrorKind::DType);
                    continue;
                }
                let want = folded(&x, "Time", &lists, fold);
                close(&found.unwrap(), &want, &format!("{word} in {dtype}"));
            }
        }
    }
}

#[test]
fn a_group_may_be_empty() {
    let x = tensor!([[1., 2., f32::NAN]]; Site, Time);
    let groups = x.group_by(Time, &tensor!([3, 0, 0]; Time), Season);
    let sums: Tensor<(Site, Season)> = groups.sum();
    assert_eq!(sums.to_vec()[1..], [0.0, 0.0, 1.0]);
    assert!(sums.to_vec()[0].is_nan());
    assert!(groups.mean().to_vec()[1].is_nan());
    let counts: Tensor<(Site, Season), i64> = groups.count();
    assert_eq!(counts.to_vec(), [1, 0, 0, 1]);
    let error = groups.try_max().unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("group_by: group 1 has no elements"),
        "{error}"
    );
    assert!(
        x.group_by(Time, &tensor!([0, 1, 1]; Time), Month.of(2))
            .max()
            .to_vec()[1]
            .is_nan()
    );
}

#[test]
fn labels_are_checked() {
    let x = Tensor::<(Site, Time)>::ones([2, 3]);
    for (labels, label) in [([0, 4, 1], "label 4"), ([0, -1, 1], "label -1")] {
        let error = x
            .try_group_by(Time, &tensor!(labels; Time), Season)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index);
        assert!(error.to_string().contains(label), "{error}");
        assert!(error.to_string().contains("Site=2, Time=3"), "{error}");
    }
    let few = x
        .try_group_by(Time, &tensor!([0, 1]; Time), Season)
        .unwrap_err();
    assert_eq!(few.kind(), ErrorKind::Shape);
    let x = x.into_dyn();
    let labels = DynTensor::from_vec(vec![0_i64, 1], &[2], ["Site"]).unwrap();
    let other = x.group_by("Time", &labels, 2, "Month").unwrap_err();
    assert_eq!(other.kind(), ErrorKind::NameMismatch);
    let twice = x.group_by("Site", &labels, 2, "Time").unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::DuplicateNames);
    let floats = labels.to_dtype(DType::F32).unwrap();
    let floats = x.group_by("Site", &floats, 2, None).unwrap_err();
    assert_eq!(floats.kind(), ErrorKind::DType);
}

#[test]
fn windows_are_checked() {
    let x = Tensor::<(Site, Time)>::ones([2, 3]);
    for window in [0, 4] {
        let error = x.try_rolling(Time, window).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape);
        assert!(error.to_string().contains("Site=2, Time=3"), "{error}");
        assert_eq!(
            x.try_resample(Time, window).unwrap_err().kind(),
            ErrorKind::Shape
        );
    }
    let error = x.into_dyn().rolling("Lat", 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NameNotFound);
}

#[test]
fn names_that_only_the_run_time_knows() {
    let x = tensor!([[1., 2., 3.]]; Site, Time).into_dyn();
    let x: Tensor<(Wild, Time)> = x.typed().unwrap();
    let means = x
        .group_by(Time, &tensor!([0, 1, 0]; Time), Month.of(2))
        .mean();
    assert_eq!(means.names().to_string(), "(Site, Month)");
    assert_eq!(means.to_vec(), [2.0, 2.0]);
    assert_eq!(x.rolling(Time, 2).sum().names().to_string(), "(Site, Time)");
    let taken = tensor!([[1., 2., 3.]]; Month, Time).into_dyn();
    let taken: Tensor<(Wild, Time)> = taken.typed().unwrap();
    let error = taken.try_group_by(Time, &tensor!([0, 1, 0]; Time), Month.of(2));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::DuplicateNames);
}

#[test]
fn weights_align_by_name() {
    let x = random(DType::F64, &[4, 3, 2], &["Time", "Lat", "Lon"]);
    let all_x = x.to_vec::<f64>().unwrap();
    let at = |t: usize, i: usize, j: usize| all_x[(t * 3 + i) * 2 + j];
    let area = [3.0, 1.0, 0.5];
    let weights = DynTensor::from_vec(area.to_vec(), &[3], ["Lat"]).unwrap();
    let all: Vec<(usize, usize)> = (0..3).flat_map(|i| [(i, 0), (i, 1)]).collect();
    let want = |t: usize| {
        let products: f64 = all.iter().map(|&(i, j)| area[i] * at(t, i, j)).sum();
        products / (2.0 * area.iter().sum::<f64>())
    };
    let want: Vec<f64> = (0..4).map(want).collect();
    let found = x.weighted_mean(&weights, ["Lat", "Lon"]).unwrap();
    assert_eq!(found.names().to_string(), "(Time,)");
    close(&found, &want, "the mean over both");
    // Weights over several dims, in a different order; the result keeps one of those dims.
    let both = random(DType::F64, &[3, 4], &["Lat", "Time"]).abs().unwrap();
    let all_both = both.to_vec::<f64>().unwrap();
    let weight = |t: usize, i: usize| all_both[i * 4 + t];
    let mut want = Vec::new();
    for t in 0..4 {
        for j in 0..2 {
            let products: f64 = (0..3).map(|i| weight(t, i) * at(t, i, j)).sum();
            want.push(products / (0..3).map(|i| weight(t, i)).sum::<f64>());
        }
    }
    let kept = by_name(
        Op::WeightedMean,
        &x,
        vec![Value::Tensor(both), "Lat".into(), Value::Bool(true)],
    );
    let kept = kept.unwrap();
    assert_eq!(kept.shape(), [4, 1, 2]);
    close(&kept, &want, "the mean over one");
}

#[test]
fn weights_that_do_not_fit() {
    let x = tensor!([[1., 2.], [3., 4.]]; Lat, Lon);
    let none = x.weighted_mean(&tensor!([0., 0.]; Lon), Lon);
    assert!(none.to_vec().iter().all(|x| x.is_nan()));
    let half = x
        .to::<f16>()
        .weighted_mean(&Tensor::<(Lat,), f16>::full([2], f16::MAX), ..);
    assert_eq!(half.item(), f16::from_f32(2.5));
    let error = x
        .try_weighted_mean(&tensor!([1., 2., 3.]; Lon), Lon)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Shape);
    let x = x.into_dyn();
    let other = x.weighted_mean(&random(DType::F32, &[2], &["Time"]), "Lat");
    assert_eq!(other.unwrap_err().kind(), ErrorKind::Align);
    let other = x.weighted_mean(&random(DType::F64, &[2], &["Lat"]), "Lat");
    assert_eq!(other.unwrap_err().kind(), ErrorKind::DType);
}

#[test]
fn moments_without_nan() {
    let x = tensor!([[1., f32::NAN, 5.], [f32::NAN, f32::NAN, f32::NAN]]; Lat, Time);
    let found: Tensor<(Lat,)> = x.nanvar(Time);
    assert_eq!(found.to_vec()[0], 8.0);
    assert!(found.to_vec()[1].is_nan());
    let options = VarOptions {
        correction: 0.0,
        ..default()
    };
    assert_eq!(x.nanstd_with(Time, options).to_vec()[0], 2.0);
    assert_eq!(x.nanvar_with(keep(..), options).to_vec(), [4.0]);
}
