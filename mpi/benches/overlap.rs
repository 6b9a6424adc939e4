//! Measures whether sums of gradients overlap with backward: `scripts/mpi.sh bench`. Two ranks, twelve layers with
//! gradients of 8 MiB each, which are summed during backward or all at its end. The backward pass of a layer sleeps, as
//! if a device computed, or computes on the host, which then shares its cores with the communication.

#[path = "../tests/support/mod.rs"]
mod support;

use std::time::{Duration, Instant};

use nomina::{DynTensor, Result};
use nomina_mesh::prelude::*;
use nomina_mpi::Mpi;
use nomina_runtime::grad::custom;

dims! { C }
mesh! { Line: Data }

const LAYERS: usize = 12;
const ELEMENTS: usize = 2 << 20;
/// The duration of a layer's backward pass.
const LAYER: Duration = Duration::from_millis(15);
const TIMES: usize = 7;

fn main() {
    if std::env::args().any(|arg| arg == "rank") {
        return rank().unwrap();
    }
    let run = support::launch(2, &["rank"], &[], Duration::from_secs(500));
    assert_eq!(run.code, Some(0), "{}", run.err);
    print!("{}", run.out);
}

type Loss = Sharded<(), Line<Pending>>;

/// Returns the loss unchanged; its backward pass takes as long as `work`.
fn layer(loss: &Loss, work: fn()) -> Result<Loss> {
    let slow = loss.local_with(|x| {
        let x = x.to_dyn();
        let slow = custom("layer", &[x.raw()], x.raw().clone(), move |grad| {
            work();
            Ok(vec![Some(grad.clone())])
        })?;
        DynTensor::from_parts(slow, x.names().clone())?.try_into()
    })?;
    slow.claim(&[])
}

/// Returns the median milliseconds of a backward pass.
fn step(mesh: &Mesh<Line>, cap: usize, work: fn()) -> Result<f64> {
    mesh.set_bucket_cap(cap);
    let params: Vec<Sharded<(C,), Line<Synced>>> = (0..LAYERS)
        .map(|_| mesh.parameter(Tensor::full([ELEMENTS], 0.5)))
        .collect::<Result<_>>()?;
    let mut times = Vec::new();
    for _ in 0..TIMES {
        let mut loss: Loss = mesh.zeros([])?;
        for param in &params {
            loss = layer(&loss, work)? + param.whole(Data).narrow(C, ..1).sum(C).pend(Data);
        }
        mesh.barrier()?;
        let began = Instant::now();
        loss.try_backward()?;
        times.push(began.elapsed().as_secs_f64() * 1e3);
        for param in &params {
            drop(param.take_grad());
        }
    }
    times.sort_by(f64::total_cmp);
    Ok(times[TIMES / 2])
}

fn sleeps() {
    std::thread::sleep(LAYER);
}

fn computes() {
    let began = Instant::now();
    let mut number = 1.0_f64;
    while began.elapsed() < LAYER {
        for _ in 0..1000 {
            number = std::hint::black_box(number * 1.000_000_1);
        }
    }
}

fn rank() -> Result<()> {
    let mpi = Mpi::start()?;
    let mesh = Line::start(&mpi, [2])?;
    let cap = ELEMENTS * 4;
    let alone = LAYERS as f64 * LAYER.as_secs_f64() * 1e3;
    let sums = step(&mesh, usize::MAX, || ())?;
    if mesh.is_first() {
        println!(
            "milliseconds of a way back, the median of {TIMES}; {LAYERS} gradients of 8 MiB, 2 ranks"
        );
        println!("layers alone {alone:.0}, sums alone {sums:.0}");
    }
    for (name, work) in [("slept", sleeps as fn()), ("computed", computes)] {
        let end = step(&mesh, usize::MAX, work)?;
        let beside = step(&mesh, cap, work)?;
        if mesh.is_first() {
            println!("{name:9} sums at the end {end:.0}, beside {beside:.0}");
        }
    }
    Ok(())
}
