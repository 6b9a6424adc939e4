//! A tiny encoder of the same code with random weights, against PyTorch's embeddings (`scripts/record/minilm.py`).

#[path = "../model.rs"]
mod model;

use std::path::Path;

use model::{Config, Encoder, Hidden, MINILM, N, Seq};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;
use nomina_nn::prelude::*;

const TINY: Config = Config {
    words: 40,
    positions: 12,
    hidden: 16,
    heads: 4,
    inner: 24,
    layers: 2,
};

fn data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data")
}

fn rows(of: &serde_json::Value) -> Vec<f64> {
    let rows = of.as_array().expect("rows").iter();
    let all = rows.flat_map(|row| row.as_array().expect("a row"));
    all.map(|number| number.as_f64().expect("a number"))
        .collect()
}

#[test]
fn embeddings_are_pytorchs() {
    let file = SafeTensors::open(data().join("tiny.safetensors")).unwrap();
    let mut model = Encoder::unset(TINY);
    model.load(model.state_in(&file).unwrap());
    let recorded = std::fs::read_to_string(data().join("tiny.json")).unwrap();
    let recorded: serde_json::Value = serde_json::from_str(&recorded).unwrap();
    let ids = rows(&recorded["ids"])
        .into_iter()
        .map(|id| id as i64)
        .collect();
    let ids: Tensor<(N, Seq), i64> = Tensor::from_vec(ids, [3, 7]).unwrap();
    let mask = rows(&recorded["mask"])
        .into_iter()
        .map(|one| one == 1.0)
        .collect();
    let mask: Tensor<(N, Seq), bool> = Tensor::from_vec(mask, [3, 7]).unwrap();
    let wanted = rows(&recorded["embeddings"])
        .into_iter()
        .map(|x| x as f32)
        .collect();
    let wanted: Tensor<(N, Hidden)> = Tensor::from_vec(wanted, [3, 16]).unwrap();
    let close = CloseOptions {
        atol: 2e-6,
        rtol: 0.0,
        ..default()
    };
    let found = no_grad(|| model.embed(&ids, &mask));
    assert!(found.allclose_with(&wanted, close), "{found}\n{wanted}");
    // With recording, and backward to every weight.
    let recorded = model.embed(&ids, &mask);
    assert!(recorded.allclose_with(&wanted, close));
    recorded.sum(..).backward();
    assert!(
        model
            .params()
            .iter()
            .all(|(_, param)| param.grad().is_some())
    );
    // The embedding of a sentence does not depend on the others in its batch.
    let alone = model.embed(
        &ids.narrow(N, 1..2).narrow(Seq, 0..5),
        &mask.narrow(N, 1..2).narrow(Seq, 0..5),
    );
    assert!(alone.allclose_with(&wanted.narrow(N, 1..2), close));
}

#[test]
fn every_tensor_of_the_file_has_its_place() {
    let model = Encoder::unset(MINILM);
    assert_eq!(model.paths().len(), 101);
    assert_eq!(model.count(), 22_565_376);
}
