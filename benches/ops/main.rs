//! Speed of operators: `cargo bench --bench ops -- [--json] [--only SUBSTRING] [--threads N]`, and on a GPU with
//! `--features cuda` before the `--` and `--device cuda` after it.
//!
//! The cases and their names are those of `scripts/bench/torch_ops.py`, which measures PyTorch; `mlp_train_step` is
//! part of `grads`. The cases are written as a user writes them, on typed tensors, and every result gets a new buffer
//! unless the case says otherwise. `--json` prints a line per case, `{"case": …, "seconds": …}`; `--ask` does so for
//! the cases named on standard input. `scripts/compare.py` prints both libraries side by side.

mod device;
mod elementwise;
mod fused;
#[path = "../harness/mod.rs"]
mod harness;
mod layout;
mod product;
mod reduce;
mod window;

use std::sync::OnceLock;

use harness::{BESIDE, Beside, Options};
use nomina::dims::{Distinct, ShapeFor};
use nomina::prelude::*;
use nomina::{Device, cuda};

dims! { pub N, pub C, pub H, pub W, pub B, pub K }

/// Ten million elements: far beyond the caches.
const BIG: [usize; 2] = [4000, 2500];

/// One million elements.
const MILLION: [usize; 2] = [1000, 1000];

/// A million rows of a few elements.
const SHORT: [usize; 2] = [1_000_000, 8];

fn main() {
    let options = Options::read_with_device();
    if let Some(name) = &options.device {
        place(name);
    }
    rayon::ThreadPoolBuilder::new()
        .num_threads(options.threads)
        .build_global()
        .expect("nothing has started threads before");
    manual_seed(0);
    let mut cases = elementwise::cases();
    cases.extend(fused::cases());
    cases.extend(reduce::cases());
    cases.extend(layout::cases());
    cases.extend(product::cases());
    cases.extend(window::cases());
    if options.device.is_some() {
        cases.extend(device::cases());
    }
    harness::run(&cases, &options);
}

/// The device of all operands.
static DEVICE: OnceLock<Device> = OnceLock::new();

fn device() -> Device {
    DEVICE.get().copied().unwrap_or_default()
}

/// Puts all operands on a device; exits if it is not available.
fn place(name: &str) {
    let found = name
        .parse()
        .and_then(|device: Device| match device.resolved() {
            Device::Cuda(Some(ordinal)) => Device::cuda(ordinal),
            other => Ok(other),
        });
    let device = found.unwrap_or_else(|error| {
        eprintln!("nothing is measured: {error}");
        std::process::exit(1)
    });
    DEVICE.get_or_init(|| device);
    if device.is_cuda() {
        BESIDE.get_or_init(|| Beside {
            wait: || cuda::synchronize(None).expect("the device works"),
            in_use: || cuda::stats(cuda::current()).map_or(0, |stats| stats.in_use),
        });
        if let Device::Cuda(Some(ordinal)) = device {
            cuda::set_current(ordinal).expect("the device is there");
        }
    }
}

/// Returns samples of the normal distribution.
fn samples<D: Dims + Distinct, T: Inexact>(sizes: impl ShapeFor<D>) -> Tensor<D, T> {
    let options = Tensor::<D>::options().dtype::<T>().device(device());
    options.randn(sizes)
}

/// Returns a matrix of samples.
fn randn(sizes: [usize; 2]) -> Tensor<(N, C)> {
    samples(sizes)
}
