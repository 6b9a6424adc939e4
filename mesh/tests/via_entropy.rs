//! Cross entropy with split classes, split rows, or both equals that on one rank, with all options.

mod support;

use nomina::dynamic::{CrossEntropyOptions, Reduction};
use nomina::{ErrorKind, reduction};
use nomina_mesh::prelude::*;
use nomina_mesh::{ClassOptions, DimVia};
use support::{Data, Line, assert_close, checks, leaf, numbers, same, sent, values};

dims! { N, C }

const REDUCTIONS: [Reduction; 3] = [Reduction::None, Reduction::Sum, Reduction::Mean];
const ROWS: usize = 4;

fn targets(classes: usize, ignored: bool) -> DynTensor {
    let all = (0..ROWS).map(|i| match (ignored, i) {
        (true, 1) => -100,
        _ => (i * 5 % classes) as i64,
    });
    DynTensor::from_vec(all.collect::<Vec<i64>>(), &[ROWS], ["N"]).unwrap()
}

fn weights(classes: usize) -> DynTensor {
    let all = (0..classes).map(|i| 0.3 + (i % 3) as f64);
    DynTensor::from_vec(all.collect::<Vec<f64>>(), &[classes], ["C"]).unwrap()
}

/// Runs all options against a target, with split classes.
fn all(classes: usize, logits: bool, target: &DynTensor) {
    let x = leaf(&[ROWS, classes], &["N", "C"], 2);
    let split_target = (target.rank() == 2).then_some("C");
    for reduction in REDUCTIONS {
        for smoothing in [0.0, 0.2] {
            for weighted in [false, true] {
                let what = format!(
                    "{reduction:?} of {classes} classes, logits {logits}, smoothing {smoothing}, weighted {weighted}, target of {} dims",
                    target.rank()
                );
                let inputs = [
                    (x.clone(), Some("C")),
                    (target.clone(), split_target),
                    (weights(classes), Some("C")),
                ];
                same(
                    &what,
                    &inputs,
                    &|x| {
                        let options = CrossEntropyOptions {
                            weight: weighted.then_some(&x[2]),
                            label_smoothing: smoothing,
                            ..CrossEntropyOptions::default()
                        };
                        Ok(vec![if logits {
                            x[0].cross_entropy_with(&x[1], "C", reduction, options)?
                        } else {
                            x[0].nll_loss_with(&x[1], "C", reduction, options)?
                        }])
                    },
                    &|x| {
                        let (via, options) = (
                            DimVia::new("C", "Data"),
                            ClassOptions {
                                weight: weighted.then_some(&x[2]),
                                label_smoothing: smoothing,
                                ..ClassOptions::default()
                            },
                        );
                        Ok(vec![if logits {
                            x[0].cross_entropy_with(&x[1], via, reduction, options)?
                        } else {
                            x[0].nll_loss_with(&x[1], via, reduction, options)?
                        }])
                    },
                );
            }
        }
    }
}

#[test]
fn of_logits_against_classes() {
    for classes in [1, 2, 5, 8] {
        for ignored in [false, true] {
            all(classes, true, &targets(classes, ignored));
        }
    }
}

#[test]
fn of_logarithms_against_classes() {
    for classes in [2, 5] {
        all(classes, false, &targets(classes, true));
    }
}

#[test]
fn of_logits_against_probabilities() {
    for classes in [2, 5] {
        let target = leaf(&[ROWS, classes], &["N", "C"], 4).softmax("C").unwrap();
        all(classes, true, &target.detach().with_grad().unwrap());
    }
}

#[test]
fn a_class_may_be_impossible() {
    // The logit of this class is minus infinity, and it is no row's target.
    let mut x: Vec<f64> = values(&numbers(&[2, 5], &["N", "C"], 1));
    (x[3], x[8]) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    let x = DynTensor::from_vec(x, &[2, 5], ["N", "C"]).unwrap();
    let target = DynTensor::from_vec(vec![0_i64, 4], &[2], ["N"]).unwrap();
    same(
        "a class that no row is of",
        &[(x.with_grad().unwrap(), Some("C")), (target, None)],
        &|x| Ok(vec![x[0].cross_entropy(&x[1], "C")?]),
        &|x| {
            let via = DimVia::new("C", "Data");
            let mean = Reduction::Mean;
            Ok(vec![x[0].cross_entropy_with(
                &x[1],
                via,
                mean,
                ClassOptions::default(),
            )?])
        },
    );
}

