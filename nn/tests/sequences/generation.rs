//! Caches of keys and values, sampling, generation.

use std::collections::BTreeMap;

use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::layers::{Past, TransformerEncoder, TransformerOptions};
use nomina_nn::prelude::*;
use nomina_nn::try_generate;

dims! { N, Seq, Hidden, Head, Feature, Inner, Word }

type Cache = KeyValueCache<(N, Head, Past, Feature)>;

const CLOSE: CloseOptions = CloseOptions {
    rtol: 1e-5,
    atol: 1e-5,
    equal_nan: false,
};

const CAUSAL: Attention = Attention {
    causal: true,
    rotary: Some(10_000.0),
    dropout: 0.0,
};

fn attention() -> MultiHeadAttention<Seq, Hidden, Head, Feature> {
    MultiHeadAttention::grouped(Hidden.of(8), Head.of(4), Feature.of(2), 2)
}

#[test]
fn attention_with_a_cache_is_that_without() {
    with_seed(1, || {
        let layer = attention();
        let x = Tensor::<(N, Seq, Hidden)>::randn([2, 40, 8]);
        let whole = layer.forward(&x, CAUSAL);
        // Single steps, parts, and a prompt: the cache grows several times.
        for parts in [vec![1; 40], vec![3, 17, 1, 1, 18], vec![25, 1, 14]] {
            let mut cache = Cache::new();
            let mut start = 0;
            for part in parts {
                let own = x.narrow(Seq, start..start + part);
                let y = no_grad(|| layer.forward_cached(&own, &mut cache, CAUSAL));
                assert!(y.allclose_with(&whole.narrow(Seq, start..start + part), CLOSE));
                start += part;
                assert_eq!((cache.len(), cache.seen()), (start, start));
            }
            let keys = cache.keys().unwrap();
            assert_eq!(keys.shape(), [2, 2, 40, 2]);
            // Back to the tenth position, and on from there.
            cache.truncate(10);
            let y = no_grad(|| layer.forward_cached(&x.narrow(Seq, 10..12), &mut cache, CAUSAL));
            assert!(y.allclose_with(&whole.narrow(Seq, 10..12), CLOSE));
            // The keys that were lent out did not change.
            assert!(
                keys.narrow(Past, 0..12)
                    .allclose_with(&cache.keys().unwrap(), CLOSE)
            );
            cache.clear();
            assert!(cache.is_empty() && cache.keys().is_none());
        }
    });
}

#[test]
fn gradients_reach_positions_in_the_cache() {
    with_seed(2, || {
        let layer = attention();
        let x = Tensor::<(N, Seq, Hidden)>::randn([2, 6, 8]);
        layer.forward(&x, CAUSAL).square().sum(..).backward();
        let wanted: Vec<DynTensor> = layer
            .params()
            .iter()
            .map(|(_, p)| p.grad().unwrap())
            .collect();
        layer.zero_grad();
        let mut cache = Cache::new();
        let first = layer.forward_cached(&x.narrow(Seq, ..4), &mut cache, CAUSAL);
        let second = layer.forward_cached(&x.narrow(Seq, 4..), &mut cache, CAUSAL);
        (first.square().sum(..) + second.square().sum(..)).backward();
        for ((_, param), wanted) in layer.params().iter().zip(&wanted) {
            let far = param.grad().unwrap().sub(wanted).unwrap().abs().unwrap();
            assert!(far.max(..).unwrap().to_vec::<f32>().unwrap()[0] < 1e-3);
        }
    });
}

#[test]
fn a_limited_cache_keeps_the_last_positions() {
    with_seed(3, || {
        let layer = attention();
        let x = Tensor::<(N, Seq, Hidden)>::randn([1, 30, 8]);
        let mut cache = Cache::with_limit(4);
        for at in 0..30_usize {
            let y =
                no_grad(|| layer.forward_cached(&x.narrow(Seq, at..at + 1), &mut cache, CAUSAL));
            // Rotary positions depend on distances alone.
            let seen = layer.forward(&x.narrow(Seq, at.saturating_sub(3)..at + 1), CAUSAL);
            assert!(
                y.select(Seq, 0).allclose_with(&seen.select(Seq, -1), CLOSE),
                "{at}"
            );
        }
        assert_eq!((cache.len(), cache.seen()), (4, 30));
        let other = Tensor::<(N, Seq, Hidden)>::randn([2, 1, 8]);
        let error = layer
            .try_forward_cached(&other, &mut cache, CAUSAL)
            .unwrap_err();
        assert!(error.to_string().contains("cache"), "{error}");
    });
}

