//! Models with layers of 16-bit floats. The optimizer has `f32` copies of the weights: each step converts the gradients
//! to `f32`, updates the copies and rounds them to the 16-bit weights.

use half::{bf16, f16};
use nomina::dims::{Axes, Dims, Distinct};
use nomina::{Element, Float};
use nomina_nn::Buffer;

use super::*;

dims! { Char, Head, Feature, Inner }

/// The factor of the loss, so that small gradients do not underflow in `f16`.
const SCALE: f64 = 64.0;

fn rounded<D: Dims + Distinct, T: Float>(weight: &Param<D>) -> Param<D, T> {
    Param::new(weight.to::<T>())
}

fn linear<I: Axes, O: Axes, T: Float>(of: &Linear<I, O>) -> Linear<I, O, T>
where
    Weight<I, O>: Distinct,
    O::List: Distinct,
{
    Linear {
        weight: rounded(&of.weight),
        bias: of.bias.as_ref().map(rounded),
    }
}

/// Returns the losses of some steps of `model`, whose weights are those of `whole` converted to `T`.
fn train<A: Module, B: Module, T: Element>(
    (mut whole, mut model): (A, B),
    mut optimize: impl FnMut(&mut A),
    loss: impl Fn(&mut B, u64) -> Tensor<()>,
) -> Vec<f32> {
    let step = |step| {
        let loss = loss(&mut model, step);
        (&loss * SCALE).backward();
        for ((_, param), (_, rounded)) in whole.params().iter().zip(model.params()) {
            let grad = rounded.take_grad().expect("every layer is used");
            let grad = grad.to::<f32>().unwrap().div(SCALE).unwrap();
            param.set_grad(&grad).unwrap();
        }
        optimize(&mut whole);
        let state = whole.state().into_iter();
        model.load(state.map(|(path, tensor)| {
            let is_float = tensor.is_floating_point();
            let rounded = is_float.then(|| tensor.to::<T>().unwrap());
            (path, rounded.unwrap_or(tensor))
        }));
        loss.item()
    };
    (0..STEPS).map(step).collect()
}

#[derive(Module)]
struct Gpt<T: Element = f32> {
    chars: Embedding<Char, Hidden, T>,
    attention: MultiHeadAttention<Seq, Hidden, Head, Feature, T>,
    norms: [LayerNorm<Hidden, T>; 2],
    last: RmsNorm<Hidden, T>,
    up: Linear<Hidden, Inner, T>,
    down: Linear<Inner, Hidden, T>,
    scores: Linear<Hidden, Char, T>,
}

impl Gpt {
    fn new() -> Self {
        let (hidden, inner, chars) = (Hidden.of(32), Inner.of(128), Char.of(16));
        Self {
            chars: Embedding::new(chars, hidden),
            attention: MultiHeadAttention::new(hidden, Head.of(2), Feature.of(16)),
            norms: [(); 2].map(|()| LayerNorm::new(hidden)),
            last: RmsNorm::new(hidden),
            up: Linear::new(hidden, inner),
            down: Linear::new(inner, hidden),
            scores: Linear::new(hidden, chars),
        }
    }

    fn rounded<T: Float>(&self) -> Gpt<T> {
        let MultiHeadAttention {
            query, key, value, ..
        } = &self.attention;
        let norm = |norm: &LayerNorm<Hidden>| LayerNorm {
            weight: rounded(&norm.weight),
            bias: norm.bias.as_ref().map(rounded),
            eps: norm.eps,
        };
        Gpt {
            chars: Embedding {
                weight: rounded(&self.chars.weight),
            },
            attention: MultiHeadAttention::of(
                [query, key, value].map(linear),
                linear(&self.attention.out),
            ),
            norms: [norm(&self.norms[0]), norm(&self.norms[1])],
            last: RmsNorm {
                weight: rounded(&self.last.weight),
                eps: self.last.eps,
            },
            up: linear(&self.up),
            down: linear(&self.down),
            scores: linear(&self.scores),
        }
    }
}

