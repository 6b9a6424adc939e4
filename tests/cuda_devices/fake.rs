//! Tests on two emulated devices.

use nomina::prelude::*;
use nomina::{Device, DynTensor, Error, ErrorKind, cuda};

use super::here::{self, device, name};
use super::{C, N};

const FIRST: Device = Device::Cuda(Some(0));
const SECOND: Device = Device::Cuda(Some(1));

/// Runs a test's body on two devices; counts as one case.
macro_rules! on_two {
    ($body:expr) => {{
        if cuda::count().is_ok_and(|count| count < 2) {
            println!("{}: skipped: one GPU alone", name!());
            return;
        }
        let _here = device!(&[&[]]);
        let body: fn() = $body;
        body();
        here::cases(1);
    }};
}

pub(super) use on_two;

/// Runs a test's body on an emulated GPU with the given environment; returns its output.
macro_rules! on_stand_in {
    ($why:literal, $env:expr, $body:expr) => {{
        if here::host::is_fake() {
            let _here = device!(&[]);
            let body: fn() = $body;
            body();
            here::cases(1);
            return;
        }
        if !here::needs_stand_in(name!(), $why) {
            return;
        }
        match here::again(name!(), $env) {
            Some(said) => said,
            None => return,
        }
    }};
}

fn refused<T>(result: Result<T, Error>, words: &[&str]) {
    let Err(error) = result else {
        panic!("took operands of two devices");
    };
    let text = error.to_string();
    assert_eq!(error.kind(), ErrorKind::Device, "{text}");
    for word in words {
        assert!(text.contains(word), "no {word:?} in: {text}");
    }
}

fn numbers(shape: &[usize]) -> DynTensor {
    let count: usize = shape.iter().product();
    let data: Vec<f32> = (0..count).map(|i| i as f32).collect();
    DynTensor::from_vec(data, shape, ()).expect("as many as asked for")
}

#[test]
fn devices_are_listed_and_chosen() {
    on_two!(|| {
        assert_eq!(Device::available(), [Device::Cpu, FIRST, SECOND]);
        assert_eq!(Device::cuda(1).unwrap(), SECOND);
        refused(
            Device::cuda(2),
            &["`cuda:2` not found", "2 device", "Device::available()"],
        );
        refused(cuda::set_current(7), &["`cuda:7` not found"]);
        let on = |text: &str| {
            let device = text.parse::<Device>().unwrap();
            DynTensor::options().device(device).ones(&[2], ())
        };
        assert_eq!(on("cuda").unwrap().device(), FIRST);
        refused(on("cuda:2"), &["`cuda:2` not found"]);
        cuda::set_current(1).unwrap();
        let x = on("cuda").unwrap();
        assert_eq!(x.device(), SECOND);
        assert_eq!(x.to_device(Device::Cuda(None)).unwrap().device(), SECOND);
        assert_eq!(x.cuda(None).unwrap().as_ptr(), x.as_ptr());
        assert_eq!(x.cpu().unwrap().cuda(None).unwrap().device(), SECOND);
        assert_eq!(x.get_device(), 1);
        assert!(x.to_string().ends_with("cuda:1"), "{x}");
        assert!(format!("{x:?}").contains("cuda:1"), "{x:?}");
        // The other devices are still reachable by ordinal.
        assert_eq!(on("cuda:0").unwrap().device(), FIRST);
        refused(x.add(&on("cuda:0").unwrap()), &["`cuda:1`", "`cuda:0`"]);
        cuda::synchronize(None).unwrap();
        refused(cuda::synchronize(5), &["`cuda:5`"]);
    });
}

