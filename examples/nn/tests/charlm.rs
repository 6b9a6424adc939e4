//! A smaller version of the small GPT: its loss falls, and its predictions depend on preceding characters only.

#[path = "../charlm/model.rs"]
mod model;

use model::{CharLm, Config, N, Seq, Text};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::optim::AdamOptions;
use nomina_nn::prelude::*;

const CONFIG: Config = Config {
    hidden: 32,
    heads: 2,
    layers: 2,
};

#[test]
fn a_few_steps_help() {
    let page = "the rose and the thorn, the thorn and the rose. ".repeat(200);
    let text = Text::new(&page, 64);
    manual_seed(1);
    let mut model = CharLm::new(text.alphabet.len(), CONFIG);
    let before = text.held_out(&model, 32);
    let mut optimizer = AdamW::with(AdamOptions {
        lr: 3e-3,
        ..AdamOptions::adamw()
    });
    for step in 0..60 {
        model.loss(&text.batch(8, 32, step)).backward();
        clip_grad_norm(&model, 1.0);
        optimizer.step(&mut model);
    }
    let after = text.held_out(&model, 32);
    assert!(before > 2.0 && after < 1.0, "{before} to {after}");
    assert!(text.sample(&model, "the ", 40, 32).starts_with("the "));
}

#[test]
fn characters_see_earlier_ones_alone() {
    manual_seed(1);
    let model = CharLm::new(20, CONFIG);
    let ids: Tensor<(N, Seq), i64> = Tensor::randint(0..20, [2, 12]);
    let all = model.forward(&ids).narrow(Seq, 0..5);
    let some = model.forward(&ids.narrow(Seq, 0..5));
    assert!(all.allclose_with(
        &some,
        CloseOptions {
            atol: 1e-5,
            ..default()
        }
    ));
}

#[test]
fn generation_costs_one_character_a_step() {
    manual_seed(2);
    let model = CharLm::new(20, CONFIG);
    let ids: Tensor<(N, Seq), i64> = Tensor::randint(0..20, [2, 30]);
    let all = model.forward(&ids);
    let mut caches = model.caches(30);
    for at in 0..30_usize {
        let step = no_grad(|| model.next(&ids.narrow(Seq, at..at + 1), &mut caches));
        assert!(step.allclose_with(
            &all.select(Seq, at as i64),
            CloseOptions {
                rtol: 1e-5,
                atol: 1e-5,
                ..default()
            }
        ));
    }
}