impl<T: Float> Gpt<T> {
    fn loss(&self, ids: &Tensor<(N, Seq), i64>, next: &Tensor<(N, Seq), i64>) -> Tensor<()> {
        let past = Attention {
            causal: true,
            rotary: Some(10_000.0),
            ..default()
        };
        let x: Tensor<(N, Seq, Hidden), T> = self.chars.forward(ids);
        let x = self
            .attention
            .forward(&self.norms[0].forward(&x), past)
            .add(&x);
        let inner: Tensor<(N, Seq, Inner), T> = self
            .up
            .forward_with(&self.norms[1].forward(&x), Activation::GeluTanh);
        let x: Tensor<(N, Seq, Hidden), T> = self.down.forward(&inner).add(&x);
        let scores: Tensor<(N, Seq, Char), T> = self.scores.forward(&self.last.forward(&x));
        scores.to::<f32>().cross_entropy(next, Char)
    }
}

fn gpt<T: Float>(device: Device) -> Vec<f32> {
    manual_seed(6);
    let ids = Tensor::<(N, Seq), i64>::randint(0..16, [4, 17]).to_device(device);
    let mut whole = Gpt::new();
    whole.to_device(device);
    let model = whole.rounded::<T>();
    let mut optimizer = AdamW::with(AdamOptions {
        lr: 3e-3,
        ..AdamOptions::adamw()
    });
    train::<_, _, T>(
        (whole, model),
        |whole| {
            clip_grad_norm(whole, 1.0);
            optimizer.step(whole);
        },
        |model, _| model.loss(&ids.narrow(Seq, ..16), &ids.narrow(Seq, 1..)),
    )
}

#[derive(Module)]
struct Planes<T: Element = f32> {
    first: Conv2d<(H, W), Chan, Plane, T>,
    norm: BatchNorm<Plane, T>,
    scores: Linear<(Plane, H, W), Class, T>,
}

impl Planes {
    fn new() -> Self {
        let options = ConvOptions {
            padding: Padding::Same,
            ..default()
        };
        Self {
            first: Conv2d::with(Chan.of(3), Plane.of(8), (H.of(3), W.of(3)), options),
            norm: BatchNorm::new(Plane.of(8)),
            scores: Linear::new((Plane.of(8), H.of(6), W.of(6)), Class.of(5)),
        }
    }

    fn rounded<T: Float>(&self) -> Planes<T> {
        Planes {
            first: Conv2d {
                weight: rounded(&self.first.weight),
                bias: self.first.bias.as_ref().map(rounded),
                options: self.first.options,
            },
            norm: BatchNorm {
                weight: rounded(&self.norm.weight),
                bias: rounded(&self.norm.bias),
                running_mean: Buffer::new(self.norm.running_mean.get().to::<T>()),
                running_var: Buffer::new(self.norm.running_var.get().to::<T>()),
                num_batches_tracked: self.norm.num_batches_tracked.clone(),
                momentum: self.norm.momentum,
                eps: self.norm.eps,
            },
            scores: linear(&self.scores),
        }
    }
}

impl<T: Float> Planes<T> {
    fn loss(
        &mut self,
        x: &Tensor<(N, Chan, H, W), T>,
        labels: &Tensor<(N,), i64>,
        dropout: &Dropout,
    ) -> Tensor<()> {
        let planes = self.first.forward(x);
        let small = self
            .norm
            .forward(&planes, Mode::Train)
            .relu()
            .max_pool2d((H, W), [2, 2]);
        let scores: Tensor<(N, Class), T> =
            self.scores.forward(&dropout.forward(&small, Mode::Train));
        scores.to::<f32>().cross_entropy(labels, Class)
    }
}

fn planes<T: Float>(device: Device) -> Vec<f32> {
    manual_seed(7);
    let x = Tensor::<(N, Chan, H, W)>::randn([8, 3, 12, 12]).to_device(device);
    let labels = Tensor::<(N,), i64>::randint(0..5, [8]).to_device(device);
    let mut whole = Planes::new();
    whole.to_device(device);
    let (model, x, dropout) = (whole.rounded::<T>(), x.to::<T>(), Dropout::new(0.2));
    let mut optimizer = Sgd::with(SgdOptions {
        lr: 0.05,
        momentum: 0.9,
        ..default()
    });
    train::<_, _, T>(
        (whole, model),
        |whole| optimizer.step(whole),
        |model, _| model.loss(&x, &labels, &dropout),
    )
}

/// Like [`same`], but up to the rounding of 16-bit floats.
fn alike(losses: impl Fn(Device) -> Vec<f32>) {
    within(3e-2, losses);
}

#[test]
pub fn models_of_16_bit_floats() {
    let _here = device!(&[&[]]);
    alike(gpt::<bf16>);
    alike(planes::<bf16>);
    if sample::every() {
        alike(gpt::<f16>);
        alike(planes::<f16>);
    }
}
