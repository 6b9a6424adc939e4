use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::call::{kthvalue, running_extreme, sort, topk, typical};
use crate::cpu::reduce::tests::{layouts, sample};
use crate::raw::Raw;

/// Returns the elements of each line along `dim`, of an operand or of a result with another number
/// of elements per line.
fn lines(x: &Raw, dim: usize) -> Vec<Vec<f64>> {
    let mut front: Vec<usize> = (0..x.rank()).filter(|&d| d != dim).collect();
    front.push(dim);
    let moved = x.permute(&front).unwrap();
    let all: Vec<f64> = moved.scalars().map(Scalar::to_f64).collect();
    all.chunks(x.shape()[dim].max(1))
        .map(<[f64]>::to_vec)
        .collect()
}

fn shapes() -> &'static [&'static [usize]] {
    if cfg!(miri) {
        &[&[5], &[3, 9]]
    } else {
        &[&[1], &[9], &[3000], &[33, 3], &[2, 3, 4, 5], &[40, 200]]
    }
}

#[test]
fn every_dtype_and_layout_as_the_definition() {
    for shape in shapes() {
        for dtype in DType::ALL.into_iter().filter(|dtype| !dtype.is_complex()) {
            for x in layouts(&sample(shape, dtype, 11)) {
                for dim in 0..x.rank() {
                    check(&x, dim);
                }
            }
        }
    }
}

fn check(x: &Raw, dim: usize) {
    let given = lines(x, dim);
    let n = x.shape()[dim];
    let (up, up_at) = sort(Op::Sort, x, dim, false).unwrap();
    let (down, down_at) = sort(Op::Sort, x, dim, true).unwrap();
    let (k, kth) = (
        n as i64 / 2 + 1,
        kthvalue(x, n as i64 / 2 + 1, dim, true).unwrap(),
    );
    let (top, _) = topk(Op::Topk, x, k, dim, true).unwrap();
    let mode = typical(Op::Mode, x, dim, true).unwrap();
    let far = running_extreme(Op::Cummax, x, dim).unwrap();
    let results = [
        &up, &up_at, &down, &down_at, &kth.0, &kth.1, &top, &mode.0, &mode.1, &far.0,
    ];
    let results = results.map(|result| lines(result, dim));
    for (i, line) in given.iter().enumerate() {
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&a, &b| line[a].total_cmp(&line[b]));
        let sorted: Vec<f64> = order.iter().map(|&at| line[at]).collect();
        let positions: Vec<f64> = order.iter().map(|&at| at as f64).collect();
        assert_eq!(results[0][i], sorted, "{:?} {dim}", x.shape());
        assert_eq!(results[1][i], positions);
        let mut back: Vec<usize> = (0..n).collect();
        back.sort_by(|&a, &b| line[b].total_cmp(&line[a]));
        assert_eq!(
            results[2][i],
            back.iter().map(|&at| line[at]).collect::<Vec<_>>()
        );
        assert_eq!(
            results[3][i],
            back.iter().map(|&at| at as f64).collect::<Vec<_>>()
        );
        assert_eq!(results[4][i], [sorted[k as usize - 1]]);
        assert_eq!(results[5][i], [positions[k as usize - 1]]);
        assert_eq!(results[6][i], results[2][i][..k as usize]);
        let often = |x: f64| line.iter().filter(|&&y| y == x).count();
        let most = line.iter().map(|&x| often(x)).max().unwrap();
        let wanted = sorted.iter().copied().find(|&x| often(x) == most).unwrap();
        assert_eq!(results[7][i], [wanted]);
        let last = line.iter().rposition(|&x| x == wanted).unwrap();
        assert_eq!(results[8][i], [last as f64]);
        let mut best = f64::NEG_INFINITY;
        for (at, &x) in line.iter().enumerate() {
            best = best.max(x);
            assert_eq!(results[9][i][at], best);
        }
    }
}

#[test]
fn nan_and_zeros() {
    let (nan, inf) = (f32::NAN, f32::INFINITY);
    let x = Raw::from_vec(vec![nan, 0.0, -0.0, -inf, inf, -nan, -1.0], &[7]).unwrap();
    let (_, at) = sort(Op::Sort, &x, 0, false).unwrap();
    assert_eq!(at.to_vec::<i64>().unwrap(), [3, 6, 1, 2, 4, 0, 5]);
    let (_, at) = sort(Op::Sort, &x, 0, true).unwrap();
    assert_eq!(at.to_vec::<i64>().unwrap(), [0, 5, 4, 1, 2, 6, 3]);
    let median = typical(Op::Median, &x, 0, false).unwrap();
    assert_eq!(median.1.item().unwrap(), Scalar::Int(0));
    let median = typical(Op::Nanmedian, &x, 0, false).unwrap();
    assert_eq!(median.1.item().unwrap(), Scalar::Int(1));
    let (_, at) = running_extreme(Op::Cummin, &x.slice(0, 1, 6, 1).unwrap(), 0).unwrap();
    assert_eq!(at.to_vec::<i64>().unwrap(), [0, 1, 2, 2, 4, 4]);
}

#[test]
fn the_first_few_of_long_lines() {
    let n = if cfg!(miri) { 520 } else { 3001 };
    let dtypes = DType::ALL.into_iter().filter(|dtype| !dtype.is_complex());
    for (seed, dtype) in dtypes.enumerate() {
        let noise = sample(&[2, n], dtype, seed as u64);
        let same = crate::call::full(&[2, n], 1.0.into(), dtype, noise.device()).unwrap();
        // In ascending order, so that every element replaces one that was kept.
        let (up, _) = sort(Op::Sort, &noise, 1, false).unwrap();
        let (down, _) = sort(Op::Sort, &noise, 1, true).unwrap();
        for x in [noise, same, up, down] {
            for largest in [false, true] {
                let (sorted, at) = sort(Op::Sort, &x, 1, largest).unwrap();
                for k in [1, 8, 32, 33, n as i64 / 2] {
                    let (found, found_at) = topk(Op::Topk, &x, k, 1, largest).unwrap();
                    let part = |x: &Raw| x.narrow(1, 0, k as usize).unwrap();
                    assert!(
                        found.scalars().eq(part(&sorted).scalars()),
                        "{k} of {dtype}"
                    );
                    assert!(found_at.scalars().eq(part(&at).scalars()), "{k} of {dtype}");
                }
            }
        }
    }
}

#[test]
fn the_first_few_among_nan_and_zeros() {
    let mut data = vec![0.0_f32; 1000];
    for (at, x) in [
        (3, -0.0),
        (500, f32::NAN),
        (700, -f32::NAN),
        (900, f32::INFINITY),
    ] {
        data[at] = x;
    }
    let x = Raw::from_vec(data, &[1000]).unwrap();
    let at = |largest| {
        topk(Op::Topk, &x, 5, 0, largest)
            .unwrap()
            .1
            .to_vec::<i64>()
            .unwrap()
    };
    assert_eq!(at(true), [500, 700, 900, 0, 1]);
    assert_eq!(at(false), [0, 1, 2, 3, 4]);
}

#[cfg(feature = "rayon")]
#[test]
fn one_long_line_on_any_number_of_threads() {
    if cfg!(miri) {
        return;
    }
    for dtype in [DType::F32, DType::F64] {
        let x = sample(&[200_000], dtype, 3);
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| {
                sort(Op::Sort, &x, 0, false)
                    .unwrap()
                    .1
                    .to_vec::<i64>()
                    .unwrap()
            })
        };
        assert!(on(1) == on(4));
    }
}
