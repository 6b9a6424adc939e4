//! A mesh whose tensors are on CUDA devices, one device per rank. Each conversion by NCCL gives the same result as
//! threads on the host, and a failure on one rank is an error on all.

#[path = "../../tests/cuda/here.rs"]
mod here;

use here::{cases, device, host, needs_stand_in};
use nomina::{AttentionOptions, ConvOptions, ConvTransposeOptions, Device, Element, Padding};
use nomina_mesh::prelude::*;

dims! { N, C, K, Out, Source, Value }
mesh! { Grid: Data, Model }
mesh! { Line: Only }

type X<P, T> = Sharded<(N, C), P, T>;

/// Emulated GPUs: four devices, whose copies are done at once or as late as allowed.
const SCHEDULES: &[here::Schedule<'static>] = &[
    &[("NOMINA_FAKE_DEVICES", "4")],
    &[("NOMINA_FAKE_DEVICES", "4"), ("NOMINA_FAKE_LAZY", "1")],
];

/// Returns whether there is a device for each rank; prints a note if not.
fn enough(ranks: usize) -> bool {
    let there = Device::available()
        .into_iter()
        .filter(|device| !device.is_cpu());
    let there = there.count();
    if there < ranks {
        println!("skipped: {there} devices for {ranks} ranks");
        cases(1);
    }
    there >= ranks
}

/// Returns the device of a rank of the grid.
fn own(mesh: &Mesh<Grid<Whole, Whole>>) -> nomina::Result<Device> {
    Device::cuda(2 * mesh.rank(Data) + mesh.rank(Model))
}

/// Returns small integers, whose sums are exact in any order.
fn numbers<T: Element>(rows: usize, columns: usize) -> Tensor<(N, C), T> {
    let all = (0..rows * columns).map(|at| ((at * 7 % 5) as f64) - 1.0);
    Tensor::<(N, C), f64>::from_vec(all.collect(), [rows, columns])
        .unwrap()
        .to::<T>()
}

/// Runs every conversion, and returns each rank's results.
fn conversions<T: Element>(
    mesh: &Mesh<Grid<Whole, Whole>>,
    at: Device,
    x: &Tensor<(N, C), T>,
) -> nomina::Result<Vec<Vec<T>>> {
    let x: X<Grid<Whole, Whole>, T> = mesh.whole(x.to_device(at));
    let rows: X<Grid<Split<N>, Whole>, T> = x.cut(Data, N);
    let tiles: X<Grid<Split<N>, Split<C>>, T> = rows.cut(Model, C);
    let twice: X<Grid<Split<N>, Split<N>>, T> = rows.cut(Model, N);
    let moved: X<Grid<Split<N>, Split<C>>, T> = twice.all_to_all(Model, C);
    let pending: X<Grid<Split<N>, Pending>, T> = rows.pend(Model);
    let scattered: X<Grid<Split<N>, Split<C>>, T> = pending.reduce_scatter(Model, C);
    let own: X<Grid<Whole, Own>, T> = x.own(Model);
    let everywhere = tiles.all_gather(Model).all_gather(Data);
    assert_eq!(everywhere.local().device(), at.resolved());
    Ok(vec![
        everywhere.local().to_vec(),
        moved.local().to_vec(),
        scattered.local().to_vec(),
        pending.all_reduce(Model).local().to_vec(),
        own.broadcast(Model, 1).local().to_vec(),
    ])
}

#[test]
fn conversions_are_those_of_the_host() {
    let _here = device!(SCHEDULES);
    if !enough(4) {
        return;
    }
    macro_rules! of {
        ($($t:ty)*) => {$(
            for (rows, columns) in [(4, 6), (5, 3), (3, 2), (1, 1), (0, 3)] {
                let x = numbers::<$t>(rows, columns);
                let found = Grid::threads([2, 2], |mesh| {
                    let device = own(&mesh)?;
                    let expected = conversions(&mesh, Device::Cpu, &x)?;
                    let there = mesh.with_nccl(device)?;
                    let found = conversions(&there, device, &x)?;
                    // Tensors on the host are still exchanged on the host.
                    let host = conversions(&there, Device::Cpu, &x)?;
                    Ok((expected, found, host))
                });
                for (expected, found, host) in found.unwrap() {
                    assert_eq!(expected, found, "{rows} x {columns}");
                    assert_eq!(expected, host, "{rows} x {columns}");
                    cases(expected.len());
                }
            }
        )*};
    }
    // 16-bit integers and sums of complex numbers are combined by our own kernels, or as pairs.
    of!(f32 f64 f16 bf16 i8 i16 i32 i64 nomina::Complex<f32>);
}

