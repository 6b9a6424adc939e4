//! Launches programs that start themselves under `mpiexec`.
#![allow(dead_code, reason = "each program uses some of it")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// The outcome of a run.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

/// The code of a run whose ranks had all exited but whose launcher had to be killed: Open MPI 4.1's occasionally waits
/// forever in `PMIx_server_finalize`.
pub const HUNG: i32 = -2;

/// The time that a launcher without ranks gets to exit.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs this program on `ranks` ranks. `MPIEXEC` names the launcher, and `MPIEXEC_FLAGS` has its arguments. A run that
/// takes longer than `limit` is killed, and has no code.
pub fn launch(ranks: usize, args: &[&str], variables: &[(&str, &str)], limit: Duration) -> Run {
    let launcher = std::env::var("MPIEXEC").unwrap_or_else(|_| "mpiexec".to_owned());
    let flags = std::env::var("MPIEXEC_FLAGS").unwrap_or_default();
    let began = Instant::now();
    let mut child = Command::new(&launcher)
        .args(flags.split_whitespace())
        .args(["-n", &ranks.to_string()])
        .arg(std::env::current_exe().expect("this program"))
        .args(args)
        .envs(variables.iter().copied())
        // With as many ranks as cores, kernel threads would only wait for each other.
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{launcher}: {error}"));
    let out = read(child.stdout.take());
    let err = read(child.stderr.take());
    let code = wait(&mut child, limit);
    let took = began.elapsed();
    let text = |reader: std::thread::JoinHandle<String>| reader.join().expect("a reader");
    Run {
        code,
        out: text(out),
        err: text(err),
        took,
    }
}

fn read(stream: Option<impl Read + Send + 'static>) -> std::thread::JoinHandle<String> {
    let mut stream = stream.expect("a pipe");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("a pipe");
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

/// Returns the states of a launcher's running processes, and the number of exited processes that it has not reaped.
fn ranks(launcher: &str) -> (Vec<String>, usize) {
    let threads = std::fs::read_dir(format!("/proc/{launcher}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let children = threads.map(|thread| std::fs::read_to_string(thread.path().join("children")));
    let all: String = children.map(Result::unwrap_or_default).collect();
    let states = all.split_whitespace().filter_map(|rank| {
        let status = std::fs::read_to_string(format!("/proc/{rank}/status")).ok()?;
        let state = status.lines().find(|line| line.starts_with("State:"))?;
        Some(format!("{rank}: {state}"))
    });
    let (ended, left): (Vec<_>, Vec<_>) = states.partition(|state| state.contains('Z'));
    (left, ended.len())
}

fn wait(child: &mut Child, limit: Duration) -> Option<i32> {
    let (began, id) = (Instant::now(), child.id().to_string());
    loop {
        if let Some(status) = child.try_wait().expect("the launcher") {
            // Launchers report a signal as shells do, or die by it.
            return status.code().or(Some(-1));
        }
        std::thread::sleep(Duration::from_millis(5));
        if began.elapsed() < PATIENCE {
            continue;
        }
        let (left, ended) = ranks(&id);
        let hung = left.is_empty();
        if !(hung && ended > 0) && began.elapsed() < limit {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        }
        eprintln!(
            "{:?} are over; ranks that are left: {left:?}",
            began.elapsed()
        );
        // Asked to exit, it ends the remaining ranks.
        let asked = Command::new("kill").args(["-TERM", &id]).status();
        assert!(asked.is_ok_and(|status| status.success()), "kill");
        let killed = Instant::now() + PATIENCE;
        while child.try_wait().expect("the launcher").is_none() {
            if Instant::now() > killed {
                child.kill().expect("the launcher");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        return hung.then_some(HUNG);
    }
}