#[test]
fn tensors_move_between_all_pairs() {
    on_two!(|| {
        let x = numbers(&[3, 4, 5]);
        let views = [
            x.clone(),
            x.permute(&[2, 0, 1][..]).unwrap(),
            x.narrow(1, 1, 2).unwrap(),
            x.flip(0).unwrap(),
            x.select(0, 1)
                .unwrap()
                .unsqueeze(0, None)
                .unwrap()
                .expand(&[7, 4, 5])
                .unwrap(),
            x.narrow(2, 0, 0).unwrap(),
            x.sum(..).unwrap(),
            x.to_dtype(nomina::DType::C128).unwrap(),
            x.to_dtype(nomina::DType::Bool).unwrap(),
        ];
        for from in [Device::Cpu, FIRST, SECOND] {
            for to in [Device::Cpu, FIRST, SECOND] {
                for view in &views {
                    let there = view.to_device(from).unwrap();
                    let moved = there.to_device(to).unwrap();
                    assert_eq!((moved.device(), moved.shape()), (to, view.shape()));
                    // A view without gaps keeps its strides; one with gaps gets those of a clone.
                    if from != to {
                        let dense = view.clone_with(MemoryFormat::Preserve).unwrap();
                        assert_eq!(moved.strides(), dense.strides(), "{from} to {to}");
                    }
                    assert!(moved.cpu().unwrap().equal(view).unwrap(), "{from} to {to}");
                    // Views on the device are read there.
                    let turned = moved.to_device(from).unwrap();
                    assert!(turned.equal(&there).unwrap());
                }
                // The source of a copy may be on any device.
                let mut dest = DynTensor::options()
                    .device(to)
                    .zeros(&[3, 4, 5], ())
                    .unwrap();
                dest.copy_(&x.to_device(from).unwrap()).unwrap();
                assert_eq!(dest.device(), to);
                assert!(dest.cpu().unwrap().equal(&x).unwrap());
                let mut part = dest.select_mut(0, 2).unwrap();
                part.copy_(&x.select(0, 0).unwrap().to_device(from).unwrap())
                    .unwrap();
                assert_eq!(
                    dest.to_vec::<f32>().unwrap()[40..],
                    x.to_vec::<f32>().unwrap()[..20]
                );
            }
        }
    });
}

#[test]
fn operands_on_two_devices_are_refused() {
    on_two!(|| {
        let host = numbers(&[2, 2]);
        let (a, b) = (
            host.to_device(FIRST).unwrap(),
            host.to_device(SECOND).unwrap(),
        );
        for (x, y, both) in [
            (&a, &b, ["`cuda:0`", "`cuda:1`"]),
            (&b, &host, ["`cuda:1`", "`cpu`"]),
            (&host, &a, ["`cpu`", "`cuda:0`"]),
        ] {
            let words = [both[0], both[1], "to_device"];
            refused(x.add(y), &words);
            refused(x.matmul(y), &words);
            refused(DynTensor::cat(&[x, y], 0), &words);
            refused(x.equal(y), &words);
            refused(x.clone().mul_(y).map(drop), &words);
            refused(x.add_out(x, &mut y.clone()), &words);
        }
        // A host scalar without dims combines with any device, but not the other way round.
        let two = DynTensor::scalar(2.0).unwrap();
        assert_eq!(
            a.mul(&two).unwrap().to_vec::<f32>().unwrap(),
            [0., 2., 4., 6.]
        );
        assert_eq!(two.sub(&a).unwrap().device(), FIRST);
        assert_eq!(
            two.sub(&a).unwrap().to_vec::<f32>().unwrap(),
            [2., 1., 0., -1.]
        );
        let mut c = a.clone();
        c.add_(&two).unwrap();
        assert_eq!(
            (c.device(), c.to_vec::<f32>().unwrap()),
            (FIRST, vec![2., 3., 4., 5.])
        );
        refused(
            a.add(&two.to_device(SECOND).unwrap()),
            &["`cuda:0`", "`cuda:1`"],
        );
        refused(
            two.clone().add_(&a.sum(..).unwrap()).map(drop),
            &["`cpu`", "`cuda:0`"],
        );
        // Typed tensors report their names in the error.
        let typed = tensor!([[1., 2.], [3., 4.]]; N, C);
        refused(
            typed.try_add(&typed.to_device(FIRST)),
            &["`cpu`", "`cuda:0`", "to_device", "N"],
        );
    });
}