#[test]
fn padding_on_the_left_is_masked() {
    with_seed(4, || {
        let layer = attention();
        let x = Tensor::<(N, Seq, Hidden)>::randn([2, 5, 8]);
        // The second sequence begins at the third position.
        let counts = tensor!([[true; 5], [false, false, true, true, true]]; N, Past);
        let mut cache = Cache::new();
        let mut y = Vec::new();
        for (from, to) in [(0, 3), (3, 5)] {
            let counts = counts.narrow(Past, 0..to);
            let own = x.narrow(Seq, from..to);
            y.push(layer.forward_cached_masked(&own, &counts, &mut cache, CAUSAL));
        }
        let last = y[1].select(N, 1);
        let alone = layer.forward(&x.select(N, 1).narrow(Seq, 2..), CAUSAL);
        assert!(last.allclose_with(&alone.narrow(Seq, 1..), CLOSE));
        assert!(y[1].select(N, 0).allclose_with(
            &layer.forward(&x, CAUSAL).select(N, 0).narrow(Seq, 3..),
            CLOSE
        ));
    });
}

/// A language model of Transformer layers.
struct Model {
    words: Embedding<Word, Hidden>,
    layers: TransformerEncoder<Seq, Hidden, Head, Feature, Inner>,
    scores: Linear<Hidden, Word>,
}

impl Model {
    fn new() -> Self {
        let options = TransformerOptions {
            norm_first: true,
            final_norm: true,
            causal: true,
            rotary: Some(100.0),
            ..default()
        };
        let (hidden, feature) = (Hidden.of(8), Feature.of(4));
        Self {
            words: Embedding::new(Word.of(11), hidden),
            layers: TransformerEncoder::new(2, hidden, Head.of(2), feature, Inner.of(16), options),
            scores: Linear::new(hidden, Word.of(11)),
        }
    }

    fn next(&self, ids: &Tensor<(N, Seq), i64>, caches: Option<&mut [Cache]>) -> Tensor<(N, Word)> {
        let x = self.words.forward(ids);
        let x = match caches {
            None => self.layers.forward(&x, Mode::Eval),
            Some(caches) => self.layers.forward_cached(&x, caches, Mode::Eval),
        };
        self.scores.forward(&x.select(Seq, -1))
    }
}

#[test]
fn generation_with_a_cache_is_that_without() {
    with_seed(5, || {
        let model = Model::new();
        let prompt: Tensor<(N, Seq), i64> = tensor!([[1, 2, 3], [4, 5, 6]]; N, Seq);
        let sampling = Sampling {
            temperature: 0.9,
            top_k: Some(7),
            repetition_penalty: 1.2,
            seed: Some(8),
            ..default()
        };
        let mut caches = vec![Cache::new(); 2];
        let mut sizes = Vec::new();
        let fast = generate(&prompt, Seq, Word, sampling, |ids| {
            sizes.push(ids.size(Seq));
            model.next(ids, Some(&mut caches))
        });
        let fast: Vec<Vec<i64>> = fast.take(20).map(|ids| ids.to_vec()).collect();
        // A step after the prompt costs one position.
        assert_eq!(sizes, [&[3][..], &[1; 19]].concat());
        let mut all = prompt.clone();
        let mut is_first = true;
        let slow = generate(&prompt, Seq, Word, sampling, |ids| {
            if !std::mem::take(&mut is_first) {
                all = cat(&[&all, ids], Seq);
            }
            model.next(&all, None)
        });
        let slow: Vec<Vec<i64>> = slow.take(20).map(|ids| ids.to_vec()).collect();
        assert_eq!(fast, slow);
        assert!(fast.iter().flatten().all(|id| (0..11).contains(id)));
        // The scores of both ways are equal to 1e-5.
        let mut caches = vec![Cache::new(); 2];
        no_grad(|| {
            for len in 1..=all.size(Seq) {
                let step = model.next(&all.narrow(Seq, len - 1..len), Some(&mut caches));
                assert!(step.allclose_with(&model.next(&all.narrow(Seq, ..len), None), CLOSE));
            }
        });
        let short = &mut caches[..1];
        let x = model.words.forward(&prompt);
        assert!(
            model
                .layers
                .try_forward_cached(&x, short, Mode::Eval)
                .is_err()
        );
    });
}

