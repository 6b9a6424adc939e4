//! Sums that stop growing, and squares that overflow.

use nomina::dynamic::LayerNormOptions;
use nomina::prelude::*;
use nomina::{CosineSimilarityOptions, IndexAddOptions, NormOptions};
use nomina::{DType, DynTensor, f16};
use nomina_nn::optim::clip_grad_norm;
use nomina_nn::{Module, Param};

dims! { Time, Group }

fn vector(data: Vec<f64>, dtype: DType) -> DynTensor {
    let size = data.len();
    DynTensor::from_vec(data, &[size], ())
        .unwrap()
        .to_dtype(dtype)
        .unwrap()
}

fn matrix(data: &[f64], rows: usize, dtype: DType) -> DynTensor {
    let x = DynTensor::from_vec(data.to_vec(), &[rows, data.len() / rows], ());
    x.unwrap().to_dtype(dtype).unwrap()
}

fn numbers(x: &DynTensor) -> Vec<f64> {
    x.detach()
        .to_dtype(DType::F64)
        .unwrap()
        .to_vec::<f64>()
        .unwrap()
}

fn near(got: &[f64], want: &[f64], within: f64) {
    assert_eq!(got.len(), want.len());
    for (got, want) in got.iter().zip(want) {
        assert!(
            (got - want).abs() <= within * want.abs(),
            "{got}, not {want}"
        );
    }
}

#[test]
fn groups_of_a_million() {
    let x: Tensor<(Time,)> = Tensor::full([1_000_000], 0.1);
    let labels: Tensor<(Time,), i64> = Tensor::full([1_000_000], 0);
    let groups = x.group_by(Time, &labels, Group.of(1));
    near(&[f64::from(groups.sum().to_vec()[0])], &[100_000.0], 1e-6);
    near(&[f64::from(groups.mean().to_vec()[0])], &[0.1], 1e-6);
}

#[test]
fn temperatures_of_one_group() {
    let count = 2_000_000;
    let x = vector(
        (0..count).map(|i| 288.15 + (i % 7) as f64 - 3.0).collect(),
        DType::F32,
    );
    let labels = DynTensor::zeros(&[count], ())
        .unwrap()
        .to_dtype(DType::I64)
        .unwrap();
    let mean = x
        .group_by(0, &labels, 1, None::<&str>)
        .unwrap()
        .mean()
        .unwrap();
    near(&numbers(&mean), &[288.15], 1e-6);
}

/// Means of integers are floats, and their sums do not wrap.
#[test]
fn groups_of_integers() {
    let x = tensor!([100_i8, 120, 127, -3]; Time);
    let labels = tensor!([0_i64, 0, 0, 1]; Time);
    let groups = x.group_by(Time, &labels, Group.of(2));
    let means: Tensor<(Group,)> = groups.mean();
    near(&[f64::from(means.to_vec()[0])], &[347.0 / 3.0], 1e-6);
    assert_eq!(means.to_vec()[1], -3.0);
    assert_eq!(groups.sum().to_vec(), [347_i64, -3]);
    let large = tensor!([i64::MAX, i64::MAX]; Time);
    let labels = tensor!([0_i64, 0]; Time);
    let mean = large.group_by(Time, &labels, Group.of(1)).mean().to_vec()[0];
    near(&[f64::from(mean)], &[i64::MAX as f64], 1e-6);
}

/// A token that occurs 1,000 times in 16 bits, and a few million times in `f32`.
#[test]
fn sums_at_one_index() {
    for (dtype, count) in [
        (DType::BF16, 1000),
        (DType::F16, 4096),
        (DType::F32, (1 << 24) + 64),
    ] {
        let ones = vector(vec![1.0; count], dtype);
        let at = DynTensor::zeros(&[count], ())
            .unwrap()
            .to_dtype(DType::I64)
            .unwrap();
        let zeros = vector(vec![0.0; 3], dtype);
        let added = zeros
            .index_add_with(0, &at, &ones, IndexAddOptions::default())
            .unwrap();
        let scattered = zeros.scatter_add(0, &at, &ones).unwrap();
        for found in [added, scattered] {
            near(&numbers(&found)[..1], &[count as f64], 4e-3);
        }
        if dtype == DType::F32 {
            continue;
        }
        let mut table = matrix(&[1.0; 6], 3, dtype);
        table.requires_grad_().unwrap();
        let picked = table.index_select(0, &at).unwrap();
        picked.sum(..).unwrap().backward().unwrap();
        let want = [count as f64, count as f64, 0.0, 0.0, 0.0, 0.0];
        near(&numbers(&table.grad().unwrap()), &want, 4e-3);
    }
}