#[test]
fn elements_are_read_and_written_on_a_device() {
    on_two!(|| {
        let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C).to_device(FIRST);
        let turned = x.permute((C, N));
        assert_eq!(turned.to_vec(), [1., 4., 2., 5., 3., 6.]);
        assert_eq!(turned.iter().collect::<Vec<_>>(), [1., 4., 2., 5., 3., 6.]);
        assert_eq!(turned.get((C.i(2), N.i(0))), Some(3.0));
        assert_eq!(x.sum(..).item(), 21.0);
        assert_eq!(x.clone().into_vec(), [1., 2., 3., 4., 5., 6.]);
        assert!(x.as_slice().is_none());
        let doubled = x.map(|v| v * 2.0);
        assert_eq!((doubled.device(), doubled.sum(..).item()), (FIRST, 42.0));
        let rows: Vec<f32> = x.iter_dim(N).map(|row| row.sum(C).item()).collect();
        assert_eq!(rows, [6.0, 15.0]);
        assert_eq!(
            x.to_string(),
            format!("{}, cuda:0", tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C))
        );

        for shape in [
            &[60, 40][..],
            &[7, 150],
            &[1200],
            &[2, 3],
            &[1, 1, 9, 4],
            &[0, 3],
            &[],
        ] {
            let host = numbers(shape);
            let there = host.to_device(FIRST).unwrap();
            // The device follows the dtype; a scalar is its number alone.
            let place = if shape.is_empty() { "" } else { ", cuda:0" };
            assert_eq!(there.to_string(), format!("{host}{place}"));
            let moved = format!("{host:?}").replacen(": ", ", cuda:0: ", 1);
            assert_eq!(format!("{there:?}"), moved);
        }
        // Factories and out tensors determine the device.
        let range = Tensor::<(N,)>::options()
            .device(FIRST)
            .arange(0.0, 3.0, 1.0);
        assert_eq!(
            (range.device(), range.to_vec()),
            (FIRST, vec![0.0, 1.0, 2.0])
        );
        let mut out = Tensor::<(N,)>::options().device(SECOND).zeros([3]);
        Tensor::<(N,)>::linspace_out(1.0, 3.0, 3, &mut out);
        assert_eq!((out.device(), out.to_vec()), (SECOND, vec![1.0, 2.0, 3.0]));
        refused(
            range.try_neg_out(&mut out),
            &["`cuda:0`", "`cuda:1`", "to_device"],
        );
        let sparse = x.to_sparse().to_device(SECOND);
        assert_eq!(
            (sparse.device(), sparse.to_dense().sum(..).item()),
            (SECOND, 21.0)
        );

        let mut y = x.to_dyn();
        assert_eq!(y.raw().scalars().count(), 6);
        let kept = y.clone();
        y.select_mut("C", 1).unwrap().fill_(9.0).unwrap();
        assert_eq!(y.to_vec::<f32>().unwrap(), [1., 9., 3., 4., 9., 6.]);
        assert_eq!(kept.to_vec::<f32>().unwrap(), [1., 2., 3., 4., 5., 6.]);
        let (mut raw, names) = y.into_parts();
        let error = raw.as_mut_slice::<f32>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Device);
        assert!(error.to_string().contains("`cuda:0`"), "{error}");
        raw.as_mut().unwrap().set(&[1, 2], -1.0_f32).unwrap();
        assert_eq!(raw.get::<f32>(&[1, 2]).unwrap(), -1.0);
        assert_eq!(raw.get::<f32>(&[0, 0]).unwrap(), 1.0);
        drop(names);
    });
}

#[test]
fn random_numbers_are_those_of_the_host() {
    on_two!(|| {
        let draw = |device| {
            nomina::manual_seed(3);
            let options = DynTensor::options().device(device);
            let all = [
                options.rand(&[1000], ()).unwrap(),
                options.randn(&[7, 5], ()).unwrap(),
                options.dtype(nomina::DType::I64).randperm(50, ()).unwrap(),
                options.dtype(nomina::DType::F16).rand(&[33], ()).unwrap(),
            ];
            assert!(all.iter().all(|x| x.device() == device));
            all.map(|x| {
                x.to_dtype(nomina::DType::F64)
                    .unwrap()
                    .to_vec::<f64>()
                    .unwrap()
            })
        };
        assert_eq!(draw(Device::Cpu), draw(FIRST));
        assert_eq!(draw(FIRST), draw(SECOND));
    });
}

