//! Programs that start themselves under `mpiexec`.
#![allow(dead_code, reason = "each program uses some of it")]

use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How a run ended.
pub struct Run {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
    pub took: Duration,
}

/// The code of a run whose ranks had all ended, and the launcher had to be.
pub const HUNG: i32 = -2;

/// Runs this program as so many ranks. `MPIEXEC` names the launcher and `MPIEXEC_FLAGS` what it is given. A run that takes
/// longer than `limit` is ended, and has no code.
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
        // Threads of kernels beside as many ranks as cores only wait for each other.
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| panic!("{launcher}: {error}"));
    let out = read(child.stdout.take());
    let err = read(child.stderr.take());
    let code = wait(&mut child, began + limit);
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

fn wait(child: &mut Child, until: Instant) -> Option<i32> {
    loop {
        if let Some(status) = child.try_wait().expect("the launcher") {
            // Launchers answer a signal as shells do, or die by it.
            return status.code().or(Some(-1));
        }
        if Instant::now() > until {
            let id = child.id().to_string();
            let ranks = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
            // Open MPI's launcher now and then waits for ever for ranks that are gone.
            let gone = ranks.is_ok_and(|ranks| ranks.trim().is_empty());
            // Asked to end, it ends those that are there.
            let asked = Command::new("kill").args(["-TERM", &id]).status();
            assert!(asked.is_ok_and(|status| status.success()), "kill");
            let patience = Instant::now() + Duration::from_secs(5);
            while child.try_wait().expect("the launcher").is_none() {
                if Instant::now() > patience {
                    child.kill().expect("the launcher");
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            return gone.then_some(HUNG);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}
