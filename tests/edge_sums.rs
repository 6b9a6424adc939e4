//! Sums, norms and normalisations at the ends of each dtype's range: values and gradients.
//!
//! A homogeneous operator of scaled elements gives its result times a power of the scale. So each operator is computed
//! in `f64` of elements near one, and compared at scales up to the ends of every float dtype, where squares and sums of
//! the elements are out of range.

use nomina::dynamic::{LayerNormOptions, RmsNormOptions};
use nomina::{
    CdistOptions, CosineSimilarityOptions, IndexAddOptions, IndexPutOptions, LpPoolOptions,
    NormOptions, NormalizeOptions, PairwiseDistanceOptions, ScatterReduce, ScatterReduceOptions,
};
use nomina::{DType, DynTensor, Result};
use nomina_runtime::call::CdistMode;

/// An operator of one tensor with two dims, and the power of the scale that its result is multiplied by.
struct Case {
    name: &'static str,
    degree: i32,
    compute: fn(&DynTensor) -> Result<DynTensor>,
}

const fn case(
    name: &'static str,
    degree: i32,
    compute: fn(&DynTensor) -> Result<DynTensor>,
) -> Case {
    Case {
        name,
        degree,
        compute,
    }
}

/// Returns a second operand with the same sizes, dtype and magnitude.
fn other(x: &DynTensor) -> Result<DynTensor> {
    x.flip(1)
}

/// Returns labels of three groups, one for each column.
fn labels(x: &DynTensor) -> Result<DynTensor> {
    let all = (0..x.shape()[1]).map(|i| (i * 7 % 3) as i64);
    DynTensor::from_vec(all.collect::<Vec<i64>>(), &[x.shape()[1]], ())
}

/// Returns three columns of zeros with the same rows.
fn groups(x: &DynTensor) -> Result<DynTensor> {
    DynTensor::zeros(&[x.shape()[0], 3], ())?.to_dtype(x.dtype())
}

fn norm(x: &DynTensor, p: f64) -> Result<DynTensor> {
    x.norm_with(
        1,
        NormOptions {
            p,
            ..NormOptions::default()
        },
    )
}

fn without_eps(layer: bool, x: &DynTensor, dim: usize) -> Result<DynTensor> {
    if layer {
        let options = LayerNormOptions {
            eps: 0.0,
            ..LayerNormOptions::default()
        };
        return x.layer_norm_with(dim, options);
    }
    let options = RmsNormOptions {
        eps: Some(0.0),
        ..RmsNormOptions::default()
    };
    x.rms_norm_with(dim, options)
}

fn reduced(x: &DynTensor, reduce: ScatterReduce) -> Result<DynTensor> {
    let options = ScatterReduceOptions {
        include_self: false,
    };
    groups(x)?.index_reduce_with(1, &labels(x)?, x, reduce, options)
}

fn distances(x: &DynTensor, p: f64, compute_mode: CdistMode) -> Result<DynTensor> {
    x.cdist_with(&other(x)?.mul(0.25)?, CdistOptions { p, compute_mode })
}

