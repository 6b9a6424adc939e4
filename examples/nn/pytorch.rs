//! A checkpoint of PyTorch, loaded into a network whose weights have named dims.
//!
//! ```sh
//! cargo run --release -p nomina-examples-nn --example pytorch                # the checkpoint of this repository
//! cargo run --release -p nomina-examples-nn --example pytorch -- mlp.pt      # another one of the same network
//! ```
//!
//! In PyTorch, the network and its checkpoint are
//!
//! ```python
//! class Mlp(nn.Module):
//!     def __init__(self):
//!         super().__init__()
//!         self.hidden, self.out = nn.Linear(64, 32), nn.Linear(32, 10)
//!
//!     def forward(self, x):
//!         return self.out(self.hidden(x.flatten(1)).relu())
//!
//! torch.save({"epoch": epoch, "model_state_dict": model.state_dict()}, "mlp.pt")
//! ```
//!
//! The checkpoint of this repository has the format of `torch.save`; `scripts/pth_files.py train` trained it with NumPy
//! and wrote it. A fifth of the pictures was not used for training.

#[allow(dead_code)]
#[path = "digits/data.rs"]
pub(crate) mod data;

use std::error::Error;
use std::path::{Path, PathBuf};

use nomina::no_grad;
use nomina::prelude::*;
use nomina_io::pth::{Pth, Value};
use nomina_nn::{init, prelude::*};

use data::Digits;

dims! {
    /// Pictures.
    pub N,
    /// Rows of a picture, from the top.
    pub H,
    /// Columns of a picture, from the left.
    pub W,
    /// The hidden layer.
    pub Hidden,
    /// Digits.
    pub Class = 10,
}

/// The network. Its weights have a dim for rows and one for columns, which are one dim in the file.
#[derive(Module)]
pub(crate) struct Mlp {
    hidden: Linear<(H, W), Hidden>,
    out: Linear<Hidden, Class>,
}

impl Mlp {
    /// Creates a network whose weights will be loaded.
    pub(crate) fn unset() -> Self {
        init::unset(|| Self {
            hidden: Linear::new((H.of(8), W.of(8)), Hidden.of(32)),
            out: Linear::new(Hidden.of(32), Class),
        })
    }

    pub(crate) fn forward(&self, x: &Tensor<(N, H, W)>) -> Tensor<(N, Class)> {
        let inner: Tensor<(N, Hidden)> = self.hidden.forward_with(x, Activation::Relu);
        self.out.forward(&inner)
    }
}

/// Loads a checkpoint. Returns the network and the number of epochs it was trained for.
pub(crate) fn load(path: &Path) -> Result<(Mlp, Option<i64>)> {
    let file = Pth::open(path)?;
    let mut model = Mlp::unset();
    model.try_load(file.tensors_at("model_state_dict")?)?;
    let epochs = match file.values()?.get("epoch") {
        Some(Value::Int(epochs)) => Some(*epochs),
        _ => None,
    };
    Ok((model, epochs))
}

/// Returns the share of the pictures whose digit the network finds, of those that were not used for training.
pub(crate) fn accuracy(model: &Mlp) -> Result<f32, Box<dyn Error>> {
    let digits = Digits::read()?;
    let first = digits.len() * 4 / 5;
    let images = digits.images.narrow(N, first..);
    let labels = digits.labels.narrow(N, first..);
    let found = no_grad(|| model.forward(&images).argmax(Class));
    Ok(found.eq(&labels).float().mean(..).item())
}

/// Returns the path of the checkpoint of this repository.
pub(crate) fn checkpoint() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("pytorch/mlp.pt")
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args()
        .nth(1)
        .map_or_else(checkpoint, PathBuf::from);
    let (model, epochs) = load(&path)?;
    if let Some(epochs) = epochs {
        println!("trained for {epochs} epochs");
    }
    let accuracy = accuracy(&model)?;
    println!(
        "{:.1} % of the other pictures are classified correctly",
        100.0 * accuracy
    );
    Ok(())
}
