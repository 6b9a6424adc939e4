//! Stretches of speech, from the probability of speech in each block of samples: the rules of silero-vad's own Python.

use std::ops::Range;

/// A block begins speech from this probability on.
const THRESHOLD: f64 = 0.5;
/// A block ends speech below this probability.
const END_THRESHOLD: f64 = THRESHOLD - 0.15;
/// Seconds: shorter speech is dropped.
const LEAST_SPEECH: f64 = 0.25;
/// Seconds: a shorter pause is part of the speech.
const LEAST_PAUSE: f64 = 0.1;
/// Seconds that are added at both ends.
const MARGIN: f64 = 0.03;

/// Returns the samples of each stretch of speech, of `samples` at `rate` a second in blocks of `block`.
pub fn segments(
    probabilities: &[f64],
    block: usize,
    samples: usize,
    rate: usize,
) -> Vec<Range<usize>> {
    let count = |seconds: f64| (seconds * rate as f64).round() as usize;
    let mut all: Vec<Range<usize>> = Vec::new();
    let (mut start, mut pause): (Option<usize>, Option<usize>) = (None, None);
    for (at, &probability) in probabilities.iter().enumerate() {
        let now = at * block;
        let Some(from) = start else {
            start = (probability >= THRESHOLD).then_some(now);
            continue;
        };
        if probability >= THRESHOLD {
            pause = None;
        } else if probability < END_THRESHOLD {
            let end = *pause.get_or_insert(now);
            if now - end >= count(LEAST_PAUSE) {
                if end - from > count(LEAST_SPEECH) {
                    all.push(from..end);
                }
                (start, pause) = (None, None);
            }
        }
    }
    if let Some(from) = start
        && samples - from > count(LEAST_SPEECH)
    {
        all.push(from..samples);
    }
    widen(&mut all, count(MARGIN), samples);
    all
}

/// Adds a margin at both ends of each stretch; stretches that are nearer share the pause between them.
fn widen(all: &mut [Range<usize>], margin: usize, samples: usize) {
    if let Some(first) = all.first_mut() {
        first.start = first.start.saturating_sub(margin);
    }
    for at in 0..all.len() {
        let Some(next) = all.get(at + 1).map(|next| next.start) else {
            all[at].end = samples.min(all[at].end + margin);
            continue;
        };
        let half = margin.min((next - all[at].end) / 2);
        all[at].end += half;
        all[at + 1].start -= half;
    }
}
