//! Correlation, covariance and interpolation along dims, against plain loops in f64.

use nomina::prelude::*;
use nomina::{DType, DynTensor, ErrorKind, InterpMethod, InterpOptions, VarOptions};

dims! { Time, Lat, Lon, Place, Deep = 3 }

const NAN: f64 = f64::NAN;

/// Returns numbers between -1 and 1 that repeat for a seed.
fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}

/// Covariance and correlation of the pairs without NaN, or of all.
fn expected(x: &[f64], y: &[f64], skip: bool, correction: f64) -> [f64; 2] {
    let pairs = x
        .iter()
        .zip(y)
        .filter(|(x, y)| !skip || !(x.is_nan() || y.is_nan()));
    let pairs: Vec<(f64, f64)> = pairs.map(|(&x, &y)| (x, y)).collect();
    let n = pairs.len() as f64;
    let (mx, my) = (
        pairs.iter().map(|p| p.0).sum::<f64>() / n,
        pairs.iter().map(|p| p.1).sum::<f64>() / n,
    );
    let sum =
        |f: &dyn Fn(f64, f64) -> f64| pairs.iter().map(|p| f(p.0 - mx, p.1 - my)).sum::<f64>();
    let (xy, xx, yy) = (sum(&|a, b| a * b), sum(&|a, _| a * a), sum(&|_, b| b * b));
    [xy / (n - correction).max(0.0), xy / (xx.sqrt() * yy.sqrt())]
}

fn check(found: &DynTensor, wanted: &[f64], within: f64, what: &str) {
    let found: Vec<f64> = found
        .detach()
        .to_dtype(DType::F64)
        .unwrap()
        .to_vec()
        .unwrap();
    assert_eq!(found.len(), wanted.len(), "{what}");
    for (i, (&a, &b)) in found.iter().zip(wanted).enumerate() {
        let same = a == b || a.is_nan() && b.is_nan();
        assert!(
            same || (a - b).abs() <= within * b.abs().max(1.0),
            "{what}, {i}: {a}, not {b}"
        );
    }
}

#[test]
fn pairs_are_those_of_the_loops() {
    let (sites, times) = (5, 40);
    let mut next = random(3);
    // A large mean, which a formula by squares would lose.
    let mut x: Vec<f64> = (0..sites * times).map(|_| 100.0 + next()).collect();
    let mut y: Vec<f64> = (0..times).map(|t| next() + x[t]).collect();
    for skip in [false, true] {
        if skip {
            (x[3], x[times + 7], y[9]) = (NAN, NAN, NAN);
            x[2 * times..3 * times].fill(NAN);
        }
        for (dtype, within) in [(DType::F64, 1e-10), (DType::F32, 1e-4)] {
            let tensor = |data: &[f64], sizes: &[usize], names: &[&str]| {
                let x = DynTensor::from_vec(data.to_vec(), sizes, names).unwrap();
                x.to_dtype(dtype).unwrap()
            };
            let a = tensor(&x, &[sites, times], &["Site", "Time"]);
            let b = tensor(&y, &[times], &["Time"]);
            let rounded =
                |x: &DynTensor| -> Vec<f64> { x.to_dtype(DType::F64).unwrap().to_vec().unwrap() };
            let (x, y) = (rounded(&a), rounded(&b));
            let wanted = |correction: f64, which: usize| -> Vec<f64> {
                let rows = x.chunks(times);
                rows.map(|row| expected(row, &y, skip, correction)[which])
                    .collect()
            };
            let by = VarOptions {
                correction: 0.0,
                keepdim: true,
            };
            let (corr, covar, whole) = if skip {
                (
                    a.nancorr(&b, "Time"),
                    a.nancovar(&b, "Time"),
                    a.nancovar_with(&b, "Time", by),
                )
            } else {
                (
                    a.corr(&b, "Time"),
                    a.covar(&b, "Time"),
                    a.covar_with(&b, "Time", by),
                )
            };
            check(&corr.unwrap(), &wanted(1.0, 1), within, "correlation");
            check(&covar.unwrap(), &wanted(1.0, 0), within, "covariance");
            let whole = whole.unwrap();
            assert_eq!(whole.shape(), [sites, 1]);
            check(
                &whole,
                &wanted(0.0, 0),
                within,
                "covariance of a population",
            );
            // In either order of dims, and over all dims.
            let turned = a.align_to(["Time", "Site"]).unwrap();
            let found = if skip {
                turned.nancorr(&b, "Time")
            } else {
                turned.corr(&b, "Time")
            };
            check(&found.unwrap(), &wanted(1.0, 1), within, "turned");
            let repeated: Vec<f64> = (0..sites).flat_map(|_| y.clone()).collect();
            let [cov, r] = expected(&x, &repeated, skip, 1.0);
            let all = if skip {
                [a.nancovar(&b, ..), a.nancorr(&b, ..)]
            } else {
                [a.covar(&b, ..), a.corr(&b, ..)]
            };
            for (found, wanted) in all.into_iter().zip([cov, r]) {
                check(&found.unwrap(), &[wanted], within, "over all dims");
            }
            if skip {
                // Without the skip, each row with NaN is NaN: all, since the other series has one.
                assert!(
                    rounded(&a.corr(&b, "Time").unwrap())
                        .iter()
                        .all(|r| r.is_nan())
                );
            }
        }
    }
}

