//! Typed sorting, selection, unique elements and bins.

use nomina::prelude::*;

dims! { N, C, Q, Edge, Word }
dims! { Rgb = 3 }

fn x() -> Tensor<(N, C)> {
    tensor!([[3., 1., 2.], [6., 5., 4.]]; N, C)
}

#[test]
fn sorting_keeps_dims() {
    let (values, indices): (Tensor<(N, C)>, Tensor<(N, C), i64>) = x().sort(C);
    assert_eq!(values.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(indices.to_vec(), [1, 2, 0, 2, 1, 0]);
    let (down, _) = x().sort_with(N, SortOptions { descending: true });
    assert_eq!(down.to_vec(), [6.0, 5.0, 4.0, 3.0, 1.0, 2.0]);
    let order: Tensor<(N, C), i64> = x().argsort(C);
    assert_eq!(order.to_vec(), indices.to_vec());
    let descending = SortOptions { descending: true };
    assert_eq!(x().argsort_with(C, descending).to_vec(), [0, 2, 1, 0, 1, 2]);
    let first: Tensor<(N, C)> = x().msort();
    assert_eq!(first.to_vec(), x().to_vec());
    let truths: Tensor<(N,), bool> = tensor!([true, false]; N).sort(N).0;
    assert_eq!(truths.to_vec(), [false, true]);
    // A dim of constant size stays constant.
    let colours: Tensor<(N, Rgb), i32> = Tensor::from_array([[2, 0, 1]]);
    assert_eq!(colours.sort(Rgb).0.to_vec(), [0, 1, 2]);
}

#[test]
fn the_first_of_them() {
    let (top, at): (Tensor<(N, C)>, Tensor<(N, C), i64>) = x().topk(2, C);
    assert_eq!((top.shape(), at.shape()), (&[2, 2][..], &[2, 2][..]));
    assert_eq!(top.to_vec(), [3.0, 2.0, 6.0, 5.0]);
    let (low, _) = x().topk_with(1, N, TopkOptions { largest: false });
    assert_eq!(low.to_vec(), [3.0, 1.0, 2.0]);
    let error = x().try_topk(4, C).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    assert!(error.to_string().contains("C=3"), "{error}");
    assert!(x().try_topk(usize::MAX, C).is_err());
}

#[test]
fn one_of_a_line() {
    let (second, at): (Tensor<(N,)>, Tensor<(N,), i64>) = x().kthvalue(2, C);
    assert_eq!((second.to_vec(), at.to_vec()), (vec![2.0, 5.0], vec![2, 1]));
    let (kept, _): (Tensor<(N, C)>, _) = x().kthvalue(1, keep(C));
    assert_eq!(kept.shape(), [2, 1]);
    assert_eq!(x().try_kthvalue(0, C).unwrap_err().kind(), ErrorKind::Index);
    let (median, _): (Tensor<(C,)>, Tensor<(C,), i64>) = x().median(N);
    assert_eq!(median.to_vec(), [3.0, 1.0, 2.0]);
    let all: Tensor<()> = x().median(..);
    assert_eq!(all.item(), 3.0);
    let kept: Tensor<(N, C)> = x().median(keep(..));
    assert_eq!(kept.shape(), [1, 1]);
    let holes = tensor!([f32::NAN, 2.0, 1.0]; N);
    assert!(holes.median(..).item().is_nan());
    assert_eq!(holes.nanmedian(N).0.item(), 1.0);
    let (often, last): (Tensor<(), i64>, Tensor<(), i64>) = tensor!([4, 2, 4, 2, 9]; N).mode(N);
    assert_eq!((often.item(), last.item()), (2, 3));
}

#[test]
fn so_far() {
    let (most, at): (Tensor<(N,)>, Tensor<(N,), i64>) = tensor!([1., 3., 2., 3.]; N).cummax(N);
    assert_eq!(
        (most.to_vec(), at.to_vec()),
        (vec![1.0, 3.0, 3.0, 3.0], vec![0, 1, 1, 3])
    );
    assert_eq!(x().cummin(C).0.to_vec(), [3.0, 1.0, 1.0, 6.0, 5.0, 4.0]);
}

#[test]
fn different_ones() {
    let x: Tensor<(N,), i64> = Tensor::from_array([3, 1, 1, 3]);
    let words: Tensor<(Word,), i64> = x.unique().refine_names((Word,));
    assert_eq!(words.to_vec(), [1, 3]);
    let all = x.unique_all();
    let inverse: &Tensor<(N,), i64> = &all.inverse;
    assert_eq!(
        (inverse.to_vec(), all.counts.to_vec()),
        (vec![1, 0, 0, 1], vec![2, 2])
    );
    assert_eq!(x.unique_consecutive().to_vec(), [3, 1, 3]);
    assert_eq!(x.unique_consecutive_all().counts.to_vec(), [1, 2, 1]);
    let rows = tensor!([[1., 2.], [0., 1.], [1., 2.]]; N, C).unique_dim(N);
    let values: &Tensor<(N, C)> = &rows.values;
    assert_eq!(values.to_vec(), [0.0, 1.0, 1.0, 2.0]);
    let (inverse, counts): (&Tensor<(N,), i64>, &Tensor<(N,), i64>) = (&rows.inverse, &rows.counts);
    assert_eq!(
        (inverse.to_vec(), counts.to_vec()),
        (vec![1, 0, 1], vec![1, 2])
    );
    let next = tensor!([[1., 1., 2.]]; N, C).unique_consecutive_dim(C);
    assert_eq!(next.values.to_vec(), [1.0, 2.0]);
}

#[test]
fn places() {
    let edges = tensor!([1., 3., 5.]; Edge);
    let found: Tensor<(N, C), i64> = edges.searchsorted(&x());
    assert_eq!(found.to_vec(), [1, 0, 1, 3, 2, 2]);
    let right = SearchOptions { right: true };
    assert_eq!(
        edges.searchsorted_with(&x(), right).to_vec(),
        [2, 1, 1, 3, 3, 2]
    );
    let rows = tensor!([[0., 2.], [5., 6.]]; N, Edge);
    let found: Tensor<(N, C), i64> = rows.searchsorted(&x());
    assert_eq!(found.to_vec(), [2, 1, 1, 1, 0, 0]);
    let mixed = tensor!([5., 1., 3.]; Edge);
    let sorter = mixed.argsort(Edge);
    let options = SearchOptions::default();
    let found = mixed.searchsorted_by(&sorter, &x(), options);
    assert_eq!(found.to_vec(), edges.searchsorted(&x()).to_vec());
    let buckets: Tensor<(N, C), i64> = x().bucketize(&edges);
    assert_eq!(buckets.to_vec(), [1, 0, 1, 3, 2, 2]);
    assert_eq!(
        x().bucketize_with(&edges, right).to_vec(),
        [2, 1, 1, 3, 3, 2]
    );
}

#[test]
fn bins() {
    let x: Tensor<(N,), u8> = Tensor::from_array([0, 2, 2]);
    let counts: Tensor<(Wild,), i64> = x.bincount();
    assert_eq!(counts.to_vec(), [1, 0, 2]);
    assert_eq!(
        x.bincount_with(BincountOptions { minlength: 5 }).shape(),
        [5]
    );
    let weights = tensor!([0.5, 1.0, 2.0]; N);
    let sums: Tensor<(Wild,), f32> = x.bincount_weighted(&weights, default());
    assert_eq!(sums.to_vec(), [0.5, 0.0, 3.0]);
    let sums: Tensor<(Wild,), f64> = x.bincount_weighted(&tensor!([1, 1, 1]; N), default());
    assert_eq!(sums.to_vec(), [1.0, 0.0, 2.0]);
    let negative: Tensor<(N,), i64> = Tensor::from_array([-1]);
    assert!(negative.try_bincount().is_err());
    let options = HistcOptions { min: 0.0, max: 8.0 };
    let histogram: Tensor<(Word,)> = self::x().histc_with(Word.of(2), options);
    assert_eq!(histogram.to_vec(), [3.0, 3.0]);
    let inside: Tensor<(N,), bool> = x.isin(&tensor!([2, 7]; Word));
    assert_eq!(inside.to_vec(), [false, true, true]);
    let outside = x.isin_with(&tensor!([2, 7]; Word), IsinOptions { invert: true });
    assert_eq!(outside.to_vec(), [true, false, false]);
}

#[test]
fn quantiles() {
    let half: Tensor<(N,)> = x().quantile(0.5, C);
    assert_eq!(half.to_vec(), [2.0, 5.0]);
    assert_eq!(x().quantile(0.5, ..).item(), 3.5);
    let options = QuantileOptions {
        interpolation: Interpolation::Lower,
        ..default()
    };
    assert_eq!(x().quantile_with(0.5, .., options).item(), 3.0);
    let kept: Tensor<(N, C)> = x().quantile(0.0, keep(C));
    assert_eq!((kept.shape(), kept.to_vec()), (&[2, 1][..], vec![1.0, 4.0]));
    let q = tensor!([0., 1.]; Q);
    let ends: Tensor<(Q, N)> = x().quantiles(&q, C);
    assert_eq!(ends.to_vec(), [1.0, 4.0, 3.0, 6.0]);
    let holes = tensor!([f32::NAN, 2.0, 1.0]; N);
    assert_eq!(holes.nanquantile(1.0, N).item(), 2.0);
    assert_eq!(holes.nanquantiles(&q, N).to_vec(), [1.0, 2.0]);
    assert!(x().try_quantile(1.5, C).is_err());
}

#[test]
fn names_that_only_the_run_time_knows() {
    let x: Tensor<(Wild, C)> = x()
        .into_dyn()
        .rename([None, Some("C")])
        .unwrap()
        .typed()
        .unwrap();
    let (values, _): (Tensor<(Wild, C)>, _) = x.sort(C);
    assert_eq!(values.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let (median, _): (Tensor<(Wild,)>, _) = x.median(C);
    assert_eq!(median.to_vec(), [2.0, 5.0]);
    let all = x.unique_all();
    let _: &Tensor<(Wild, C), i64> = &all.inverse;
    assert_eq!(all.values.shape(), [6]);
}
