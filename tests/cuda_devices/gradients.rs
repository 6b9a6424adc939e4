//! Gradients of tensors that move between devices.

use nomina::grad::hessian;
use nomina::prelude::*;
use nomina::{Device, DynTensor, cuda};

use super::fake::on_two;
use super::here::{self, DEVICE, device, name};
use super::{C, N};

const ALL: [Device; 3] = [Device::Cpu, DEVICE, Device::Cuda(Some(1))];

/// Returns the gradient of a leaf, which is on the leaf's device.
fn grad(leaf: &DynTensor) -> Vec<f32> {
    let grad = leaf.grad().expect("backward came to it");
    assert_eq!(grad.device(), leaf.device());
    grad.to_vec().unwrap()
}

#[test]
fn gradients_go_between_devices() {
    on_two!(|| {
        let x = tensor!([[-1., 2.], [3., -4.]]; N, C).with_grad();
        x.cuda(None).relu().sum(..).backward();
        let found: Tensor<(N, C)> = x.grad().unwrap();
        assert_eq!(
            (found.device(), found.to_vec()),
            (Device::Cpu, vec![0., 1., 1., 0.])
        );

        let data = DynTensor::from_vec(vec![1.0_f32, 2., 3., 4., 5., 6.], &[2, 3], ()).unwrap();
        for from in ALL {
            for to in ALL {
                let mut x = data.to_device(from).unwrap();
                x.requires_grad_().unwrap();
                // Moves there and back, with operators on both devices.
                let there = x.square().unwrap().to_device(to).unwrap();
                let back = there.square().unwrap().to_device(from).unwrap();
                back.sum(..).unwrap().backward().unwrap();
                assert_eq!(
                    grad(&x),
                    [4., 32., 108., 256., 500., 864.],
                    "{from} to {to}"
                );
                // The moved view has gaps.
                let mut x = data.to_device(from).unwrap();
                x.requires_grad_().unwrap();
                let part = x.t().unwrap().narrow(0, 1, 2).unwrap();
                let there = part.to_device(to).unwrap();
                there
                    .mul(&there)
                    .unwrap()
                    .sum(..)
                    .unwrap()
                    .backward()
                    .unwrap();
                assert_eq!(grad(&x), [0., 4., 6., 0., 10., 12.], "{from} to {to}");
                // Copies into a view of a tensor on the other device.
                let mut x = data.to_device(from).unwrap();
                x.requires_grad_().unwrap();
                let mut dest = DynTensor::options().device(to).zeros(&[2, 3], ()).unwrap();
                dest.copy_(&x.exp2().unwrap()).unwrap();
                dest.log2().unwrap().sum(..).unwrap().backward().unwrap();
                assert!(grad(&x).iter().all(|g| (g - 1.0).abs() < 1e-6));
            }
        }

        // A host scalar combined with a tensor on a device.
        let mut two = DynTensor::scalar(2.0_f32).unwrap();
        two.requires_grad_().unwrap();
        let product = data.to_device(DEVICE).unwrap().mul(&two).unwrap();
        product.sum(..).unwrap().backward().unwrap();
        assert_eq!(grad(&two), [21.0]);

        // Gradients of gradients, and no gradient if nothing is recorded.
        let cubes = |x: &Tensor<(C,)>| (x.cuda(None) * x.cuda(None).square()).cpu().sum(..);
        let h: Tensor<(C, Prime<C>)> = hessian(cubes, &tensor!([1., -2.]; C));
        assert_eq!(h.to_vec(), [6., 0., 0., -12.]);
        let mut leaf = data.clone();
        leaf.requires_grad_().unwrap();
        let moved = nomina::no_grad(|| leaf.to_device(DEVICE)).unwrap();
        assert!(!moved.requires_grad() && leaf.to_device(DEVICE).unwrap().requires_grad());
    });
}

/// Operators that the host computes for a device.
#[cfg(feature = "fft")]
#[test]
fn gradients_go_by_way_of_the_host() {
    on_two!(|| {
        let data = tensor!([1., 2., 3., 5.]; N);
        let of = |device| {
            let x = data.to_device(device).with_grad();
            x.rfft(N).abs().square().sum(..).backward();
            let found: Tensor<(N,)> = x.grad().unwrap();
            assert_eq!(found.device(), device);
            found.to_vec()
        };
        assert_eq!(of(DEVICE), of(Device::Cpu));
        assert!(cuda::by_host().contains_key("fft"));
    });
}
