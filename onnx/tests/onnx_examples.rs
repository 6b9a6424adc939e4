//! The steps of the examples before and after the models return what the models' own Python packages do, and with the models,
//! the examples do.
//!
//! `scripts/onnx_examples.py` records. Models are not committed: `NOMINA_MODELS=FOLDER`, the folder of
//! `scripts/onnx_models.py fetch`, runs the tests that need them.

#[path = "../examples/read_text/boxes.rs"]
mod boxes;
#[path = "../examples/file_type/classifier.rs"]
mod classifier;
#[path = "../examples/speech/detector.rs"]
mod detector;
#[path = "../examples/read_text/letters.rs"]
mod letters;
#[path = "../examples/read_text/reader.rs"]
mod reader;
#[path = "../examples/speech/segments.rs"]
mod segments;

use std::f64::consts::TAU;
use std::path::Path;

use boxes::{H, W};
use letters::{Column, Letter};
use nomina::prelude::*;
use nomina_onnx::Model;
use serde_json::Value;

/// Returns the recorded results of the Python packages.
fn recorded(part: &str) -> Value {
    let all: Value = serde_json::from_str(include_str!("data/examples.json")).unwrap();
    all[part].clone()
}

/// The file of a model, if it is there.
fn model(name: &str) -> Option<String> {
    let folder = std::env::var("NOMINA_MODELS").ok()?;
    let path = format!("{folder}/{name}/model.onnx");
    assert!(Path::new(&path).exists(), "{path} is missing");
    Some(path)
}

fn floats(value: &Value) -> Vec<f64> {
    let all = value.as_array().unwrap().iter();
    all.map(|x| x.as_f64().unwrap()).collect()
}

fn integers(value: &Value) -> Vec<usize> {
    floats(value).into_iter().map(|x| x as usize).collect()
}

/// A matrix of `f32`: its elements and sizes.
fn matrix(value: &Value) -> (Vec<f32>, [usize; 2]) {
    let rows: Vec<Vec<f64>> = value.as_array().unwrap().iter().map(floats).collect();
    let sizes = [rows.len(), rows[0].len()];
    (rows.concat().into_iter().map(|x| x as f32).collect(), sizes)
}

#[test]
fn speech_has_the_segments_of_silero_vad() {
    let cases = recorded("speech")["cases"].clone();
    let mut found = 0;
    for case in cases.as_array().unwrap() {
        let number = |key: &str| case[key].as_u64().unwrap() as usize;
        let (rate, samples) = (number("rate"), number("samples"));
        let block = 512 * rate / 16_000;
        let own = segments::segments(&floats(&case["probabilities"]), block, samples, rate);
        let own: Vec<Vec<usize>> = own.iter().map(|own| vec![own.start, own.end]).collect();
        let wanted = case["segments"].as_array().unwrap();
        let wanted: Vec<Vec<usize>> = wanted.iter().map(integers).collect();
        assert_eq!(own, wanted, "{case}");
        found += wanted.len();
    }
    assert!(found > 8);
}

/// Two seconds: a voice-like sum of harmonics between silences, as in `scripts/onnx_examples.py`.
fn sound() -> Vec<f32> {
    let sample = |at: usize| {
        let time = at as f64 / 16_000.0;
        let harmonics = (1..30).map(|harmonic| {
            let pitch = 120.0 * f64::from(harmonic);
            let formants =
                [700.0, 1220.0, 2600.0].map(|f| (-((pitch - f) / 120.0_f64).powi(2)).exp());
            let vibrato = 3.0 * (TAU * 5.0 * time).sin() * f64::from(harmonic) / 10.0;
            formants.iter().sum::<f64>() * (TAU * pitch * time + vibrato).sin()
        });
        let is_loud = time > 0.4 && time < 1.5;
        let loud = if is_loud {
            0.5 + 0.5 * (TAU * 4.0 * time).sin()
        } else {
            0.0
        };
        (0.1 * loud * harmonics.sum::<f64>()) as f32
    };
    (0..32_000).map(sample).collect()
}

#[test]
fn speech_has_the_probabilities_of_onnxruntime() -> Result<()> {
    let wanted = floats(&recorded("speech")["probabilities"]);
    assert_eq!(wanted.len(), 63);
    let Some(path) = model("silero_vad__data_silero_vad") else {
        return Ok(());
    };
    let detector = detector::Detector::open(&path, 16_000)?;
    let own = detector.probabilities(&sound())?;
    for (at, (own, wanted)) in own.iter().zip(&wanted).enumerate() {
        assert!(
            (own - wanted).abs() < 1e-3,
            "block {at}: {own} and not {wanted}"
        );
    }
    assert_eq!(own.len(), wanted.len());
    assert!(detector::Detector::open(&path, 44_100).is_err());
    Ok(())
}

