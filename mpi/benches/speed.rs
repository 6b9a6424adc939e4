//! Two ranks compared with bare MPI: `scripts/mpi.sh bench`. The two take turns, so that they see the same machine.

#[path = "../tests/support/mod.rs"]
mod support;

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use mpi::ffi;
use nomina::{DType, Device};
use nomina_mesh::{Combine, Engine, Job, Ranks};
use nomina_mpi::Mpi;
use nomina_runtime::Raw;

fn main() {
    if std::env::args().any(|arg| arg == "rank") {
        return rank();
    }
    let run = support::launch(2, &["rank"], &[], Duration::from_secs(500));
    assert_eq!(run.code, Some(0), "{}", run.err);
    print!("{}", run.out);
    println!("{:.0} s in all", run.took.as_secs_f64());
}

fn rank() {
    let mpi = Mpi::start().unwrap();
    let axis = mpi.axes(&[0]).unwrap().remove(0);
    let axis = &*axis;
    if axis.rank() == 0 {
        println!("microseconds, the median of calls; f32, 2 ranks");
        println!(
            "{:22} {:>10} {:>10} {:>10} {:>7}",
            "", "bytes", "bare MPI", "nomina", "ratio"
        );
    }
    for elements in [1, 256, 16 << 10, 256 << 10, 4 << 20] {
        let (x, from, mut into) = (block(elements), block(elements), block(elements));
        let (from, into) = (from.as_slice().unwrap(), into.as_mut_slice().unwrap());
        compare(
            axis,
            "all_reduce",
            elements,
            || reduce(from, into),
            || reduce_job(axis, x.clone()),
        );
        let mut own = Some(block(elements));
        let ours = || own = own.take().map(|own| reduce_job(axis, own));
        compare(
            axis,
            "all_reduce in place",
            elements,
            || reduce_in_place(into),
            ours,
        );
        compare(
            axis,
            "shift",
            elements,
            || shift(axis, from, into),
            || shift_job(axis, &x),
        );
    }
}

/// Allocates like a tensor, for both sides: large blocks use huge pages.
fn block(elements: usize) -> Raw {
    let mut block = Raw::zeros("bench", &[elements], DType::F32, Device::Cpu).unwrap();
    block.as_mut_slice::<f32>().unwrap().fill(1.0);
    block
}

/// Times both in turn, and prints the times of the first rank.
fn compare<T>(
    axis: &dyn Ranks,
    name: &str,
    elements: usize,
    mut bare: impl FnMut(),
    mut ours: impl FnMut() -> T,
) {
    let calls = (20_000_000 / (elements * 4 + 4000)).clamp(9, 2000);
    let (mut bare_times, mut our_times) = (Vec::new(), Vec::new());
    for i in 0..calls + 3 {
        let times = [time(&mut bare), time(|| drop(ours()))];
        if i >= 3 {
            bare_times.push(times[0]);
            our_times.push(times[1]);
        }
    }
    let (bare, ours) = (median(bare_times), median(our_times));
    if axis.rank() == 0 {
        let bytes = elements * 4;
        println!(
            "{name:22} {bytes:10} {bare:10.1} {ours:10.1} {:7.2}",
            ours / bare
        );
    }
}

/// Returns the microseconds of a call that both ranks begin together.
fn time(call: impl FnOnce()) -> f64 {
    // SAFETY: no job is in flight, so no other thread calls MPI.
    unsafe { assert_eq!(ffi::MPI_Barrier(ffi::RSMPI_COMM_WORLD), 0) };
    let began = Instant::now();
    call();
    began.elapsed().as_secs_f64() * 1e6
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn reduce_job(axis: &dyn Ranks, piece: Raw) -> Raw {
    let combine = Combine::Add;
    axis.start(Job::AllReduce { piece, combine })
        .unwrap()
        .wait_for_one()
        .unwrap()
}

fn shift_job(axis: &dyn Ranks, piece: &Raw) -> Raw {
    let (piece, shape) = (piece.clone(), piece.shape().to_vec());
    axis.start(Job::Shift {
        piece,
        by: 1,
        shape,
    })
    .unwrap()
    .wait_for_one()
    .unwrap()
}

fn reduce(from: &[f32], into: &mut [f32]) {
    // SAFETY: both buffers have the same number of elements, and no job is in flight.
    let code = unsafe {
        let (count, to) = (from.len() as c_int, into.as_mut_ptr().cast());
        let (float, sum) = (ffi::RSMPI_FLOAT, ffi::RSMPI_SUM);
        ffi::MPI_Allreduce(
            from.as_ptr().cast(),
            to,
            count,
            float,
            sum,
            ffi::RSMPI_COMM_WORLD,
        )
    };
    assert_eq!(code, 0);
}

/// Returns the constant MPI_IN_PLACE, which the bindings lack.
fn in_place() -> *const c_void {
    // All ones in MPICH, one in Open MPI.
    let mpich = std::env::var("MPIEXEC").is_ok_and(|name| name.contains("mpich"));
    std::ptr::without_provenance(if mpich { usize::MAX } else { 1 })
}

fn reduce_in_place(own: &mut [f32]) {
    // SAFETY: as above.
    let code = unsafe {
        let (count, own) = (own.len() as c_int, own.as_mut_ptr().cast());
        let (float, sum) = (ffi::RSMPI_FLOAT, ffi::RSMPI_SUM);
        ffi::MPI_Allreduce(in_place(), own, count, float, sum, ffi::RSMPI_COMM_WORLD)
    };
    assert_eq!(code, 0);
}

fn shift(axis: &dyn Ranks, from: &[f32], into: &mut [f32]) {
    let other = 1 - axis.rank() as c_int;
    // SAFETY: as above.
    let code = unsafe {
        let (count, float, world) = (from.len() as c_int, ffi::RSMPI_FLOAT, ffi::RSMPI_COMM_WORLD);
        ffi::MPI_Sendrecv(
            from.as_ptr().cast(),
            count,
            float,
            other,
            0,
            into.as_mut_ptr().cast(),
            count,
            float,
            other,
            0,
            world,
            ffi::RSMPI_STATUS_IGNORE,
        )
    };
    assert_eq!(code, 0);
}