#[test]
fn correlations_stay_within_one_at_any_scale() {
    for scale in [1e-300, 1e-20, 1.0, 1e20, 1e300] {
        let x = tensor!([1.0_f64, 2., 4., 7.]; Time) * scale;
        let y = &x * -3.0;
        let (same, turned) = (x.corr(&x, Time).item(), x.corr(&y, Time).item());
        assert!((1.0 - 1e-12..=1.0).contains(&same), "{scale}: {same}");
        assert!((1.0 - 1e-12..=1.0).contains(&-turned), "{scale}: {turned}");
    }
    let x = tensor!([1., 2., 4., 7.]; Time);
    assert!(x.corr(&x.ones_like(), Time).item().is_nan());
    let one = tensor!([2.]; Time);
    assert!(one.covar(&one, Time).item().is_nan());
    let r: Tensor<(Time,)> = x.corr(&x, keep(Time));
    assert_eq!(r.to_vec(), [1.0]);
}

#[test]
fn pairs_have_gradients() {
    let mut next = random(5);
    let data: Vec<f64> = (0..12).map(|_| next()).collect();
    let x = DynTensor::from_vec(data[..8].to_vec(), &[2, 4], ["Site", "Time"]).unwrap();
    let y = DynTensor::from_vec(data[8..].to_vec(), &[4], ["Time"]).unwrap();
    let calls: [fn(&DynTensor, &DynTensor) -> nomina::Result<DynTensor>; 2] =
        [|x, y| x.corr(y, "Time"), |x, y| x.covar(y, "Time")];
    for call in calls {
        let loss = |x: &DynTensor, y: &DynTensor| call(x, y)?.mul(&call(x, y)?)?.sum(..);
        let leaf = |x: &DynTensor| {
            let mut x = x.clone();
            x.requires_grad_().unwrap();
            x
        };
        let (a, b) = (leaf(&x), leaf(&y));
        loss(&a, &b).unwrap().backward().unwrap();
        for (given, leaf, first) in [(&x, &a, true), (&y, &b, false)] {
            let slopes = leaf.grad().unwrap().to_vec::<f64>().unwrap();
            let base = given.to_vec::<f64>().unwrap();
            for (i, slope) in slopes.into_iter().enumerate() {
                let at = |step: f64| {
                    let mut moved = base.clone();
                    moved[i] += step;
                    let moved =
                        DynTensor::from_vec(moved, given.shape(), given.names().clone()).unwrap();
                    let value = if first {
                        loss(&moved, &y)
                    } else {
                        loss(&x, &moved)
                    };
                    value.unwrap().item().unwrap().to_f64()
                };
                let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((slope - wanted).abs() < 1e-7, "{slope}, not {wanted}");
            }
        }
    }
}

/// The value at `t`, as SciPy's `interp1d` gives it, but exact at a coordinate.
fn interpolated(coords: &[f64], x: &[f64], t: f64, how: InterpOptions) -> f64 {
    let mut order: Vec<usize> = (0..coords.len()).collect();
    order.sort_by(|&a, &b| coords[a].total_cmp(&coords[b]));
    let (c, x): (Vec<f64>, Vec<f64>) = order.iter().map(|&i| (coords[i], x[i])).unzip();
    let last = c.len() - 1;
    if t.is_nan() || !how.extrapolate && (t < c[0] || t > c[last]) {
        return NAN;
    }
    if let Some(at) = c.iter().position(|&c| c == t) {
        return x[at];
    }
    let high = c.iter().position(|&c| c > t).unwrap_or(last).max(1);
    let (low, part) = (high - 1, (t - c[high - 1]) / (c[high] - c[high - 1]));
    match how.method {
        InterpMethod::Nearest if part > 0.5 => x[high],
        InterpMethod::Nearest => x[low],
        InterpMethod::Linear => x[low] + (x[high] - x[low]) * part,
    }
}

