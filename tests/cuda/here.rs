//! A device for tests: the GPU where there is one, else the host that stands for one, in this program
//! once more.
//!
//! Test programs include this file by `#[path]`. A test begins with `device!(schedules)`; it has to count
//! its cases by [`cases`], so that none passes for having done nothing.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "host.rs"]
pub mod host;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nomina_runtime::Device;

/// What the host that stands for a GPU is told by its environment: an order of blocks and threads,
/// whether copies wait as long as they may. A GPU has its own.
pub type Schedule<'a> = &'a [(&'a str, &'a str)];

static CASES: AtomicUsize = AtomicUsize::new(0);

/// What a kernel finds wrong is the error of whoever waits next, so that tests take turns.
static TURN: Mutex<()> = Mutex::new(());

/// A test on a device. Its end says how many cases there were, and fails where there was none.
pub struct Here {
    name: &'static str,
    before: usize,
    _turn: MutexGuard<'static, ()>,
}

/// The device of all tests; those of several devices have the second too.
#[allow(dead_code, reason = "some programs name it in their cases")]
pub const DEVICE: Device = Device::Cuda(Some(0));

/// Counts cases that were looked at.
pub fn cases(count: usize) {
    CASES.fetch_add(count, Ordering::Relaxed);
}

impl Drop for Here {
    fn drop(&mut self) {
        let count = CASES.load(Ordering::Relaxed) - self.before;
        println!("\n{}: {count} cases", self.name);
        assert!(
            count > 0 || std::thread::panicking(),
            "{} looked at nothing",
            self.name
        );
    }
}

/// Enters a test; `None` where it ran in other processes, or cannot run.
#[track_caller]
pub fn enter(name: &'static str, schedules: &[Schedule<'_>]) -> Option<Here> {
    if host::is_fake() || Device::cuda(0).is_ok() {
        Device::cuda(0).expect("the host that stands for a GPU shows devices");
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        return Some(Here {
            name,
            before: CASES.load(Ordering::Relaxed),
            _turn: turn,
        });
    }
    for schedule in schedules {
        let said = again(name, schedule)?;
        println!("{name}, {schedule:?}: {} cases", counted(&said));
    }
    None
}

/// Runs a test of this program once more where there is a device, and gives all that it said.
/// `None`, with a word about it, where there is neither a GPU nor a C++ compiler to stand for one.
#[track_caller]
pub fn again(name: &str, schedule: Schedule<'_>) -> Option<String> {
    let own = std::env::current_exe().unwrap();
    let command = match Device::cuda(0) {
        Ok(_) => Ok(std::process::Command::new(&own)),
        Err(_) => host::with_fakes(&own),
    };
    let mut command = match command {
        Ok(command) => command,
        Err(why) if why.starts_with("no C++ compiler") => {
            println!("{name}: skipped: no GPU, and {why}");
            return None;
        }
        Err(why) => panic!("{why}"),
    };
    let args = ["--exact", name, "--include-ignored", "--nocapture"];
    command.args(args).envs(schedule.iter().copied());
    let output = command.output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed") && counted(&said) > 0,
        "{name} {schedule:?}: {said}"
    );
    Some(said)
}

/// How many cases a run of one test said it has looked at.
fn counted(said: &str) -> usize {
    let counts = said.lines().filter_map(|line| line.strip_suffix(" cases"));
    let counts = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

/// Whether a test can look at what only the host that stands for a GPU has, `why`; says so where not.
#[allow(dead_code, reason = "tests of several devices, and of little memory")]
pub fn needs_stand_in(name: &str, why: &str) -> bool {
    let real = !host::is_fake() && Device::cuda(0).is_ok();
    if real {
        println!("{name}: skipped on a GPU: {why}");
    }
    !real
}

/// The name of the test that this stands in.
macro_rules! name {
    () => {{
        fn here() {}
        let name = std::any::type_name_of_val(&here).trim_end_matches("::here");
        name.split_once("::").map_or(name, |(_, name)| name)
    }};
}

/// Enters a test, which ends here where it runs in other processes, one for each schedule.
macro_rules! device {
    ($schedules:expr) => {
        match $crate::here::enter($crate::here::name!(), $schedules) {
            Some(here) => here,
            None => return,
        }
    };
}
pub(crate) use {device, name};
