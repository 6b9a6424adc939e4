//! Kernels of groups, windows, pairs and quantiles, beside the composed operators that record gradients.

use nomina::{DType, DynTensor, Generator, VarOptions};

type Compute<'a> = dyn Fn(&DynTensor) -> nomina::Result<DynTensor> + 'a;

/// Returns numbers with a large mean; some are NaN if `missing`.
fn random(dtype: DType, sizes: &[usize], missing: bool) -> DynTensor {
    let mut generator = Generator::new(sizes.iter().sum::<usize>() as u64);
    let options = DynTensor::options().dtype(DType::F64);
    let names = ["a", "b", "c"];
    let x = options
        .randn_from(sizes, &names[..sizes.len()], &mut generator)
        .unwrap();
    let x = x.add(3.0).unwrap();
    let x = if missing {
        x.masked_fill(&x.lt(2.4).unwrap(), f64::NAN).unwrap()
    } else {
        x
    };
    x.to_dtype(dtype).unwrap()
}

/// Returns a tensor, and the same elements in other layouts.
fn layouts(x: &DynTensor) -> Vec<(&'static str, DynTensor)> {
    let rank = x.rank() as i64;
    let order: Vec<i64> = (0..rank).rev().collect();
    let turned = x.permute(&order[..]).unwrap().contiguous().unwrap();
    let twice = DynTensor::cat(&[x, x], 0).unwrap();
    let narrow = twice.narrow(0, 1, x.shape()[0]).unwrap();
    let flipped = DynTensor::cat(&[x, x], rank - 1).unwrap();
    let flipped = flipped.narrow(rank - 1, 1, *x.shape().last().unwrap());
    vec![
        ("row-major", x.clone()),
        ("turned", turned.permute(&order[..]).unwrap()),
        ("narrow", narrow),
        ("gapped", flipped.unwrap()),
    ]
}

/// Compares what a call computes with what it computes while it records a gradient.
fn compare(compute: &Compute<'_>, x: &DynTensor, within: f64, what: &str) {
    let found = compute(x).unwrap();
    let composed = compute(&x.clone().with_grad().unwrap()).unwrap().detach();
    assert_eq!(found.shape(), composed.shape(), "{what}");
    assert_eq!(found.dtype(), composed.dtype(), "{what}");
    assert_eq!(found.names(), composed.names(), "{what}");
    let wide = |x: &DynTensor| x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
    for (i, (a, b)) in wide(&found).into_iter().zip(wide(&composed)).enumerate() {
        let same = a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= within * b.abs().max(1.0);
        assert!(same, "{what}, {i}: {a}, not {b}");
    }
}

const SHAPES: [&[usize]; 5] = [&[19], &[40, 3], &[6, 25, 17], &[30, 40], &[5, 600]];

/// Calls `check` with tensors of all shapes, dtypes and layouts, their tolerance and each of their dims.
fn each(check: impl Fn(&DynTensor, f64, usize, &str)) {
    for shape in SHAPES {
        for (dtype, within) in [(DType::F64, 1e-11), (DType::F32, 1e-5), (DType::F16, 2e-3)] {
            for missing in [false, true] {
                for (layout, x) in layouts(&random(dtype, shape, missing)) {
                    for dim in 0..shape.len() {
                        let what = format!("{dtype} {shape:?} {layout} {dim}, NaN: {missing}");
                        check(&x, within, dim, &what);
                    }
                }
            }
        }
    }
}

#[test]
fn groups() {
    each(|x, within, dim, what| {
        let size = x.shape()[dim];
        // Scattered, of different sizes, and in runs; group 3 may be empty.
        let scattered: Vec<i64> = (0..size as i64).map(|i| (i * i) % 5).collect();
        let runs: Vec<i64> = (0..size as i64).map(|i| i * 4 / size as i64).collect();
        for (kind, ids) in [("scattered", scattered), ("runs", runs)] {
            let name = x.names()[dim].clone().unwrap();
            let ids = DynTensor::from_vec(ids, &[size], [name.as_str()]).unwrap();
            macro_rules! reduce {
                ($($reduce:ident)*) => {$(
                    let compute = |x: &DynTensor| x.group_by(dim, &ids, 6, "g")?.$reduce();
                    compare(&compute, x, within, &format!("{} of {kind} groups, {what}", stringify!($reduce)));
                )*};
            }
            reduce! { sum mean var std nansum nanmean nanmax nanmin nanvar nanstd }
            let extreme = |x: &DynTensor| x.group_by(dim, &ids, 6, "g")?.max();
            assert!(extreme(x).is_err(), "a group without elements: {what}");
        }
    });
}

#[test]
fn windows_around_each_element() {
    each(|x, within, dim, what| {
        for (size, centered) in [(3, true), (4, false)] {
            macro_rules! reduce {
                ($($reduce:ident)*) => {$(
                    let compute = |x: &DynTensor| x.rolling_around(dim, size, centered)?.$reduce();
                    compare(&compute, x, within, &format!("{} of {size}, {centered}, {what}", stringify!($reduce)));
                )*};
            }
            reduce! { mean max nansum nanmean nanmax nanvar }
        }
    });
}

#[test]
fn pairs() {
    each(|x, within, dim, what| {
        let y = x.flip(dim).unwrap().contiguous().unwrap();
        let one = x.mean(dim).unwrap().nan_to_num().unwrap();
        let options = VarOptions {
            correction: 0.0,
            ..Default::default()
        };
        let calls: [(&str, &Compute<'_>); 6] = [
            ("corr", &|x| x.corr(&y, dim)),
            ("nancorr", &|x| x.nancorr(&y, dim)),
            ("nancovar", &|x| x.nancovar(&y, dim)),
            ("covar", &|x| x.covar_with(&y, dim, options)),
            ("weighted", &|x| x.weighted_mean(&y, dim)),
            ("a weight for all others", &|x| x.weighted_nanmean(&one, ..)),
        ];
        // Roots of small variances of rounded elements.
        let within = within.max(1e-9) * 10.0;
        for (name, compute) in calls {
            compare(compute, x, within, &format!("{name}, {what}"));
        }
    });
}

#[test]
fn quantiles() {
    each(|x, within, dim, what| {
        let few = DynTensor::from_vec(vec![0.0, 0.5, 0.93], &[3], ["q"]).unwrap();
        let many: Vec<f64> = (0..9).map(|i| f64::from(i) / 8.0).collect();
        let many = DynTensor::from_vec(many, &[9], ["q"]).unwrap();
        for q in [few, many] {
            let q = q.to_dtype(x.dtype()).unwrap();
            let calls: [(&str, &Compute<'_>); 2] = [
                ("quantile", &|x| x.quantile(&q, dim)),
                ("nanquantile", &|x| x.nanquantile(&q, dim)),
            ];
            for (name, compute) in calls {
                compare(compute, x, within, &format!("{name}, {what}"));
            }
        }
    });
}
