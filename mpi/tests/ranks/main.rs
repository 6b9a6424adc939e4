//! Jobs of all kinds under `mpiexec`. Each rank can compute the pieces of all ranks, and compares each result with its
//! own computation.

mod elements;
mod jobs;
mod refusals;
#[path = "../support/mod.rs"]
mod support;

use std::time::Duration;

use jobs::Checks;
use nomina_mesh::{Engine, Job};
use nomina_mpi::Mpi;

/// The runs: number of ranks, and environment. With short messages, each job takes many of them.
const RUNS: [(usize, &[(&str, &str)]); 6] = [
    (4, &[]),
    (4, &[("NOMINA_MESH_MESSAGE", "60000")]),
    (3, &[]),
    (2, &[]),
    (2, &[("NOMINA_MESH_MESSAGE", "15000")]),
    (1, &[]),
];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("rank") => rank(),
        _ => launch(),
    }
}

fn launch() {
    for (ranks, variables) in RUNS {
        let mut variables = variables.to_vec();
        variables.push(("NOMINA_MESH_TIMEOUT", "50"));
        let run = support::launch(ranks, &["rank"], &variables, Duration::from_secs(60));
        assert_eq!(
            run.code,
            Some(0),
            "{ranks} ranks, {variables:?}\n{}{}",
            run.out,
            run.err
        );
        let told: Vec<&str> = run
            .out
            .lines()
            .filter(|line| line.contains(" jobs"))
            .collect();
        assert_eq!(told.len(), 1, "{}", run.out);
        println!("{}, {:.1} s", told[0], run.took.as_secs_f64());
    }
}

/// The program of one rank.
fn rank() {
    let mpi = Mpi::start().unwrap();
    assert!(Mpi::start().is_err(), "MPI starts once");
    let (rank, size) = (mpi.rank(), mpi.size());
    let all = mpi.axes(&[0]).unwrap().remove(0);
    assert_eq!((all.rank(), all.size()), (rank, size));
    assert!(mpi.axes(&[size, 2]).is_err() && mpi.axes(&[0, size + 1]).is_err());
    let mut checks = Checks::new(&*all);
    checks.every_dtype();
    checks.sizes();
    checks.bytes();
    if size > 1 {
        refusals::refused(&*all);
        checks.every_dtype();
    }
    let mut jobs = checks.done;
    if size == 4 {
        let axes = mpi.axes(&[2, 0]).unwrap();
        assert_eq!((axes[0].rank(), axes[1].rank()), (rank / 2, rank % 2));
        jobs += jobs::side_by_side(&axes);
        for axis in &axes {
            let mut checks = Checks::new(&**axis);
            checks.every_dtype();
            jobs += checks.done;
        }
    }
    // An axis outlives its `Mpi`, and a ticket outlives both. A dropped job is done, too.
    drop(mpi);
    drop(all.start(Job::Barrier).unwrap());
    let ticket = all.start(Job::Barrier).unwrap();
    drop(all);
    assert!(ticket.wait().unwrap().is_empty());
    if rank == 0 {
        println!("{size} ranks, {} jobs on each", jobs + 2);
    }
}
