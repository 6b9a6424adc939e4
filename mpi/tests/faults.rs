//! Faults of one rank: the program ends on all ranks in time, with an exit code and the name of the rank.
//!
//! `NOMINA_FAULT_RUNS=10` runs each fault ten times, `NOMINA_FAULT=disk` runs only that fault.

mod support;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use nomina::Result;
use nomina_mesh::prelude::*;
use nomina_mesh::{Combine, Engine, Job, Ranks, safetensors};
use nomina_mpi::Mpi;
use nomina_runtime::Raw;

dims! { N }
mesh! { All: Everyone }

/// The fault, the program's exit code if it is known, and the required parts of stderr.
const FAULTS: [(&str, Option<i32>, &[&str]); 14] = [
    (
        "panic",
        Some(101),
        &["rank 1 of 4 at [0, 1] of [2, 2]: panicked: it broke"],
    ),
    (
        "panic-in-thread",
        Some(101),
        &["rank 1 of 4 at [0, 1] of [2, 2]: panicked: it broke"],
    ),
    (
        "panic-in-threads",
        Some(101),
        &["rank 1 of 4 at [0, 1] of [2, 2]: panicked: it broke"],
    ),
    (
        "panic-beside-a-job",
        Some(101),
        &["rank 1 of 4 at [0, 1] of [2, 2]: panicked: it broke"],
    ),
    (
        "abort",
        Some(7),
        &["rank 1 of 4 at [0, 1] of [2, 2]: ends the program on all ranks with code 7"],
    ),
    (
        "exit",
        Some(3),
        &["rank 1 of 4 at [0, 1] of [2, 2]: the process ends before MPI does"],
    ),
    // Only the launcher can tell which rank was killed.
    ("kill", None, &[]),
    (
        "late",
        Some(1),
        &[
            "did not end within 1 s",
            "(all_reduce, sum, f32, 100 elements), 400 bytes here, runs",
        ],
    ),
    (
        "one-job-less",
        Some(1),
        &["did not end within 1 s", "is done since"],
    ),
    (
        "other-job",
        Some(1),
        &["rank 0 of 4 starts (all_reduce, sum, f32, 100 elements), rank 1 starts (barrier)"],
    ),
    (
        "other-sizes",
        Some(1),
        &["rank 0 of 4 starts (all_reduce, sum, f32, 1000000 elements), rank 1 starts"],
    ),
    (
        "small-and-large",
        Some(1),
        &[
            "(all_reduce, sum, f32, 1000000 elements), rank 1 starts (all_reduce, sum, f32, 100 elements)",
        ],
    ),
    (
        "memory",
        Some(1),
        &["rank 1 of 4 has no memory for (all_reduce, sum, f32, 8000000 elements): 32000000 bytes"],
    ),
    (
        "disk",
        Some(1),
        &["rank 1 of mesh axis `Everyone`: ", "File too large"],
    ),
];

/// The seconds that ranks wait for a rank that does not come, and in the other cases, on a possibly busy machine.
const LATE: &str = "1";
const WAITS: &str = "15";

/// The maximum time until a program ends, including those seconds.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    match (args.next().as_deref(), args.next(), args.next()) {
        (Some("rank"), Some(fault), Some(folder)) => match rank(&fault, Path::new(&folder)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            launch();
            ExitCode::SUCCESS
        }
    }
}

fn launch() {
    let runs = std::env::var("NOMINA_FAULT_RUNS").map_or(1, |runs| runs.parse().expect("a number"));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("a text");
    let sound = support::launch(4, &["rank", "none", path], &[], LIMIT);
    assert_eq!(sound.code, Some(0), "{}", sound.err);
    let one = std::env::var("NOMINA_FAULT").ok();
    let chosen = |(fault, ..): &(&str, _, _)| one.as_ref().is_none_or(|one| one == fault);
    for (fault, code, texts) in FAULTS.into_iter().filter(chosen) {
        let (mut slowest, mut crashes) = (Duration::ZERO, 0);
        let waits = if texts.iter().any(|text| text.contains("did not end")) {
            LATE
        } else {
            WAITS
        };
        for _ in 0..runs {
            let args = ["rank", fault, path];
            let run = support::launch(4, &args, &[("NOMINA_MESH_TIMEOUT", waits)], LIMIT);
            assert!(run.code.is_some(), "{fault}: does not end\n{}", run.err);
            let left = std::fs::read_dir(path).expect("a folder").count();
            assert_eq!(left, 0, "{fault}: nothing is left of a checkpoint");
            assert!(!run.out.contains("a result"), "{fault}: {}", run.out);
            // Open MPI's own launcher may crash or hang after all ranks have exited; it has no code then.
            let crashed =
                run.err.contains("PMIx_server_finalize") || run.code == Some(support::HUNG);
            crashes += usize::from(crashed);
            match code.filter(|_| !crashed) {
                Some(_) => assert_eq!(run.code, code, "{fault}: {}", run.err),
                None => assert_ne!(run.code, Some(0), "{fault}"),
            }
            for text in texts {
                assert!(
                    run.err.contains(text),
                    "{fault}: no `{text}` in\n{}",
                    run.err
                );
            }
            slowest = slowest.max(run.took);
        }
        println!(
            "{fault}: {runs} runs, code {code:?}, the slowest {:.1} s, {crashes} times a launcher that did not end well",
            slowest.as_secs_f64()
        );
    }
}