#[test]
fn a_failing_model_ends_the_text() {
    let prompt: Tensor<(Seq,), i64> = tensor!([1]; Seq);
    let mut calls = 0;
    let scores = tensor!([0., 1.]; Word);
    let text = try_generate(&prompt, Seq, Word, Sampling::greedy(), |_| {
        calls += 1;
        if calls == 3 {
            return scores.try_narrow(Word, 0..3);
        }
        Ok(scores.clone())
    });
    let text: Vec<_> = text.unwrap().collect();
    assert!(text.len() == 3 && text[1].is_ok() && text[2].is_err());
    // Scores at all positions are not those of the next token.
    let scores = Tensor::<(Seq, Word)>::zeros([1, 2]);
    let mut text = try_generate(&prompt, Seq, Word, Sampling::greedy(), |_| {
        Ok(scores.clone())
    })
    .unwrap();
    let error = text.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("select(Seq, -1)"), "{error}");
}

fn scores() -> Tensor<(Word,)> {
    tensor!([1.0, 3.0, -1.0, 2.5, 0.0, 2.0, -0.5, 1.5, 2.9, -4.0, 0.7]; Word)
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let sum: f64 = scores.iter().map(|score| score.exp()).sum();
    scores.iter().map(|score| score.exp() / sum).collect()
}

/// The probabilities by the options' definitions.
fn plain(scores: &[f64], sampling: Sampling, seen: &[usize]) -> Vec<f64> {
    let mut scores = scores.to_vec();
    let mut done = Vec::new();
    for &id in seen {
        if !done.contains(&id) {
            done.push(id);
            let penalty = sampling.repetition_penalty;
            scores[id] = if scores[id] > 0.0 {
                scores[id] / penalty
            } else {
                scores[id] * penalty
            };
        }
    }
    scores
        .iter_mut()
        .for_each(|score| *score /= sampling.temperature);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
    order.truncate(sampling.top_k.unwrap_or(scores.len()));
    let kept: Vec<f64> = order.iter().map(|&id| scores[id]).collect();
    let chances = softmax(&kept);
    let mut count = chances.len();
    if let Some(p) = sampling.top_p {
        let mut mass = 0.0;
        count = 0;
        while count < chances.len() && (count == 0 || mass < p) {
            mass += chances[count];
            count += 1;
        }
    }
    if let Some(p) = sampling.min_p {
        count = count.min(
            chances
                .iter()
                .filter(|&&chance| chance >= p * chances[0])
                .count(),
        );
    }
    let last = softmax(&kept[..count]);
    let mut found = vec![0.0; scores.len()];
    order
        .iter()
        .zip(&last)
        .for_each(|(&id, &chance)| found[id] = chance);
    found
}

