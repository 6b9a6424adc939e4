//! A smaller version of the small GPT: its loss falls, and its predictions depend on preceding characters only.

#[path = "../charlm/model.rs"]
mod model;

use model::{CharLm, Config, N, Seq, Text};
use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::init;
use nomina_nn::optim::AdamOptions;
use nomina_nn::prelude::*;

const CONFIG: Config = Config {
    hidden: 32,
    heads: 2,
    layers: 2,
};

/// Trains the smaller GPT for 60 steps. Returns the losses of the steps, and the losses on held-out pages before and after.
fn trained(dtype: DType) -> (Vec<f32>, [f32; 2]) {
    let page = "the rose and the thorn, the thorn and the rose. ".repeat(200);
    let text = Text::new(&page, 64);
    let mut generator = Generator::new(1);
    let mut model =
        init::with_generator(&mut generator, || CharLm::new(text.alphabet.len(), CONFIG));
    let before = text.held_out(&model, 32);
    let mut optimizer = AdamW::with(AdamOptions {
        lr: 3e-3,
        ..AdamOptions::adamw()
    });
    let step = |step| {
        let batch = text.batch(8, 32, step);
        let loss = match dtype {
            DType::F32 => model.loss(&batch),
            dtype => autocast(dtype, || model.loss(&batch)),
        };
        loss.backward();
        clip_grad_norm(&model, 1.0);
        optimizer.step(&mut model);
        loss.item()
    };
    let losses = (0..60).map(step).collect();
    let after = text.held_out(&model, 32);
    assert!(text.sample(&model, "the ", 40, 32).starts_with("the "));
    (losses, [before, after])
}

#[test]
fn a_few_steps_help() {
    let (_, [before, after]) = trained(DType::F32);
    assert!(before > 2.0 && after < 1.0, "{before} to {after}");
}

/// With products in 16 bits, each of 60 losses is that of `f32` to 0.1 % of the first loss, and so is the held-out loss.
#[test]
fn losses_in_16_bits_are_those_of_f32() {
    let (wide, [_, wide_after]) = trained(DType::F32);
    for dtype in [DType::BF16, DType::F16] {
        let (mixed, [_, after]) = trained(dtype);
        let off = wide.iter().zip(&mixed).map(|(x, y)| (x - y).abs());
        let off = off.chain([(wide_after - after).abs()]).fold(0.0, f32::max);
        println!("{dtype}: {off} of {}", wide[0]);
        assert!(0.0 < off && off < 0.001 * wide[0], "{dtype}: {off}");
    }
}

#[test]
fn characters_see_earlier_ones_alone() {
    with_seed(1, || {
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
    });
}

#[test]
fn generation_costs_one_character_a_step() {
    with_seed(2, || {
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
    });
}