fn sum(axis: &dyn Ranks, count: usize) -> Result<Raw> {
    let piece = Raw::from_vec(vec![1.0_f32; count], &[count])?;
    let combine = Combine::Add;
    axis.start(Job::AllReduce { piece, combine })?
        .wait_for_one()
}

/// The program of one rank; the second rank is at fault.
fn rank(fault: &str, folder: &Path) -> Result<()> {
    let mpi = Mpi::start()?;
    let all = mpi.axes(&[0])?.remove(0);
    // Errors name the rank's position in the last mesh.
    let _axes = mpi.axes(&[2, 2])?;
    assert_eq!(
        sum(&*all, 10)?.as_slice(),
        Some(&[mpi.size() as f32; 10][..])
    );
    let mut count = 100;
    match (fault, mpi.rank()) {
        ("panic", 1) => panic!("it broke"),
        ("panic-in-thread", 1) => {
            drop(std::thread::spawn(|| panic!("it broke")).join());
        }
        ("panic-in-threads", 1) => {
            let threads = [(); 4].map(|()| std::thread::spawn(|| panic!("it broke")));
            for thread in threads {
                drop(thread.join());
            }
        }
        ("panic-beside-a-job", 1) => {
            // It has to wait for the others, which never start it.
            let _ticket = all.start(Job::Barrier)?;
            std::thread::sleep(Duration::from_millis(100));
            panic!("it broke");
        }
        ("panic-beside-a-job", _) => std::thread::sleep(LIMIT),
        ("abort", 1) => all.abort(7),
        ("exit", 1) => std::process::exit(3),
        // SAFETY: sends a signal to this process.
        ("kill", 1) => assert_eq!(unsafe { libc::kill(libc::getpid(), libc::SIGKILL) }, 0),
        ("late", 1) => std::thread::sleep(LIMIT),
        ("one-job-less", 1) => return Ok(()),
        ("other-job", 1) => {
            return all
                .start(Job::Barrier)?
                .wait()
                .map(|_| println!("a result"));
        }
        ("other-sizes", rank) => count = 1_000_000 + usize::from(rank == 1),
        ("small-and-large", rank) => count = if rank == 1 { 100 } else { 1_000_000 },
        ("memory", rank) => {
            count = 8_000_000;
            let piece = Raw::from_vec(vec![1.0_f32; count], &[count])?;
            // The piece is still in use, so the result needs new memory.
            let kept = piece.clone();
            if rank == 1 {
                leave_memory(8 << 20);
            }
            let combine = Combine::Add;
            all.start(Job::AllReduce { piece, combine })?.wait()?;
            assert_eq!(kept.numel(), count);
        }
        ("disk", rank) => {
            let mesh = All::start(&mpi, [0])?;
            let x: Sharded<(N,), All<Split<N>>> = mesh.zeros([1_000_000])?;
            if rank == 1 {
                leave_files(64 << 10);
            }
            safetensors::save(&mesh, folder.join("checkpoint"), [("x", x.to_dyn())])?;
        }
        _ => {}
    }
    sum(&*all, count)?;
    if fault != "none" {
        println!("a result");
    }
    Ok(())
}

/// Limits the size of files of this process: further writes fail, as on a full disk.
fn leave_files(bytes: u64) {
    let limit = libc::rlimit {
        rlim_cur: bytes,
        rlim_max: bytes,
    };
    // SAFETY: plain calls. The signal's default action would end the process; ignored, the write fails instead.
    unsafe {
        assert_ne!(libc::signal(libc::SIGXFSZ, libc::SIG_IGN), libc::SIG_ERR);
        assert_eq!(libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit), 0);
    }
}

/// Limits the further memory of this process.
fn leave_memory(bytes: u64) {
    let status = std::fs::read_to_string("/proc/self/statm").expect("statm");
    let pages: u64 = status
        .split(' ')
        .next()
        .and_then(|pages| pages.parse().ok())
        .expect("pages");
    // SAFETY: plain calls.
    unsafe {
        let page = u64::try_from(libc::sysconf(libc::_SC_PAGESIZE)).expect("a size");
        let most = pages * page + bytes;
        let limit = libc::rlimit {
            rlim_cur: most,
            rlim_max: most,
        };
        assert_eq!(libc::setrlimit(libc::RLIMIT_AS, &raw const limit), 0);
    }
}
