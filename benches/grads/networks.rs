//! Training steps of networks, with AdamW.

use nomina::prelude::*;
use nomina_nn::prelude::*;

use crate::harness::{Case, case};

dims! { pub N, pub Seq, pub Hidden, pub Head, pub Feature, pub Inner, C, First, Second, H, W, Class }

/// A layer of a transformer's encoder.
#[derive(Module)]
pub struct Block {
    attention: MultiHeadAttention<Seq, Hidden, Head, Feature>,
    attention_norm: LayerNorm<Hidden>,
    inner: Linear<Hidden, Inner>,
    outer: Linear<Inner, Hidden>,
    norm: LayerNorm<Hidden>,
}

impl Block {
    /// Creates a layer of the sizes of all-MiniLM-L6-v2.
    pub fn new() -> Self {
        let hidden = || Hidden.of(384);
        Self {
            attention: MultiHeadAttention::new(hidden(), Head.of(12), Feature.of(32)),
            attention_norm: LayerNorm::new(hidden()),
            inner: Linear::new(hidden(), Inner.of(1536)),
            outer: Linear::new(Inner.of(1536), hidden()),
            norm: LayerNorm::new(hidden()),
        }
    }

    pub fn forward(&self, x: &Tensor<(N, Seq, Hidden)>) -> Tensor<(N, Seq, Hidden)> {
        let attended = self.attention.forward(x, Attention::default());
        let x = self.attention_norm.forward(&(attended + x));
        let inner: Tensor<(N, Seq, Inner)> = self.inner.forward_with(&x, Activation::Gelu);
        self.norm.forward(&(self.outer.forward(&inner) + &x))
    }
}

#[derive(Module)]
struct Convolutions {
    first: Conv2d<(H, W), C, First>,
    second: Conv2d<(H, W), First, Second>,
    classes: Linear<Second, Class>,
}

impl Convolutions {
    fn forward(&self, x: &Tensor<(N, C, H, W)>) -> Tensor<(N, Class)> {
        let x = self.first.forward(x).relu();
        let x = self.second.forward(&x).relu();
        self.classes.forward(&x.mean((H, W)))
    }
}

/// Returns a convolution with both gradients, of batch, channels, size, outputs, kernel, stride and groups.
fn convolution([batch, channels, size, outs, kernel, stride, groups]: [usize; 7]) -> Case {
    let options = ConvOptions {
        stride: [stride; 2],
        padding: Padding::Zeros([kernel / 2; 2]),
        groups,
        ..default()
    };
    let operands = move || {
        let x = Tensor::<(N, C, H, W)>::randn([batch, channels, size, size]);
        let w = Tensor::<(First, C, H, W)>::randn([outs, channels / groups, kernel, kernel]);
        (x.with_grad(), w.with_grad())
    };
    case(
        format!(
            "conv2d/{batch}x{channels}x{size}x{size}/{outs}/{kernel}x{kernel}s{stride}g{groups}"
        ),
        operands,
        move |(x, w)| {
            let y: Tensor<(N, First, H, W)> = x.conv2d_with(C, (H, W), w, None, options);
            y.sum(..).backward();
            (x.zero_grad(), w.zero_grad())
        },
    )
}

pub fn cases(cases: &mut Vec<Case>) {
    cases.extend(
        [
            [8, 64, 56, 64, 3, 1, 1],
            [8, 64, 56, 128, 3, 2, 1],
            [8, 96, 28, 96, 7, 1, 96],
        ]
        .map(convolution),
    );
    let block = || {
        let x = Tensor::<(N, Seq, Hidden)>::randn([16, 128, 384]);
        let w = Tensor::<(N, Seq, Hidden)>::randn([16, 128, 384]);
        (Block::new(), AdamW::new(1e-3), x, w)
    };
    cases.push(case(
        "encoder_block/16x128x384",
        block,
        |(model, optimizer, x, w)| {
            (model.forward(x) * &*w).sum(..).backward();
            optimizer.step(model);
        },
    ));
    let convolutions = || {
        let (options, kernel) = (
            ConvOptions {
                padding: Padding::Same,
                ..default()
            },
            (H.of(3), W.of(3)),
        );
        let model = Convolutions {
            first: Conv2d::with(C.of(1), First.of(32), kernel, options),
            second: Conv2d::with(First.of(32), Second.of(64), kernel, options),
            classes: Linear::new(Second.of(64), Class.of(10)),
        };
        let x = Tensor::<(N, C, H, W)>::randn([64, 1, 8, 8]);
        let target: Tensor<(N,), i64> = (Tensor::<(N,)>::rand([64]) * 10.0).to::<i64>();
        (model, AdamW::new(1e-3), x, target)
    };
    cases.push(case(
        "conv_step/64x1x8x8x32x64",
        convolutions,
        |(model, optimizer, x, target)| {
            model.forward(x).cross_entropy(&*target, Class).backward();
            optimizer.step(model);
        },
    ));
}