/// The bytes of a file as they are recorded.
fn bytes(case: &Value) -> Vec<u8> {
    let text = case["bytes"].as_str().unwrap();
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

#[test]
fn files_have_the_features_of_magika() {
    for case in recorded("file_type").as_array().unwrap() {
        let features = classifier::features(&bytes(case));
        let sum = |weight: fn(u64) -> u64| -> Option<u64> {
            let all = features.as_ref()?.iter().zip(0..);
            Some(all.map(|(&x, at)| x as u64 * weight(at)).sum())
        };
        assert_eq!(sum(|_| 1), case["sum"].as_u64(), "{case}");
        assert_eq!(sum(|at| at + 1), case["weighted"].as_u64(), "{case}");
    }
}

#[test]
fn unsure_scores_are_a_general_type() {
    let guess = |at: usize, score: f32| {
        let scores = Tensor::from_fn([214], |index| if index[0] == at { score } else { 0.0 });
        classifier::guess(&scores).kind
    };
    // `rust` is text, `3gp` is not, and `markdown` has a threshold of its own.
    assert_eq!((guess(156, 0.9), guess(156, 0.4)), ("rust", "txt"));
    assert_eq!((guess(0, 0.9), guess(0, 0.4)), ("3gp", "unknown"));
    assert_eq!((guess(100, 0.8), guess(100, 0.7)), ("markdown", "txt"));
}

#[test]
fn files_have_the_types_of_magika() -> Result<()> {
    let Some(path) = model("magika__models_standard_v3_3_model") else {
        return Ok(());
    };
    let cases = recorded("file_type");
    let cases = cases.as_array().unwrap();
    let files: Vec<Vec<u8>> = cases.iter().map(bytes).collect();
    let all = classifier::classify(&Model::open(path)?, &files)?;
    assert_eq!(all.len(), cases.len());
    for (own, case) in all.iter().zip(cases) {
        assert_eq!(own.kind, case["kind"].as_str().unwrap(), "{case}");
        assert!(
            (own.score - case["score"].as_f64().unwrap()).abs() < 1e-2,
            "{own:?}, {case}"
        );
    }
    Ok(())
}

#[test]
fn lines_have_the_boxes_of_pp_ocr() {
    let recorded = recorded("read_text");
    let (map, sizes) = matrix(&recorded["map"]);
    let map: Tensor<(H, W)> = Tensor::from_vec(map, sizes).unwrap();
    let own: Vec<Vec<usize>> = boxes::lines(&map, [120, 288])
        .into_iter()
        .map(|line| {
            vec![
                line.rows.start,
                line.rows.end,
                line.columns.start,
                line.columns.end,
            ]
        })
        .collect();
    let wanted = recorded["boxes"].as_array().unwrap();
    let wanted: Vec<Vec<usize>> = wanted.iter().map(integers).collect();
    assert_eq!(own.len(), wanted.len(), "{own:?} and not {wanted:?}");
    for (own, wanted) in own.iter().zip(&wanted) {
        // Its polygons have rounded corners and whole numbers.
        let near = own
            .iter()
            .zip(wanted)
            .all(|(own, wanted)| own.abs_diff(*wanted) <= 3);
        assert!(near, "{own:?} and not {wanted:?}");
    }
}

#[test]
fn columns_become_the_text_of_pp_ocr() {
    let recorded = recorded("read_text");
    let (scores, sizes) = matrix(&recorded["scores"]);
    let scores: Tensor<(Column, Letter)> = Tensor::from_vec(scores, sizes).unwrap();
    let (text, score) = letters::text(&scores, &["a", "b", "c", "d"]);
    assert_eq!(text, recorded["text"].as_str().unwrap());
    assert!(
        (score - recorded["score"].as_f64().unwrap()).abs() < 1e-4,
        "{score}"
    );
}

#[test]
fn pictures_are_brought_to_the_sizes_of_the_models() {
    assert_eq!(reader::finder_sizes([150, 420]), [736, 2048]);
    assert_eq!(reader::finder_sizes([1000, 800]), [992, 800]);
    let line = Tensor::from_fn([24, 60, 3], |at| if at[1] < 30 { 0.0 } else { 255.0 });
    let padded = reader::padded_line(&line);
    assert_eq!(padded.shape(), [3, 48, 320]);
    let row = padded.select(reader::Rgb, 0).select(H, 20).to_vec();
    // Black, white, and nothing beyond the line.
    assert_eq!(
        (row[10], row[110], row[119], row[120], row[319]),
        (-1.0, 1.0, 1.0, 0.0, 0.0)
    );
}

#[test]
fn a_page_has_the_text_of_pp_ocr() -> Result<()> {
    let name = |part: &str| {
        model(&format!(
            "rapidocr_onnxruntime__models_ch_PP-OCRv4_{part}_infer"
        ))
    };
    let (Some(finder), Some(reader)) = (name("det"), name("rec")) else {
        return Ok(());
    };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/page.png");
    let picture: DynTensor = nomina_io::png::load(file)?;
    let picture = reader::colours(&picture)?;
    let own = reader::Reader::open(&finder, &reader)?.read(&picture)?;
    let wanted = recorded("read_text")["lines"].clone();
    let wanted = wanted.as_array().unwrap();
    let texts: Vec<&str> = own.iter().map(|line| &line.text[..]).collect();
    assert_eq!(texts.len(), wanted.len(), "{texts:?}");
    for (own, wanted) in own.iter().zip(wanted) {
        assert_eq!(own.text, wanted["text"].as_str().unwrap());
        let rows = integers(&wanted["rows"]);
        assert!(
            own.place.rows.start.abs_diff(rows[0]) <= 6,
            "{own:?} and {wanted}"
        );
        assert!(
            (own.score - wanted["score"].as_f64().unwrap()).abs() < 0.05,
            "{own:?}"
        );
    }
    Ok(())
}