#[test]
fn a_leaf_used_a_thousand_times() {
    for dtype in [DType::BF16, DType::F16, DType::F32] {
        let mut x = vector(vec![1.0; 3], dtype);
        x.requires_grad_().unwrap();
        let mut uses = Vec::new();
        for i in 0..3000 {
            uses.push(if i % 2 == 0 {
                x.mul(1.0).unwrap()
            } else {
                x.clone()
            });
        }
        let uses: Vec<DynTensor> = uses.iter().map(|x| x.sum(..).unwrap()).collect();
        let all: Vec<&DynTensor> = uses.iter().collect();
        let sum = DynTensor::stack(&all, 0, None::<&str>)
            .unwrap()
            .sum(..)
            .unwrap();
        sum.backward().unwrap();
        near(&numbers(&x.grad().unwrap()), &[3000.0; 3], 4e-3);
    }
}

#[test]
fn rows_of_any_size_are_normalised() {
    let want = [-1.224_744_871, 0.0, 1.224_744_871];
    for (dtype, sizes) in [
        (DType::F16, &[1e-3, 1.0, 2e4][..]),
        (DType::F32, &[1e-30, 1e-3, 1e20, 1e38]),
        (DType::F64, &[1e-200, 1.0, 1e200, 5e307]),
    ] {
        for size in sizes {
            let x = matrix(&[size * 1.0, size * 2.0, size * 3.0], 1, dtype);
            let options = LayerNormOptions {
                eps: 0.0,
                ..LayerNormOptions::default()
            };
            let found = numbers(&x.layer_norm_with(1, options).unwrap());
            for (got, want) in found.iter().zip(want) {
                assert!((got - want).abs() < 2e-3, "{dtype} {size}: {found:?}");
            }
        }
    }
    let far: Vec<f64> = (0..64)
        .map(|i| 1e4 + f64::from(i % 4) * 9.765_625e-4)
        .collect();
    let x = matrix(&far, 1, DType::F32);
    let found = numbers(&x.layer_norm(1).unwrap());
    // The variance is 1.25 steps squared, so small that `eps` matters.
    let step: f64 = 9.765_625e-4;
    let factor = step / (1.25 * step * step + 1e-5).sqrt();
    for (i, got) in found.iter().enumerate() {
        let want = ((i % 4) as f64 - 1.5) * factor;
        assert!((got - want).abs() < 1e-4, "{got}, not {want}");
    }
}

#[test]
fn deviations_and_norms_of_f64() {
    for size in [1e-200, 1e200, 1e307] {
        let x = vector(vec![3.0 * size, -4.0 * size, 0.0], DType::F64);
        near(&numbers(&x.norm(..).unwrap()), &[5.0 * size], 1e-14);
        let third = NormOptions {
            p: 3.0,
            ..NormOptions::default()
        };
        near(
            &numbers(&x.norm_with(.., third).unwrap()),
            &[91_f64.cbrt() * size],
            1e-14,
        );
        let variance: f64 = (25.0 - 1.0 / 3.0) / 2.0;
        near(
            &numbers(&x.std(..).unwrap()),
            &[variance.sqrt() * size],
            1e-14,
        );
        let pairs = matrix(
            &[size, -size, 3.0 * size, 2.0 * size, size, 5.0 * size],
            2,
            DType::F64,
        );
        assert!(
            numbers(&pairs.corrcoef().unwrap())
                .iter()
                .all(|x| x.is_finite())
        );
    }
}

#[test]
fn cosines_of_halves() {
    for size in [100.0, 1e-4, 6e4] {
        let x = vector(vec![size; 10], DType::F16);
        let cosine = x.cosine_similarity_with(&x, 0, CosineSimilarityOptions::default());
        near(&numbers(&cosine.unwrap()), &[1.0], 2e-3);
    }
}

#[test]
fn slopes_of_angles_near_the_origin() {
    let mut y = vector(vec![1e-30, 1e30], DType::F32);
    y.requires_grad_().unwrap();
    let angles = y.atan2(&y.detach()).unwrap();
    angles.sum(..).unwrap().backward().unwrap();
    near(&numbers(&y.grad().unwrap()), &[5e29, 5e-31], 1e-5);
}

#[test]
fn gradients_of_a_norm_out_of_range_are_clipped() {
    macro_rules! clipped {
        ($t:ty, $dtype:ident, $size:expr, $within:expr) => {
            let param = Param::new(Tensor::<(Time,), $t>::full([4], <$t>::default()));
            for (_, leaf) in param.params() {
                leaf.set_grad(&vector(vec![$size; 4], DType::$dtype))
                    .unwrap();
            }
            near(&[clip_grad_norm(&param, 1.0)], &[2.0 * $size], $within);
            for (_, leaf) in param.params() {
                near(&numbers(&leaf.grad().unwrap()), &[0.5; 4], $within);
            }
        };
    }
    clipped!(f16, F16, 40_000.0, 2e-3);
    clipped!(f32, F32, 3e38, 1e-5);
    clipped!(f64, F64, 1e200, 1e-12);
}
