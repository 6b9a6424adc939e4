//! Devices: discovery, tensors on them, transfers between them, and failures.
//!
//! Tests that need one or two devices run on GPUs if there are enough, else on two emulated GPUs.

use nomina::prelude::*;
use nomina::{Device, DynTensor, ErrorKind};

#[cfg(feature = "cuda")]
#[path = "cuda_devices/fake.rs"]
mod fake;
#[cfg(feature = "cuda")]
#[path = "cuda_devices/gradients.rs"]
mod gradients;
#[cfg(feature = "cuda")]
#[path = "cuda/here.rs"]
mod here;
#[cfg(feature = "cuda")]
#[path = "cuda_devices/libraries.rs"]
mod libraries;

dims! { N, C }

/// Returns whether there is no device, so that errors must say so.
fn bare() -> bool {
    Device::available() == [Device::Cpu]
}

#[test]
fn without_a_device_every_way_to_one_says_what_is_missing() {
    if !bare() {
        return;
    }
    let missing = if cfg!(feature = "cuda") {
        "CUDA is missing: no driver (libcuda.so.1) was found"
    } else {
        "this build has no CUDA backend"
    };
    let cuda: Device = "cuda".parse().expect("a device");
    assert_eq!(cuda, Device::Cuda(None));
    let x = tensor!([[1., 2.], [3., 4.]]; N, C);
    let y = x.to_dyn();
    let errors = [
        Device::cuda(0).map(drop),
        x.try_to_device(cuda).map(drop),
        x.try_cuda(None).map(drop),
        y.to_device(cuda).map(drop),
        y.cuda(1).map(drop),
        Tensor::<(N,)>::options()
            .device(cuda)
            .try_zeros([2])
            .map(drop),
        DynTensor::options().device(cuda).zeros(&[2], ()).map(drop),
        DynTensor::options()
            .device(cuda)
            .arange(0, 4, 1, ())
            .map(drop),
        DynTensor::options()
            .device(cuda)
            .linspace(0, 4, 3, ())
            .map(drop),
        nomina::cuda::set_current(0),
        nomina::cuda::synchronize(None),
        nomina::cuda::count().map(drop),
    ];
    for (i, error) in errors.into_iter().enumerate() {
        let error = error.expect_err("there is no device");
        let text = error.to_string();
        assert_eq!(error.kind(), ErrorKind::Device, "{i}: {text}");
        assert!(text.contains(missing), "{i}: {text}");
        assert!(text.contains("`cpu`"), "{i} says no way out: {text}");
    }
    assert_eq!(Device::available(), [Device::Cpu]);
}

#[test]
fn errors_of_parsing_say_how_devices_are_written() {
    for text in ["gpu", "cuda:", "cuda:x", "cpu:1", "cuda:-1", ""] {
        let error = text.parse::<Device>().expect_err("no device");
        assert_eq!(error.kind(), ErrorKind::Parse);
        assert!(error.to_string().contains("cuda:1"), "{error}");
    }
}