#[test]
fn extremes_keep_nan_and_scans_go_in_order() {
    let _here = device!(SCHEDULES);
    if !enough(4) {
        return;
    }
    let program = |mesh: &Mesh<Line<Whole>>, at: Device| -> nomina::Result<Vec<Vec<f64>>> {
        let values = vec![1.0, f64::NAN, 3.0, -2.0, 5.0, 0.5];
        let x: Tensor<(N, C), f64> = Tensor::from_vec(values, [3, 2])?;
        let x: Sharded<(N, C), Line<Split<N>>, f64> = mesh.whole(x.to_device(at)).cut(Only, N);
        let most = x.amax(across(N)).all_reduce(Only);
        let least = x.amin(across(N)).all_reduce(Only);
        let sums = x.cumsum(N.via(Only));
        let parts = x.softmax(N.via(Only));
        Ok(vec![
            most.local().to_vec(),
            least.local().to_vec(),
            sums.local().to_vec(),
            parts.local().to_vec(),
        ])
    };
    let found = Line::threads([4], |mesh| {
        let device = Device::cuda(mesh.rank(Only))?;
        let expected = program(&mesh, Device::Cpu)?;
        Ok((expected, program(&mesh.with_nccl(device)?, device)?))
    });
    for (expected, found) in found.unwrap() {
        for (expected, found) in expected.iter().flatten().zip(found.iter().flatten()) {
            let same = (expected.is_nan() && found.is_nan()) || (expected - found).abs() < 1e-12;
            assert!(same, "{expected} and {found}");
            cases(1);
        }
    }
}

#[test]
fn operators_over_a_split_dim_are_those_of_the_host() {
    let _here = device!(SCHEDULES);
    if !enough(4) {
        return;
    }
    let program = |mesh: &Mesh<Line<Whole>>, at: Device| -> nomina::Result<Vec<Vec<f32>>> {
        let x = numbers::<f32>(5, 3).to_device(at);
        let leaf = mesh.whole(x.clone()).with_grad();
        let split: X<Line<Split<N>>, f32> = leaf.cut(Only, N);
        let (most, place) = split.max(N.via(Only));
        let (top, _) = split.topk(2, N.via(Only));
        let (sorted, order) = split.sort(N.via(Only));
        let (running, _) = split.cummax(N.via(Only));
        let weight: Tensor<(C, K)> = numbers::<f32>(3, 4).to_device(at).rename(C, K).rename(N, C);
        let weight: Sharded<(C, K), Line<Split<C>>, f32> = mesh.whole(weight).cut(Only, C);
        let product = split.contract(&weight, C.via(Only));
        let shares = split.log_softmax(N.via(Only));
        let ids: Tensor<(K,), i64> = Tensor::from_vec(vec![4, 0, 4, 2, 1, 3], [6])?;
        let ids: Sharded<(K,), Line<Split<K>>, i64> = mesh.whole(ids.to_device(at)).cut(Only, K);
        let rows = split.embedding(N.via(Only), &ids);
        shares.square().sum(across(..)).backward();
        Ok(vec![
            most.local().to_vec(),
            place.local().to::<f32>().to_vec(),
            top.local().to_vec(),
            sorted.local().to_vec(),
            order.local().to::<f32>().to_vec(),
            running.local().to_vec(),
            product.local().to_vec(),
            shares.local().to_vec(),
            rows.local().to_vec(),
            leaf.grad().unwrap().local().to_vec(),
        ])
    };
    let found = Line::threads([4], |mesh| {
        let device = Device::cuda(mesh.rank(Only))?;
        let expected = program(&mesh, Device::Cpu)?;
        Ok((expected, program(&mesh.with_nccl(device)?, device)?))
    });
    for (expected, found) in found.unwrap() {
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected.len(), found.len());
            let close = |(x, y): (&f32, &f32)| (x - y).abs() < 1e-5;
            assert!(
                expected.iter().zip(found).all(close),
                "{expected:?} and {found:?}"
            );
            cases(1);
        }
    }
}

#[test]
fn what_slides_and_goes_round_is_that_of_the_host() {
    let _here = device!(SCHEDULES);
    if !enough(4) {
        return;
    }
    let program = |mesh: &Mesh<Line<Whole>>, at: Device| -> nomina::Result<Vec<Vec<f32>>> {
        let leaf = mesh.whole(numbers::<f32>(9, 3).to_device(at)).with_grad();
        let split: X<Line<Split<N>>, f32> = leaf.cut(Only, N);
        // Kernels of three rows reach into the neighbours' parts on both sides.
        let weight: Tensor<(C, K)> = numbers::<f32>(3, 12)
            .to_device(at)
            .rename(C, K)
            .rename(N, C);
        let weight = weight.unflatten(K, (Out.of(4), K.of(3)));
        let weight = mesh.whole(weight).with_grad();
        let options = ConvOptions {
            padding: Padding::Zeros([1]),
            ..default()
        };
        let conv = split.conv1d_with(C, N.via(Only), &weight, None, options);
        let options = ConvTransposeOptions {
            stride: [2],
            ..default()
        };
        let back = split.conv_transpose1d_with(C, N.via(Only), &weight, None, options);
        let pooled = split.avg_pool1d(N.via(Only), [2]);
        // Keys and values travel around the ranks.
        let keys = split.rename(N, Source);
        let values = keys.rename(C, Value);
        let mixed = split.scaled_dot_product_attention_via(
            &keys,
            &values,
            Source.via(Only),
            AttentionOptions::default(),
        );
        let loss = conv.square().sum(across(..)) + back.square().sum(across(..));
        (loss + mixed.square().sum(across(..))).backward();
        Ok(vec![
            conv.local().to_vec(),
            back.local().to_vec(),
            pooled.local().to_vec(),
            mixed.local().to_vec(),
            leaf.grad().unwrap().local().to_vec(),
            weight.grad().unwrap().local().to_vec(),
        ])
    };
    let found = Line::threads([4], |mesh| {
        let device = Device::cuda(mesh.rank(Only))?;
        let expected = program(&mesh, Device::Cpu)?;
        Ok((expected, program(&mesh.with_nccl(device)?, device)?))
    });
    for (expected, found) in found.unwrap() {
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(expected.len(), found.len());
            let close = |(x, y): (&f32, &f32)| (x - y).abs() <= 1e-4 * (1.0 + x.abs());
            assert!(
                expected.iter().zip(found).all(close),
                "{expected:?} and {found:?}"
            );
            cases(1);
        }
    }
}