const CASES: &[Case] = &[
    case("mean", 1, |x| x.mean(1)),
    case("mean of columns", 1, |x| x.mean(0)),
    case("nanmean", 1, |x| x.nanmean(1)),
    case("sum", 1, |x| x.sum(1)),
    case("nansum", 1, |x| x.nansum(1)),
    case("var", 2, |x| x.var(1)),
    case("std", 1, |x| x.std(1)),
    case("std of columns", 1, |x| x.std(0)),
    case("nanstd", 1, |x| x.nanstd(1)),
    case("norm 1", 1, |x| norm(x, 1.0)),
    case("norm 2", 1, |x| norm(x, 2.0)),
    case("norm 2 of columns", 1, |x| x.norm(0)),
    case("norm 3", 1, |x| norm(x, 3.0)),
    case("norm 7.5", 1, |x| norm(x, 7.5)),
    case("norm -2", 1, |x| norm(x, -2.0)),
    case("hypot", 1, |x| x.hypot(&other(x)?)),
    case("atan2", 0, |x| x.atan2(&other(x)?)),
    case("dist", 1, |x| x.dist(&other(x)?.mul(0.25)?)),
    case("layer_norm", 0, |x| without_eps(true, x, 1)),
    case("layer_norm of columns", 0, |x| without_eps(true, x, 0)),
    case("rms_norm", 0, |x| without_eps(false, x, 1)),
    case("rms_norm of columns", 0, |x| without_eps(false, x, 0)),
    case("normalize", 0, |x| {
        x.normalize_with(
            1,
            NormalizeOptions {
                eps: 0.0,
                ..NormalizeOptions::default()
            },
        )
    }),
    case("cosine_similarity", 0, |x| {
        x.cosine_similarity_with(&other(x)?, 1, CosineSimilarityOptions { eps: 0.0 })
    }),
    case("pairwise_distance", 1, |x| {
        let options = PairwiseDistanceOptions {
            eps: 0.0,
            ..PairwiseDistanceOptions::default()
        };
        x.pairwise_distance_with(&other(x)?.mul(0.25)?, 1, options)
    }),
    case("cdist 2", 1, |x| distances(x, 2.0, CdistMode::Never)),
    case("cdist by products", 1, |x| {
        distances(x, 2.0, CdistMode::Always)
    }),
    case("cdist 3", 1, |x| distances(x, 3.0, CdistMode::Never)),
    case("corrcoef", 0, |x| x.corrcoef()),
    case("lp_pool1d", 1, |x| {
        x.unsqueeze(0, None::<&str>)?
            .lp_pool1d(2.0, [2], LpPoolOptions::default())
    }),
    case("group sum", 1, |x| {
        x.group_by(1, &labels(x)?, 3, None::<&str>)?.sum()
    }),
    case("group mean", 1, |x| {
        x.group_by(1, &labels(x)?, 3, None::<&str>)?.mean()
    }),
    case("group std", 1, |x| {
        x.group_by(1, &labels(x)?, 3, None::<&str>)?.std()
    }),
    case("group nanvar", 2, |x| {
        x.group_by(1, &labels(x)?, 3, None::<&str>)?.nanvar()
    }),
    case("rolling mean", 1, |x| x.rolling(1, 5)?.mean()),
    case("long rolling mean", 1, |x| {
        x.rolling(1, x.shape()[1].min(50))?.mean()
    }),
    case("rolling std", 1, |x| x.rolling(1, 5)?.std()),
    case("weighted_mean", 1, |x| {
        x.weighted_mean(&x.sgn()?.detach().add(0.5)?, 1)
    }),
    case("weighted_nanmean", 1, |x| {
        x.weighted_nanmean(&x.sgn()?.detach().add(0.5)?, 1)
    }),
    case("corr", 0, |x| x.corr(&other(x)?, 1)),
    case("nancorr", 0, |x| x.nancorr(&other(x)?, 1)),
    case("covar", 2, |x| x.covar(&other(x)?, 1)),
    case("index_add", 1, |x| {
        groups(x)?.index_add_with(1, &labels(x)?, x, IndexAddOptions::default())
    }),
    case("scatter_add", 1, |x| {
        let index = labels(x)?.unsqueeze(0, None::<&str>)?.expand_as(x)?;
        groups(x)?.scatter_add(1, &index, x)
    }),
    case("index_put", 1, |x| {
        let options = IndexPutOptions { accumulate: true };
        groups(x)?.index_put_with(&[None, Some(&labels(x)?)], x, options)
    }),
    case("index_reduce mean", 1, |x| reduced(x, ScatterReduce::Mean)),
    case("cumsum", 1, |x| x.cumsum(1)),
];

/// Returns the largest number of a float dtype, its smallest normal number, and the distance from one to the next
/// number.
fn limits(dtype: DType) -> [f64; 3] {
    match dtype {
        DType::F16 => [65504.0, 6.103_515_625e-5, 9.765_625e-4],
        DType::BF16 => [
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            7.812_5e-3,
        ],
        DType::F32 => [
            f64::from(f32::MAX),
            f64::from(f32::MIN_POSITIVE),
            f64::from(f32::EPSILON),
        ],
        _ => [f64::MAX, f64::MIN_POSITIVE, f64::EPSILON],
    }
}

/// Returns three rows of numbers between one half and two, which every float dtype represents exactly.
fn rows(count: usize) -> Vec<f64> {
    let one = |i: usize| 0.5 + ((i * 37 + i / 5) % 97 % 25) as f64 / 16.0;
    (0..3 * count).map(one).collect()
}

