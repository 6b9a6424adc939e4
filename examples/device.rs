//! Runs the same program on every available device.
//!
//! ```sh
//! cargo run --release -p nomina-examples --example device                    # on the host
//! cargo run --release -p nomina-examples --features cuda --example device    # and on each CUDA device
//! ```
//!
//! Names work in the same way on every device; the device of a tensor is a run-time value, not part of its type.

use std::error::Error;

use nomina::prelude::*;
use nomina::{Device, cuda, manual_seed};

dims! {
    /// Examples of a batch.
    Batch,
    /// Features of each example.
    Feature,
    /// Classes to distinguish.
    Class,
}

fn main() -> Result<(), Box<dyn Error>> {
    let devices = Device::available();
    if let [_] = devices[..]
        && let Err(missing) = cuda::count()
    {
        println!("on the host alone: {missing}");
    }
    let mut first: Option<Tensor<(Batch, Class)>> = None;
    for device in devices {
        let scores = scores(device)?;
        assert_eq!(scores.device(), device);
        // Kernels run asynchronously; the host waits only when it needs the result.
        let scores = scores.cpu();
        let sums = scores.sum(Class);
        assert!(sums.to_vec().iter().all(|sum| (sum - 1.0).abs() < 1e-5));
        match &first {
            Some(first) => assert!(scores.allclose(first), "`{device}` computes something else"),
            None => first = Some(scores),
        }
        println!("{device}: every row of {} adds up to one", sums.numel());
    }
    Ok(())
}

/// Computes a linear layer and a softmax; random numbers are the same on all devices.
fn scores(device: Device) -> nomina::Result<Tensor<(Batch, Class)>> {
    manual_seed(7);
    let x = Tensor::<(Batch, Feature)>::randn([64, 128]).try_to_device(device)?;
    let weight = Tensor::<(Feature, Class)>::randn([128, 10]).try_to_device(device)?;
    let bias = Tensor::<(Class,)>::ones([10]).try_to_device(device)?;
    let product = x.contract(&weight, Feature);
    let scale = 1.0 / 128.0_f32.sqrt();
    let scaled = fuse!(|product, bias| (product * { scale } + bias).tanh());
    scaled.try_softmax(Class)
}