#[test]
fn rows_and_classes_are_split() {
    mesh! { Grid: Rows, Model }
    let (x, target) = (numbers(&[5, 7], &["N", "C"], 3), vec![1_i64, 6, 0, 3, 3]);
    let x: Tensor<(N, C), f64> = Tensor::from_vec(values(&x), [5, 7]).unwrap();
    let target: Tensor<(N,), i64> = Tensor::from_vec(target, [5]).unwrap();
    let own = x.clone().with_grad();
    let expected = own.cross_entropy(&target, C);
    expected.backward();
    let (expected, gradient) = (expected.item(), own.grad().unwrap().to_vec());
    let found = Grid::threads([3, 2], |mesh| {
        let leaf = mesh.whole(x.clone()).with_grad();
        let logits: Sharded<(N, C), Grid<Split<N>, Split<C>>, f64> =
            leaf.cut(Rows, N).cut(Model, C);
        let target: Sharded<(N,), Grid<Split<N>, Whole>, i64> =
            mesh.whole(target.clone()).cut(Rows, N);
        let loss: Sharded<(), Grid<Pending, Pending>, f64> =
            logits.cross_entropy(&target, C.via(Model));
        loss.backward();
        let each: Sharded<(N,), Grid<Split<N>, Pending>, f64> =
            logits.cross_entropy_with(&target, C.via(Model), reduction::None, default());
        assert_eq!(each.size(N), 5);
        let gradient: Sharded<(N, C), Grid<Pending, Pending>, f64> = leaf.grad().unwrap();
        let gradient = gradient.all_reduce(Rows).all_reduce(Model).to_vec();
        Ok((loss.all_reduce(Rows).all_reduce(Model).item(), gradient))
    });
    for (loss, own) in found.unwrap() {
        assert_close("loss", &[loss], &[expected]);
        assert_close("gradient", &own, &gradient);
    }
}

#[test]
fn a_mean_over_split_rows_counts_all_or_says_that_it_does_not() {
    let target = targets(3, true);
    let found = Line::threads([2], |mesh| {
        let x = mesh
            .whole_dyn(numbers(&[ROWS, 3], &["N", "C"], 1))
            .cut("Data", "N")?;
        let target = mesh.whole_dyn(target.clone()).cut("Data", "N")?;
        let options = ClassOptions::default();
        let error = x.cross_entropy_with(&target, "C", Reduction::Mean, options);
        // Row 1, which is ignored, is on the first rank.
        let error = error.err().map(|error| error.to_string());
        let sum = x.cross_entropy_with(&target, "C", Reduction::Sum, options)?;
        let sum = sum.all_reduce("Data")?.local().div(3.0)?;
        Ok((mesh.rank(Data), error, sum.to_vec::<f64>()?))
    });
    let plain = numbers(&[ROWS, 3], &["N", "C"], 1);
    let expected = values(&plain.cross_entropy(&target, "C").unwrap());
    for (rank, error, mean) in found.unwrap() {
        assert_eq!(error.is_some(), rank == 0);
        assert!(error.is_none_or(|text| text.contains("reduction::Sum")));
        assert_close("the mean by hand", &mean, &expected);
    }
}

#[test]
fn a_class_that_is_not_there_is_an_error_on_all_ranks() {
    for target in [7_i64, -1] {
        let error = Line::threads([3], |mesh| {
            let x = mesh
                .whole_dyn(numbers(&[1, 7], &["N", "C"], 1))
                .cut("Data", "C")?;
            let target = mesh.whole_dyn(DynTensor::from_vec(vec![target], &[1], ["N"])?);
            let via = DimVia::new("C", "Data");
            x.cross_entropy_with(&target, via, Reduction::Mean, ClassOptions::default())
                .map(drop)
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
    }
}

#[test]
fn nothing_of_the_size_of_classes_is_sent() {
    const RANKS: usize = 4;
    let (rows, classes) = (6, 64);
    let found = sent(RANKS, |mesh, measure| {
        let x = numbers(&[rows, classes], &["N", "C"], 0).with_grad()?;
        let x = mesh.whole_dyn(x).cut("Data", "C")?;
        let target = mesh.whole_dyn(DynTensor::from_vec(vec![3_i64; rows], &[rows], ["N"])?);
        let loss = || {
            let via = DimVia::new("C", "Data");
            x.cross_entropy_with(&target, via, Reduction::Mean, ClassOptions::default())
        };
        let own = loss()?;
        Ok(vec![
            measure(&|| loss().map(drop))?,
            measure(&|| own.local().backward())?,
        ])
    });
    for (rank, sent) in found.into_iter().enumerate() {
        let part = nomina_mesh::part(rows, RANKS, rank).1 as u64;
        let each = (rows as u64 - part + part * (RANKS as u64 - 1)) * 8;
        // A maximum and a sum of each row; the backward pass sends nothing.
        assert_eq!(
            sent,
            [2 * each + checks(rank, RANKS, 2), checks(rank, RANKS, 0)]
        );
    }
}