#[test]
fn samples_have_the_probabilities_of_their_options() {
    let all: Vec<f64> = scores().to_vec().into_iter().map(f64::from).collect();
    let seen: Tensor<(Seq,), i64> = tensor!([1, 2, 1]; Seq);
    let base = Sampling {
        seed: Some(6),
        ..default()
    };
    let cases = [
        base,
        Sampling {
            temperature: 0.5,
            ..base
        },
        Sampling {
            top_k: Some(3),
            ..base
        },
        Sampling {
            top_k: Some(100),
            ..base
        },
        Sampling {
            top_p: Some(0.6),
            ..base
        },
        Sampling {
            top_p: Some(0.0),
            ..base
        },
        Sampling {
            top_p: Some(1.0),
            ..base
        },
        Sampling {
            min_p: Some(0.3),
            ..base
        },
        Sampling {
            repetition_penalty: 1.7,
            ..base
        },
        Sampling {
            repetition_penalty: 1.3,
            temperature: 1.4,
            top_k: Some(6),
            top_p: Some(0.8),
            min_p: Some(0.2),
            ..base
        },
    ];
    for sampling in cases {
        let mut sampler = TokenSampler::new(sampling);
        let wanted = plain(&all, sampling, &[1, 2, 1]);
        let found = sampler
            .probabilities_after(&scores(), Word, &seen, Seq)
            .to_vec();
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((f64::from(*found) - wanted).abs() < 1e-5, "{sampling:?}");
        }
        // A batch of equal rows draws many times at once.
        const DRAWS: usize = 20_000;
        let rows: Tensor<(N, Word)> = scores().expand((N.of(DRAWS), Word.of(11)));
        let mut counts = BTreeMap::new();
        for id in sampler.sample_after(&rows, Word, &seen, Seq).to_vec() {
            *counts.entry(id as usize).or_insert(0) += 1;
        }
        for (id, chance) in wanted.iter().enumerate() {
            let count = f64::from(counts.get(&id).copied().unwrap_or(0));
            let mean = DRAWS as f64 * chance;
            let bound = 5.0 * (mean * (1.0 - chance)).sqrt();
            assert!(
                (count - mean).abs() <= bound,
                "{sampling:?}, {id}: {count}, {mean}"
            );
        }
    }
}

#[test]
fn the_sets_that_are_drawn_from_are_those_of_their_definition() {
    let count = |sampling: Sampling| {
        let chances = TokenSampler::new(sampling).probabilities(&scores(), Word);
        chances
            .to_vec()
            .iter()
            .filter(|chance| **chance > 0.0)
            .count()
    };
    for k in 1..=11 {
        assert_eq!(
            count(Sampling {
                top_k: Some(k),
                ..default()
            }),
            k
        );
    }
    let mut chances = scores().softmax(Word).to_vec();
    chances.sort_by(|a, b| b.total_cmp(a));
    for p in [0.1_f32, 0.3, 0.5, 0.77, 0.9, 0.99] {
        let kept = count(Sampling {
            top_p: Some(f64::from(p)),
            ..default()
        });
        assert!(chances[..kept].iter().sum::<f32>() >= p);
        assert!(chances[..kept - 1].iter().sum::<f32>() < p);
    }
    // Equal scores: exactly k remain.
    let equal = Tensor::<(Word,)>::zeros([9]);
    let two = Sampling {
        top_k: Some(2),
        ..default()
    };
    let chances = TokenSampler::new(two).probabilities(&equal, Word).to_vec();
    assert_eq!(chances.iter().filter(|chance| **chance == 0.5).count(), 2);
}

#[test]
fn a_seed_says_which_tokens() {
    let draw = |seed: Option<u64>| {
        let mut sampler = TokenSampler::new(Sampling { seed, ..default() });
        (0..30)
            .map(|_| sampler.sample(&scores(), Word).item())
            .collect::<Vec<i64>>()
    };
    assert_eq!(draw(Some(1)), draw(Some(1)));
    assert_ne!(draw(Some(1)), draw(Some(2)));
    let draw_by_default = || with_seed(3, || draw(None));
    assert_eq!(draw_by_default(), draw_by_default());
    let greedy = TokenSampler::new(Sampling::greedy()).sample(&scores(), Word);
    assert_eq!(greedy.item(), 1);
    let half = scores().to::<f64>();
    assert_eq!(
        TokenSampler::new(Sampling::greedy())
            .sample(&half, Word)
            .item(),
        1
    );
    let wrong = [
        Sampling {
            temperature: -1.0,
            ..default()
        },
        Sampling {
            temperature: f64::NAN,
            ..default()
        },
        Sampling {
            top_k: Some(0),
            ..default()
        },
        Sampling {
            top_p: Some(1.5),
            ..default()
        },
        Sampling {
            min_p: Some(-0.1),
            ..default()
        },
        Sampling {
            repetition_penalty: 0.0,
            ..default()
        },
    ];
    for wrong in wrong {
        assert!(TokenSampler::try_new(wrong).is_err(), "{wrong:?}");
    }
}
