//! Types of files by their bytes, by magika.

use nomina::prelude::*;
use nomina_onnx::Model;

dims! {
    /// Files that are classified at once.
    pub File,
    /// The first bytes of a file, and the last ones.
    pub Byte = 2048,
    /// Types of files.
    pub Kind,
}

/// Bytes of each end that the model sees.
const ENDS: usize = 1024;
/// Bytes of each end in which spaces are skipped.
const BLOCK: usize = 4096;
/// The number for a position beyond the end of a file.
const NO_BYTE: i32 = 256;
/// The fewest bytes from which a type is inferred.
const LEAST: usize = 8;
/// The score from which on a type is believed, unless it is one of [`THRESHOLDS`].
const THRESHOLD: f64 = 0.5;

/// Types that are believed from another score on.
const THRESHOLDS: &[(&str, f64)] = &[
    ("crt", 0.9),
    ("handlebars", 0.9),
    ("ignorefile", 0.95),
    ("latex", 0.95),
    ("markdown", 0.75),
    ("ocaml", 0.9),
    ("pascal", 0.95),
    ("r", 0.9),
    ("rst", 0.9),
    ("sql", 0.9),
    ("tsv", 0.9),
    ("zig", 0.9),
];

/// The names of the types, in the order of the model.
const KINDS: &str = include_str!("kinds.txt");

/// Returns the numbers that the model takes: the first and the last bytes without spaces around them. `None` if the file is too short
/// for the model.
pub fn features(bytes: &[u8]) -> Option<Vec<i32>> {
    let start = python_trim_start(&bytes[..bytes.len().min(BLOCK)]);
    let end = python_trim_end(&bytes[bytes.len().saturating_sub(BLOCK)..]);
    let (start, end) = (
        &start[..start.len().min(ENDS)],
        &end[end.len().saturating_sub(ENDS)..],
    );
    if bytes.len() < LEAST || start.len() < LEAST {
        return None;
    }
    let mut all = vec![NO_BYTE; 2 * ENDS];
    let fill = |to: &mut [i32], from: &[u8]| {
        to.iter_mut()
            .zip(from)
            .for_each(|(to, &byte)| *to = i32::from(byte));
    };
    fill(&mut all, start);
    fill(&mut all[2 * ENDS - end.len()..], end);
    Some(all)
}

/// Whether Python's `bytes.strip` removes a byte.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

fn python_trim_start(bytes: &[u8]) -> &[u8] {
    let first = bytes.iter().position(|&byte| !is_space(byte));
    &bytes[first.unwrap_or(bytes.len())..]
}

fn python_trim_end(bytes: &[u8]) -> &[u8] {
    let last = bytes.iter().rposition(|&byte| !is_space(byte));
    &bytes[..last.map_or(0, |last| last + 1)]
}

/// The type of a file, and the model's score for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Guess {
    /// The type; `text` or `unknown` if the model is not sure.
    pub kind: &'static str,
    /// The score, from 0 to 1.
    pub score: f64,
}

/// Returns the type that a model's scores mean.
pub fn guess(scores: &Tensor<(Kind,)>) -> Guess {
    let best = scores.argmax(Kind).item() as usize;
    let score = f64::from(scores.select(Kind, best).item());
    let line = KINDS.lines().nth(best).unwrap_or("unknown");
    let (kind, general) = line.split_once(' ').unwrap_or((line, "unknown"));
    let threshold = THRESHOLDS.iter().find(|one| one.0 == kind);
    let kind = if score >= threshold.map_or(THRESHOLD, |one| one.1) {
        kind
    } else {
        general
    };
    let kind = match kind {
        "randombytes" => "unknown",
        "randomtxt" => "txt",
        kind => kind,
    };
    Guess { kind, score }
}

/// Returns the type of each file, or an error of the model.
pub fn classify(model: &Model, files: &[Vec<u8>]) -> Result<Vec<Guess>> {
    let features: Vec<_> = files.iter().map(|bytes| features(bytes)).collect();
    let known: Vec<i32> = features.iter().flatten().flatten().copied().collect();
    let count = known.len() / (2 * ENDS);
    let mut scored = Vec::new();
    if count > 0 {
        let bytes: Tensor<(File, Byte), i32> = Tensor::from_vec(known, [count, 2 * ENDS])?;
        let outputs = model.run([("bytes", &bytes.to_dyn().drop_names())])?;
        let scores = outputs.get("target_label")?.rename(["File", "Kind"])?;
        let scores: Tensor<(File, Kind)> = scores.typed()?;
        scored.extend((0..count).map(|file| guess(&scores.select(File, file))));
    }
    let mut scored = scored.into_iter();
    let all = files
        .iter()
        .zip(&features)
        .map(|(bytes, features)| match features {
            Some(_) => scored.next(),
            None => Some(few_bytes(bytes)),
        });
    Ok(all.flatten().collect())
}

/// Returns the type of a file that is too short for the model.
fn few_bytes(bytes: &[u8]) -> Guess {
    let kind = match bytes {
        [] => "empty",
        _ if std::str::from_utf8(bytes).is_ok() => "txt",
        _ => "unknown",
    };
    Guess { kind, score: 1.0 }
}
