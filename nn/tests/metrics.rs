//! Metrics beside naive loops.

use nomina::prelude::*;
use nomina_nn::metrics::{Accuracy, Average, Confusion, Mean, Perplexity, RegressionErrors};

dims! { N, T, Class }

const CLASSES: usize = 5;

/// Scores of several batches, and labels of which some are ignored.
fn batches() -> Vec<(Tensor<(N, Class, T)>, Tensor<(N, T), i64>)> {
    let mut generator = Generator::new(5);
    let sizes = [(3, 4), (1, 1), (5, 2), (0, 3)];
    let batch = |(n, t): (usize, usize)| {
        let scores = Tensor::<(N, Class, T)>::options();
        let scores = scores.generator(&mut generator).randn([n, CLASSES, t]);
        let labels = Tensor::<(N, T)>::options().dtype::<i64>();
        let labels = labels
            .generator(&mut generator)
            .randint(-1..CLASSES as i64, [n, t]);
        // Class 4 never occurs among labels.
        let labels = labels.clamp_max(3);
        (scores, labels)
    };
    sizes.into_iter().map(batch).collect()
}

/// Returns the scores of each label that is not ignored, and the label.
fn samples() -> Vec<(Vec<f64>, usize)> {
    let mut samples = Vec::new();
    for (scores, labels) in batches() {
        for n in 0..labels.size(N) {
            for t in 0..labels.size(T) {
                let label = labels.select(N, n).select(T, t).item();
                let scores = scores.select(N, n).select(T, t).to::<f64>().to_vec();
                if let Ok(label) = usize::try_from(label) {
                    samples.push((scores, label));
                }
            }
        }
    }
    samples
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() <= 1e-12 * (1.0 + b.abs()), "{a} and {b}");
}

#[test]
fn accuracy_counts_labels_among_the_greatest_scores() {
    let samples = samples();
    for k in 1..=CLASSES {
        let mut accuracy = Accuracy::top(k, Class).ignoring(-1);
        assert!(accuracy.value().is_nan());
        for (scores, labels) in batches() {
            accuracy.update(&scores, &labels);
        }
        let right = samples.iter().filter(|(scores, label)| {
            scores
                .iter()
                .filter(|&&score| score > scores[*label])
                .count()
                < k
        });
        close(
            accuracy.value(),
            right.count() as f64 / samples.len() as f64,
        );
        assert_eq!(accuracy.count(), samples.len() as u64);
        let once = accuracy.clone();
        accuracy.merge(&once);
        assert_eq!(
            (accuracy.count(), accuracy.value()),
            (2 * once.count(), once.value())
        );
        accuracy.reset();
        assert!(accuracy == Accuracy::top(k, Class).ignoring(-1));
    }
    let mut accuracy = Accuracy::top(3, Class);
    let few = Tensor::<(N, Class)>::zeros([2, 2]);
    assert!(accuracy.try_update(&few, &tensor!([0, 1]; N)).is_err());
    let error = Accuracy::new(Class)
        .try_update(&few, &tensor!([0]; N))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("Accuracy: dim `N` has size 2"),
        "{error}"
    );
    assert_eq!(accuracy.count(), 0);
}

#[test]
fn scores_of_a_confusion_follow_their_definitions() {
    let samples = samples();
    let argmax = |scores: &[f64]| {
        (0..CLASSES)
            .max_by(|&a, &b| scores[a].total_cmp(&scores[b]))
            .unwrap()
    };
    let pairs: Vec<(usize, usize)> = samples
        .iter()
        .map(|(scores, label)| (*label, argmax(scores)))
        .collect();
    let count = |keep: &dyn Fn(&(usize, usize)) -> bool| {
        pairs.iter().filter(|pair| keep(pair)).count() as f64
    };

    let mut confusion = Confusion::new(Class.of(CLASSES)).ignoring(-1);
    for (scores, labels) in batches() {
        confusion.update_scores(&scores, &labels);
    }
    let counts = confusion.counts();
    for label in 0..CLASSES {
        for predicted in 0..CLASSES {
            let found = counts
                .select(Class, label)
                .select(Prime(Class), predicted)
                .item();
            assert_eq!(found as f64, count(&|&pair| pair == (label, predicted)));
        }
    }
    let right = count(&|(label, predicted)| label == predicted);
    close(confusion.accuracy(), right / pairs.len() as f64);

    let fraction = |a: f64, b: f64| if b == 0.0 { 0.0 } else { a / b };
    let each = |class: usize| {
        let own = count(&|&pair| pair == (class, class));
        let labels = count(&|&(label, _)| label == class);
        let predictions = count(&|&(_, predicted)| predicted == class);
        let (precision, recall) = (fraction(own, predictions), fraction(own, labels));
        let f1 = fraction(2.0 * precision * recall, precision + recall);
        ([precision, recall, f1], labels, predictions)
    };
    let (found, averages): (Vec<Vec<f64>>, Vec<[f64; 3]>) = (
        [confusion.precisions(), confusion.recalls(), confusion.f1s()]
            .map(|x| x.to_vec())
            .to_vec(),
        [Average::Micro, Average::Macro, Average::Weighted]
            .map(|average| {
                [
                    confusion.precision(average),
                    confusion.recall(average),
                    confusion.f1(average),
                ]
            })
            .to_vec(),
    );
    for score in 0..3 {
        let by_class: Vec<f64> = (0..CLASSES).map(|class| each(class).0[score]).collect();
        for class in 0..CLASSES {
            close(found[score][class], by_class[class]);
        }
        let occurring = (0..CLASSES).filter(|&class| each(class).1 + each(class).2 > 0.0);
        close(averages[0][score], right / pairs.len() as f64);
        close(
            averages[1][score],
            by_class.iter().sum::<f64>() / occurring.count() as f64,
        );
        let weighted: f64 = (0..CLASSES)
            .map(|class| by_class[class] * each(class).1)
            .sum();
        close(averages[2][score], weighted / pairs.len() as f64);
    }
    let support = confusion.support().to_vec();
    assert_eq!(
        support,
        Vec::from_iter((0..CLASSES).map(|class| each(class).1 as i64))
    );

    let mut twice = confusion.clone();
    twice.merge(&confusion);
    assert!(twice.counts().equal(&(counts * 2)));
    twice.reset();
    assert_eq!(twice.counts().sum(..).item(), 0);
    let error = twice
        .try_update(&tensor!([1, 5]; N), &tensor!([1, 1]; N))
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("a prediction of 5 among 5 classes"),
        "{error}"
    );
    assert!(
        twice
            .try_update(&tensor!([1]; N), &tensor!([-100]; N))
            .is_err()
    );
    assert_eq!(twice.counts().sum(..).item(), 0);
}