#[test]
fn bytes_are_those_of_the_formulas() {
    let _here = device!(SCHEDULES);
    if !enough(2) {
        return;
    }
    let sent = Line::threads([2], |mesh| {
        let device = Device::cuda(mesh.rank(Only))?;
        let mesh = mesh.with_nccl(device)?;
        let x = mesh.whole(numbers::<f32>(6, 4).to_device(device));
        let (rows, pending) = (x.cut(Only, N), x.pend(Only));
        let mut before = mesh.sent(Only);
        let mut sent = Vec::new();
        let mut note = || {
            mesh.barrier().unwrap();
            let now = mesh.sent(Only);
            sent.push(now - before);
            before = now;
        };
        note();
        let _ = rows.all_gather(Only);
        note();
        let _ = rows.all_to_all(Only, C);
        note();
        let _ = pending.all_reduce(Only);
        note();
        let _ = pending.reduce_scatter(Only, N);
        note();
        Ok(sent)
    });
    let n = 6 * 4 * 4;
    for sent in sent.unwrap() {
        // Before each job, the ranks exchange hashes (16 bytes) and readiness (one byte); the note's barrier exchanges
        // hashes, too.
        let of = |bytes: u64| bytes + 16 + 1 + 16;
        assert_eq!(sent, [16, of(n / 2), of(n / 4), of(n), of(n / 2)]);
        cases(sent.len());
    }
}

/// Runs an all-reduce on a line of two ranks with these devices.
fn two(devices: [usize; 2]) -> nomina::Result<Vec<Vec<f32>>> {
    Line::threads([2], |mesh| {
        let device = Device::cuda(devices[mesh.rank(Only)])?;
        let mesh = mesh.with_nccl(device)?;
        let x: X<Line<Pending>, f32> = mesh.whole(numbers(2, 2).to_device(device)).pend(Only);
        Ok(x.try_all_reduce(Only)?.local().to_vec())
    })
}

#[test]
fn what_is_missing_is_an_error() {
    let here = here::name!();
    if !needs_stand_in(here, "calls are made to fail") {
        return;
    }
    let one = device!(&[&[], &[("NOMINA_FAKE_NCCL", "ncclAllReduce")]]);
    let failing = std::env::var_os("NOMINA_FAKE_NCCL").is_some();
    match (two([0, 1]), failing) {
        (Ok(found), false) => assert_eq!(found[0], numbers::<f32>(2, 2).to_vec()),
        (Err(error), true) => {
            let text = error.to_string();
            assert!(text.contains("NCCL says: internal error"), "{text}");
        }
        (found, _) => panic!("{found:?}"),
    }
    cases(1);
    if !failing {
        // One device for both ranks.
        let text = two([0, 0]).unwrap_err().to_string();
        assert!(text.contains("NCCL says: invalid usage"), "{text}");
        cases(1);
        // One rank without a device, then ranks on the host.
        let text = two([0, 7]).unwrap_err().to_string();
        assert!(text.contains("cuda:7"), "{text}");
        let on_host = Line::threads([2], |mesh| mesh.with_nccl(Device::Cpu).map(drop));
        let text = on_host.unwrap_err().to_string();
        assert!(text.contains("on CUDA devices, not on `cpu`"), "{text}");
        cases(2);
    }
    drop(one);
}

#[test]
fn without_the_library_all_ranks_say_so() {
    let name = here::name!();
    if host::is_fake() {
        let text = two([0, 1]).unwrap_err().to_string();
        assert!(text.contains("NCCL (libnccl) was not found"), "{text}");
        return cases(1);
    }
    if !needs_stand_in(name, "the library is taken away") {
        return;
    }
    let Ok(without) = host::without("libnccl") else {
        return println!("{name}: skipped: no C++ compiler");
    };
    let args = ["--exact", name, "--nocapture"];
    let path = without.to_str().unwrap();
    let output = host::rerun_with_fake(&args, &[("LD_LIBRARY_PATH", path)]).unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed"), "{said}");
}