#[test]
fn memory_that_is_missing_is_an_error_and_nothing_is_lost() {
    let env = [("NOMINA_FAKE_MEMORY", "1048576")];
    on_stand_in!("it has more memory", &env, || {
        let in_use = || cuda::stats(0).unwrap().in_use;
        assert_eq!(in_use(), 0);
        let on = DynTensor::options().device(FIRST);
        {
            let error = on.zeros(&[1 << 20], ()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Memory);
            assert!(error.to_string().contains("4194304 bytes"), "{error}");
            // A tensor that did not fit on the device is still intact on the host.
            let host = numbers(&[1 << 19]);
            assert_eq!(host.to_device(FIRST).unwrap_err().kind(), ErrorKind::Memory);
            assert_eq!(host.to_vec::<f32>().unwrap()[77], 77.0);
            let mut x = on.ones(&[150_000], ()).unwrap();
            let error = x.add(&x).unwrap_err();
            assert_eq!((error.kind(), error.op()), (ErrorKind::Memory, "add"));
            // In place it fits; if a copy is needed, it does not, and `x` is unchanged.
            x.add_(1.0).unwrap();
            let shared = x.clone();
            assert_eq!(x.mul_(2.0).map(drop).unwrap_err().kind(), ErrorKind::Memory);
            assert_eq!(x.sum(..).unwrap().item().unwrap().to_f64(), 300_000.0);
            drop(shared);
            x.mul_(2.0).unwrap();
            assert_eq!(x.sum(..).unwrap().item().unwrap().to_f64(), 600_000.0);
            drop(x);
            // Freed memory is available again.
            drop(on.zeros(&[200_000], ()).unwrap());
        }
        assert_eq!(in_use(), 0);
        assert!(cuda::stats(0).unwrap().peak >= 800_000);
        cuda::trim(0).unwrap();
        cuda::synchronize(0).unwrap();
    });
}

#[test]
fn every_block_is_given_back() {
    let env = [("NOMINA_FAKE_REPORT", "1"), ("NOMINA_FAKE_LAZY", "1")];
    let report = on_stand_in!("its driver counts no blocks", &env, || {
        let x = numbers(&[40, 30]).to_device(FIRST).unwrap();
        let y = x.t().unwrap().matmul(&x).unwrap().softmax(0).unwrap();
        let (values, _) = y.sort(1).unwrap();
        assert_eq!(values.shape(), [30, 30]);
        assert_eq!(x.nonzero().unwrap().shape(), [1199, 2]);
        drop((x, y, values));
        assert_eq!(cuda::stats(0).unwrap().in_use, 0);
        cuda::synchronize(0).unwrap();
    });
    let line = report
        .lines()
        .find(|line| line.contains("allocations made"));
    assert!(
        line.is_some_and(|line| line.contains("live 0,")),
        "{report}"
    );
}

#[test]
fn threads_share_a_device() {
    on_two!(|| {
        let x = numbers(&[64, 64]).to_device(FIRST).unwrap();
        let want = numbers(&[64, 64]).matmul(&numbers(&[64, 64])).unwrap();
        let want = want.to_vec::<f32>().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (x, want) = (&x, &want);
                scope.spawn(move || {
                    for round in 0..20 {
                        let own = numbers(&[64, 64]).to_device(FIRST).unwrap();
                        let product = x.matmul(&own).unwrap();
                        assert_eq!(&product.to_vec::<f32>().unwrap(), want);
                        let mut sum = x.add(thread * 100 + round).unwrap();
                        sum.sub_(x).unwrap();
                        let number = f64::from(thread * 100 + round);
                        assert_eq!(sum.mean(..).unwrap().item().unwrap().to_f64(), number);
                    }
                });
            }
        });
    });
}
