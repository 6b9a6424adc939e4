//! A convolutional network with batch and group norm: weights from safetensors, then training in mixed precision.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example convnet
//! ```
//!
//! `scripts/programs/convnet.py` is the same program for PyTorch, which wrote the weights.

#[allow(dead_code)]
#[path = "digits/data.rs"]
pub(crate) mod data;

use std::error::Error;
use std::path::{Path, PathBuf};

use nomina::no_grad;
use nomina::prelude::*;
use nomina_io::safetensors::SafeTensors;
use nomina_nn::{init, prelude::*};

use data::Digits;

dims! { pub N, pub H, pub W, pub Gray = 1, pub Stroke, pub Shape, pub Class = 10 }

/// The network. Its fields are named like the modules of PyTorch's, and so are the tensors of the file.
#[derive(Module)]
pub(crate) struct ConvNet {
    conv1: Conv2d<(H, W), Gray, Stroke>,
    pub(crate) norm1: BatchNorm<Stroke>,
    conv2: Conv2d<(H, W), Stroke, Shape>,
    norm2: GroupNorm<(H, W), Shape>,
    pool: AdaptiveAvgPool<(H, W)>,
    out: Linear<(Shape, H, W), Class>,
}

impl ConvNet {
    pub(crate) fn new() -> Self {
        let (stroke, shape, kernel) = (Stroke.of(16), Shape.of(32), (H.of(3), W.of(3)));
        let (padding, stride, groups) = (Padding::Zeros([1, 1]), [2, 2], 2);
        let same = ConvOptions {
            padding,
            ..default()
        };
        let halves = ConvOptions {
            padding,
            stride,
            groups,
            ..default()
        };
        let mut conv2 = Conv2d::with(stroke, shape, kernel, halves);
        conv2.bias = None;
        Self {
            conv1: Conv2d::with(Gray, stroke, kernel, same),
            norm1: BatchNorm::new(stroke),
            conv2,
            norm2: GroupNorm::new(shape, 4),
            pool: AdaptiveAvgPool::new((H.of(2), W.of(2))),
            out: Linear::new((shape, H.of(2), W.of(2)), Class),
        }
    }

    pub(crate) fn forward(&self, x: &Tensor<(N, H, W)>, mode: Mode) -> Tensor<(N, Class)> {
        let x: Tensor<(N, Gray, H, W)> = x.unsqueeze(Gray).align_to((N, Gray, H, W));
        let x = self.norm1.forward(&self.conv1.forward(&x), mode).relu();
        let x = self.conv2.forward(&x.max_pool2d((H, W), [2, 2]));
        let x = self.norm2.forward(&x).silu();
        self.out.forward(&self.pool.forward(&x))
    }
}

pub(crate) fn load(path: &Path) -> Result<ConvNet> {
    let mut net = init::unset(ConvNet::new);
    net.try_load(SafeTensors::open(path)?.tensors()?)?;
    Ok(net)
}

/// Takes steps with batches of 64 in order, and returns their losses.
pub(crate) fn train(net: &mut ConvNet, digits: &Digits, steps: usize, dtype: DType) -> Vec<f32> {
    let (mut optimizer, mut scale) = (AdamW::new(3e-3), LossScale::default());
    let step = |step| {
        let start = step * 64 % (digits.len() - 64);
        let batch = digits.narrow(start..start + 64);
        let (x, y) = (&batch.images, &batch.labels);
        let loss = || net.forward(x, Mode::Train).cross_entropy(y, Class);
        let loss = match dtype {
            DType::F32 => loss(),
            dtype => autocast(dtype, loss),
        };
        scale.scale(&loss).backward();
        if scale.unscale(net) {
            optimizer.step(net);
        }
        loss.item()
    };
    (0..steps).map(step).collect()
}

/// Returns the share of digits that the network finds.
pub(crate) fn accuracy(net: &ConvNet, digits: &Digits) -> f32 {
    let found = no_grad(|| net.forward(&digits.images, Mode::Eval).argmax(Class));
    found.eq(&digits.labels).float().mean(..).item()
}

/// Returns the path of the weights in this repository.
pub(crate) fn weights() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("convnet/net.safetensors")
}

fn main() -> Result<(), Box<dyn Error>> {
    let digits = Digits::read()?;
    let [digits, held_out] = [0..1437, 1437..1797].map(|rows| digits.narrow(rows));
    for dtype in [DType::F32, DType::BF16, DType::F16] {
        let mut net = load(&weights())?;
        let losses = train(&mut net, &digits, 60, dtype);
        let right = 100.0 * accuracy(&net, &held_out);
        println!(
            "{dtype}: loss {:.3} to {:.3}, {right:.1} % right",
            losses[0], losses[59]
        );
    }
    Ok(())
}