#[test]
fn perplexity_and_means_are_weighted_by_counts() {
    let mut perplexity = Perplexity::new(Class).ignoring(-1);
    let mut losses = Mean::default();
    for (scores, labels) in batches() {
        let scores = scores.with_grad();
        perplexity.update(&scores, &labels);
        let kept = labels.to_vec().iter().filter(|&&label| label >= 0).count();
        let options = nomina::CrossEntropyOptions {
            ignore_index: -1,
            ..default()
        };
        let loss = scores
            .cross_entropy_with(&labels, Class, nomina::reduction::Sum, options)
            .item();
        losses.update_weighted(f64::from(loss) / kept.max(1) as f64, kept as f64);
    }
    let samples = samples();
    let entropy = samples.iter().map(|(scores, label)| {
        scores.iter().map(|score| score.exp()).sum::<f64>().ln() - scores[*label]
    });
    let wanted = entropy.sum::<f64>() / samples.len() as f64;
    // Losses are computed in f32.
    assert!(
        (perplexity.value() - wanted.exp()).abs() < 1e-5,
        "{}",
        perplexity.value()
    );
    assert!((losses.value() - wanted).abs() < 1e-6);
    assert_eq!(losses.count(), samples.len() as f64);

    // Half precision is no worse than its inputs.
    let mut half = Perplexity::new(Class).ignoring(-1);
    for (scores, labels) in batches() {
        half.update(&scores.to::<bf16>(), &labels);
    }
    assert!((half.value() / wanted.exp() - 1.0).abs() < 5e-3);

    let mut mean = Mean::default();
    assert!(mean.value().is_nan());
    mean.update_all(&tensor!([1.0, 2.0, 6.0]; N));
    mean.update(1.0, 3);
    assert_eq!((mean.value(), mean.count()), (2.0, 6.0));
    let other = mean;
    mean.merge(&other);
    assert_eq!((mean.value(), mean.count()), (2.0, 12.0));
    mean.reset();
    assert_eq!(mean, Mean::default());
}

#[test]
fn errors_of_numbers_are_those_of_all_batches_at_once() {
    let mut generator = Generator::new(9);
    let mut errors = RegressionErrors::default();
    let mut all = Vec::new();
    for size in [7, 1, 0, 12] {
        // A large mean, at which a sum of squares would cancel.
        let mut draw = || {
            let options = Tensor::<(N, T)>::options().dtype::<f64>();
            options.generator(&mut generator).randn([size, 3]) + 1e8
        };
        let (predictions, targets) = (draw(), draw());
        errors.update(&predictions, &targets);
        all.extend(predictions.to_vec().into_iter().zip(targets.to_vec()));
    }
    let count = all.len() as f64;
    let mean = all.iter().map(|(_, target)| target - 1e8).sum::<f64>() / count + 1e8;
    let sum = |f: &dyn Fn(f64, f64) -> f64| all.iter().map(|&(a, b)| f(a, b)).sum::<f64>();
    close(errors.mean_absolute(), sum(&|a, b| (a - b).abs()) / count);
    let squared = sum(&|a, b| (a - b).powi(2));
    close(errors.mean_squared(), squared / count);
    close(errors.root_mean_squared(), (squared / count).sqrt());
    let wanted = 1.0 - squared / sum(&|_, b| (b - mean).powi(2));
    assert!(
        (errors.r2() - wanted).abs() < 1e-6,
        "{} and {wanted}",
        errors.r2()
    );
    assert_eq!(errors.count(), 60);

    let mut same = RegressionErrors::default();
    assert!(same.r2().is_nan() && same.mean_squared().is_nan());
    same.update(&tensor!([1.0, 1.0]; N), &tensor!([1, 1]; N));
    assert_eq!(same.r2(), 1.0);
    same.update(&tensor!([2.0]; N), &tensor!([1]; N));
    assert_eq!(same.r2(), 0.0);
    assert!(
        same.try_update(&tensor!([2.0]; N), &tensor!([1, 2]; N))
            .is_err()
    );
    same.reset();
    assert_eq!(same, RegressionErrors::default());
}