#[test]
fn interpolation_is_that_of_the_loops() {
    let coords = [
        [0.0, 1.0, 3.0, 3.5, 10.0],
        [10.0, 3.5, 3.0, 1.0, 0.0],
        [3.0, 0.0, 10.0, 1.0, 3.5],
    ];
    let places = [-2.0, 0.0, 0.5, 1.0, 2.0, 3.25, 7.0, 10.0, 11.0, NAN];
    let mut next = random(7);
    let mut data: Vec<f64> = (0..2 * 5 * 3).map(|_| next()).collect();
    data[7] = NAN;
    for (dtype, within) in [(DType::F64, 1e-13), (DType::F32, 1e-6), (DType::BF16, 1e-2)] {
        let x = DynTensor::from_vec(data.clone(), &[2, 5, 3], ["Time", "Lat", "Lon"]).unwrap();
        let x = x.to_dtype(dtype).unwrap();
        let data: Vec<f64> = x.to_dtype(DType::F64).unwrap().to_vec().unwrap();
        for coords in coords {
            let lat = DynTensor::from_vec(coords.to_vec(), &[5], ["Lat"]).unwrap();
            let at = DynTensor::from_vec(places.to_vec(), &[2, 5], ["Way", "Place"]).unwrap();
            for (method, extrapolate) in [
                (InterpMethod::Linear, false),
                (InterpMethod::Linear, true),
                (InterpMethod::Nearest, false),
                (InterpMethod::Nearest, true),
            ] {
                let how = InterpOptions {
                    method,
                    extrapolate,
                };
                let found = x.interp_with("Lat", &lat, &at, how).unwrap();
                assert_eq!(found.names().to_string(), "(Time, Way, Place, Lon)");
                assert_eq!((found.shape(), found.dtype()), (&[2, 2, 5, 3][..], dtype));
                let mut wanted = Vec::new();
                for time in 0..2 {
                    for t in places {
                        for lon in 0..3 {
                            let line: Vec<f64> =
                                (0..5).map(|lat| data[(time * 5 + lat) * 3 + lon]).collect();
                            wanted.push(interpolated(&coords, &line, t, how));
                        }
                    }
                }
                check(
                    &found,
                    &wanted,
                    within,
                    &format!("{how:?} at {coords:?}, {dtype}"),
                );
            }
        }
    }
}

#[test]
fn places_replace_the_dim() {
    let x = tensor!([[0., 1.], [10., 3.], [40., 5.]]; Lat, Lon);
    let lat = tensor!([60., 30., 0.]; Lat);
    let y: Tensor<(Lat, Lon)> = x.interp(Lat, &lat, &lat);
    assert!(y.equal(&x));
    let one: Tensor<(Lon,)> = x.interp(Lat, &lat, &Tensor::<()>::full([], 45.0));
    assert_eq!(one.to_vec(), [5.0, 2.0]);
    let deep: Tensor<(Deep, Lon)> = x.interp(Lat, &lat, &tensor!([0., 30., 15.]; Deep));
    assert_eq!(deep.to_vec(), [40.0, 5.0, 10.0, 3.0, 25.0, 4.0]);
    // Time as integers; a single coordinate has its own value alone.
    let z: Tensor<(Place,)> =
        tensor!([1., 3.]; Time).interp(Time, &tensor!([0, 10]; Time), &tensor!([5]; Place));
    assert_eq!(z.to_vec(), [2.0]);
    let single = tensor!([7.]; Time).interp(Time, &tensor!([2.]; Time), &tensor!([2., 3.]; Place));
    assert!(single.to_vec()[0] == 7.0 && single.to_vec()[1].is_nan());
    let wide = tensor!([Complex::new(0.0_f32, 2.0), Complex::new(4.0, 0.0)]; Time);
    let half = wide.interp(Time, &tensor!([0., 1.]; Time), &tensor!([0.5]; Place));
    assert_eq!(half.to_vec(), [Complex::new(2.0, 1.0)]);

    let x = x.into_dyn();
    let names = |names: &[&str], values: &[f32]| {
        DynTensor::from_vec(values.to_vec(), &[values.len()], names).unwrap()
    };
    let lat = names(&["Lat"], &[60.0, 30.0, 0.0]);
    let at = names(&["Place"], &[1.0]);
    for (coords, at, kind) in [
        (
            &names(&["Lon"], &[60.0, 30.0, 0.0]),
            &at,
            ErrorKind::NameMismatch,
        ),
        (&names(&["Lat"], &[60.0, 30.0]), &at, ErrorKind::Shape),
        (
            &names(&["Lat"], &[60.0, f32::NAN, 0.0]),
            &at,
            ErrorKind::Argument,
        ),
        (&lat, &names(&["Lon"], &[1.0]), ErrorKind::DuplicateNames),
    ] {
        let error = x.interp("Lat", coords, at).unwrap_err();
        assert_eq!((error.kind(), error.op()), (kind, "interp"), "{error}");
    }
    let unnamed = DynTensor::from_vec(vec![30.0_f32], &[1], ()).unwrap();
    assert_eq!(
        x.interp("Lat", &lat, &unnamed).unwrap().names().to_string(),
        "(Lat, Lon)"
    );
}

#[test]
fn interpolation_has_gradients() {
    let mut x = tensor!([1.0_f64, 4., 2.]; Time);
    let mut at = tensor!([0.25_f64, 1.5, 5.]; Place);
    x.requires_grad_();
    at.requires_grad_();
    let y = x.interp(Time, &tensor!([0.0_f64, 1., 2.]; Time), &at);
    y.nansum(Place).backward();
    assert_eq!(x.grad().unwrap().to_vec(), [0.75, 0.75, 0.5]);
    assert_eq!(at.grad().unwrap().to_vec(), [3.0, -2.0, 0.0]);
}