/// Computes the result, and the gradient of its weighted sum.
fn found(case: &Case, data: &[f64], dtype: DType) -> [Vec<f64>; 2] {
    let x = DynTensor::from_vec(data.to_vec(), &[3, data.len() / 3], ()).unwrap();
    let mut x = x.to_dtype(dtype).unwrap();
    x.requires_grad_().unwrap();
    let y = (case.compute)(&x).unwrap_or_else(|e| panic!("{} of {dtype}: {e}", case.name));
    let weights = (0..y.numel()).map(|i| [1.0, 0.5, -0.25, 0.75, -0.5][i % 5]);
    let seed = DynTensor::from_vec(weights.collect::<Vec<f64>>(), y.shape(), y.names().clone());
    let seed = seed.unwrap().to_dtype(y.dtype()).unwrap();
    y.backward_with(&seed, nomina::BackwardOptions::default())
        .unwrap();
    let numbers = |x: &DynTensor| {
        let wide = x.detach().to_dtype(DType::F64).unwrap();
        wide.to_vec::<f64>().unwrap()
    };
    [numbers(&y), numbers(&x.grad().unwrap())]
}

/// Compares the results if the largest is in range of the dtype. Errors are measured in units in the last place of the
/// largest.
fn compare(
    wrong: &mut Vec<String>,
    what: &str,
    (got, want): (&[f64], &[f64]),
    factor: f64,
    dtype: DType,
) {
    let [most, least, step] = limits(dtype);
    // Two factors of `factor.sqrt()`: the factor may be out of range even if its product with a number is not.
    let scaled = |x: f64| x * factor.sqrt() * factor.sqrt();
    let greatest = want
        .iter()
        .fold(0.0, |most: f64, x| most.max(scaled(*x).abs()));
    // Results that are only rounding error cannot be compared.
    let is_rounding = want.iter().all(|x| x.abs() < 1e-12);
    if !(least..most / 2.0).contains(&greatest) || is_rounding {
        return;
    }
    let within = match dtype {
        DType::F64 => 1e4,
        DType::F32 => 200.0,
        _ => 16.0,
    };
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        let want = scaled(*want);
        let near = (got - want).abs() <= within * step * greatest + 2.0 * least * step;
        if !near {
            wrong.push(format!("{what}: element {i} is {got:e}, not {want:e}"));
            return;
        }
    }
}

fn check(count: usize, dtypes: &[DType], skipped: &[&str]) {
    let data = rows(count);
    let mut wrong = Vec::new();
    for case in CASES.iter().filter(|case| !skipped.contains(&case.name)) {
        let [values, gradient] = found(case, &data, DType::F64);
        for &dtype in dtypes {
            if (case.name, dtype) == ("lp_pool1d", DType::F64) {
                // Powers of `f64` elements are computed in `f64`, so they overflow.
                continue;
            }
            let [most, least, _] = limits(dtype);
            let root = most.sqrt();
            for size in [
                least * 8.0,
                1.0 / root / 8.0,
                0.125,
                1.0,
                root * 4.0,
                most / 8.0,
            ] {
                // Multiplying by a power of two does not round.
                let size = size.log2().round().exp2();
                let data: Vec<f64> = data.iter().map(|x| x * size).collect();
                let got = found(case, &data, dtype);
                let what = format!("{} of {count} {dtype} near {size:e}", case.name);
                compare(
                    &mut wrong,
                    &what,
                    (&got[0], &values),
                    size.powi(case.degree),
                    dtype,
                );
                // A value out of range has no gradient.
                if got[0].iter().any(|x| x.is_infinite()) {
                    continue;
                }
                let what = format!("gradient of {what}");
                compare(
                    &mut wrong,
                    &what,
                    (&got[1], &gradient),
                    size.powi(case.degree - 1),
                    dtype,
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn few_elements_of_any_size() {
    let all = [DType::F16, DType::BF16, DType::F32, DType::F64];
    check(10, &all, &[]);
}

#[test]
fn a_thousand_elements_of_any_size() {
    check(
        1000,
        &[DType::F16, DType::BF16, DType::F32, DType::F64],
        &[],
    );
}
