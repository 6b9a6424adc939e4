//! Models train on a device as on the host. With a pack of precompiled kernels, no compiler is needed.

#[path = "../examples/nn/charlm/model.rs"]
#[allow(dead_code, reason = "the example writes text too")]
mod charlm;
#[path = "cuda_models/gpt.rs"]
mod gpt;
#[path = "cuda_models/half.rs"]
mod halves;
#[path = "cuda/here.rs"]
mod here;
#[path = "cuda/sample.rs"]
mod sample;

use here::{DEVICE, device};
use nomina::Device;
use nomina::prelude::*;
use nomina_nn::optim::{AdamOptions, SgdOptions};
use nomina_nn::prelude::*;

dims! { N, Seq, Pixel, Hidden, Class, Chan, Plane, H, W }

const STEPS: u64 = 3;

/// Asserts that the losses of some steps agree on the device and the host, up to rounding.
fn same(losses: impl Fn(Device) -> Vec<f32>) {
    within(2e-3, losses);
}

/// Like [`same`], but with the given relative tolerance.
fn within(share: f32, losses: impl Fn(Device) -> Vec<f32>) {
    let (found, wanted) = (losses(DEVICE), losses(Device::Cpu));
    println!("losses {found:?} on the device, {wanted:?} on the host");
    assert!(
        wanted[1..]
            .iter()
            .all(|loss| (loss - wanted[0]).abs() > 1e-4)
    );
    for (found, wanted) in found.iter().zip(&wanted) {
        assert!((found - wanted).abs() < share * (1.0 + wanted.abs()));
        here::cases(1);
    }
}

#[test]
fn a_gpt_of_characters() {
    let _here = device!(&[&[]]);
    let text = charlm::Text::new(&"the rose and the thorn. ".repeat(100), 64);
    let config = charlm::Config {
        hidden: 32,
        heads: 2,
        layers: 2,
    };
    same(|device| {
        manual_seed(1);
        let mut model = charlm::CharLm::new(text.alphabet.len(), config);
        model.to_device(device);
        let mut optimizer = AdamW::with(AdamOptions {
            lr: 3e-3,
            ..AdamOptions::adamw()
        });
        let mut step = |step| {
            let (ids, next) = text.batch(4, 16, step);
            let loss = model.loss(&(ids.to_device(device), next.to_device(device)));
            loss.backward();
            clip_grad_norm(&model, 1.0);
            optimizer.step(&mut model);
            loss.item()
        };
        (0..STEPS).map(&mut step).collect()
    });
}

#[derive(Module)]
struct Convolutions {
    first: Conv2d<(H, W), Chan, Plane>,
    norm: BatchNorm<Plane>,
    dropout: Dropout,
    scores: Linear<(Plane, H, W), Class>,
}

#[test]
fn convolutions() {
    let _here = device!(&[&[]]);
    manual_seed(2);
    let x = Tensor::<(N, Chan, H, W)>::randn([8, 3, 12, 12]);
    let labels = Tensor::<(N,), i64>::randint(0..5, [8]);
    same(|device| {
        manual_seed(3);
        let options = ConvOptions {
            padding: Padding::Same,
            ..default()
        };
        let mut model = Convolutions {
            first: Conv2d::with(Chan.of(3), Plane.of(8), (H.of(3), W.of(3)), options),
            norm: BatchNorm::new(Plane.of(8)),
            dropout: Dropout::new(0.2),
            scores: Linear::new((Plane.of(8), H.of(6), W.of(6)), Class.of(5)),
        };
        model.to_device(device);
        let (x, labels) = (x.to_device(device), labels.to_device(device));
        let mut optimizer = Sgd::with(SgdOptions {
            lr: 0.05,
            momentum: 0.9,
            ..default()
        });
        let mut step = |_| {
            let planes = model.first.forward(&x);
            let planes = model.norm.forward(&planes, Mode::Train).relu();
            let small = planes.max_pool2d((H, W), [2, 2]);
            let scores: Tensor<(N, Class)> = model
                .scores
                .forward(&model.dropout.forward(&small, Mode::Train));
            let loss = scores.cross_entropy(&labels, Class);
            loss.backward();
            optimizer.step(&mut model);
            loss.item()
        };
        (0..STEPS).map(&mut step).collect()
    });
}

#[derive(Module)]
struct Recurrent {
    norm: LayerNorm<Pixel>,
    lstm: Lstm<Seq, Pixel, Hidden>,
    gru: Gru<Seq, Hidden, Plane>,
    out: Linear<Plane, Class>,
}

#[test]
fn recurrent_layers() {
    let _here = device!(&[&[]]);
    manual_seed(4);
    let x = Tensor::<(N, Seq, Pixel)>::randn([4, 6, 8]);
    let wanted = Tensor::<(N, Class)>::randn([4, 3]);
    same(|device| {
        manual_seed(5);
        let mut model = Recurrent {
            norm: LayerNorm::new(Pixel.of(8)),
            lstm: Lstm::new(Pixel.of(8), Hidden.of(16)),
            gru: Gru::new(Hidden.of(16), Plane.of(16)),
            out: Linear::new(Plane.of(16), Class.of(3)),
        };
        model.to_device(device);
        let (x, wanted) = (x.to_device(device), wanted.to_device(device));
        let mut optimizer = Adam::new(0.01);
        let mut step = |_| {
            let states = model.lstm.forward(&model.norm.forward(&x), Mode::Train);
            let states: Tensor<(N, Seq, Plane)> = model.gru.forward(&states, Mode::Train);
            let found: Tensor<(N, Class)> = model.out.forward(&states.select(Seq, -1).gelu());
            let loss = found.mse_loss(&wanted);
            loss.backward();
            optimizer.step(&mut model);
            loss.item()
        };
        (0..STEPS).map(&mut step).collect()
    });
}

#[cfg(feature = "cuda-kernels")]
#[path = "cuda_models/shipped.rs"]
mod shipped;
