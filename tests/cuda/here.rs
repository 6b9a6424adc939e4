//! A device for tests: the GPU if there is one, else the emulated GPU, in child processes of this program.
//!
//! Test programs include this file by `#[path]`. A test begins with `device!(schedules)` and must count its cases by
//! [`cases`], so that a test that did nothing cannot pass.

#[allow(dead_code, reason = "other tests use more of it")]
#[path = "host.rs"]
pub mod host;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use nomina_runtime::Device;

/// Variables of schedules that select how kernels run, not what a test does: the order of blocks and threads, the time of
/// copies and fences, the number of processors, which decides on tiles, and the integers of positions.
const VARIED: [&str; 5] = [
    "NOMINA_FAKE_ORDER",
    "NOMINA_FAKE_LAZY",
    "NOMINA_FAKE_FENCE",
    "NOMINA_FAKE_PROCESSORS",
    "NOMINA_CUDA_INDEX",
];

/// Environment variables of the emulated GPU: the order of blocks and threads, and whether copies are delayed as long
/// as allowed. They do not affect a real GPU.
pub type Schedule<'a> = &'a [(&'a str, &'a str)];

static CASES: AtomicUsize = AtomicUsize::new(0);

/// Serializes the tests, since an error in a kernel is reported to the next thread that waits for the device.
static TURN: Mutex<()> = Mutex::new(());

/// A running test on a device. On drop it prints the number of cases, and fails if there were none.
pub struct Here {
    name: &'static str,
    before: usize,
    _turn: MutexGuard<'static, ()>,
}

/// The device of all tests; tests of several devices also use the second one.
#[allow(dead_code, reason = "some programs name it in their cases")]
pub const DEVICE: Device = Device::Cuda(Some(0));

/// Counts compared cases.
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

/// Enters a test; `None` if it ran in child processes or cannot run.
#[track_caller]
pub fn enter(name: &'static str, schedules: &[Schedule<'_>]) -> Option<Here> {
    if host::is_fake() || Device::cuda(0).is_ok() {
        Device::cuda(0).expect("the CPU emulation of the GPU shows devices");
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        return Some(Here {
            name,
            before: CASES.load(Ordering::Relaxed),
            _turn: turn,
        });
    }
    for schedule in sampled(name, schedules) {
        let said = again(name, schedule)?;
        println!("{name}, {schedule:?}: {} cases", counted(&said));
    }
    None
}

/// Returns the schedules of a test: all of them if all cases are requested, else one of those that differ only in
/// [`VARIED`], another one in each test.
fn sampled<'a>(name: &str, schedules: &[Schedule<'a>]) -> Vec<Schedule<'a>> {
    if std::env::var_os("NOMINA_EVERY").is_some() {
        return schedules.to_vec();
    }
    let mut groups: BTreeMap<Vec<&(&str, &str)>, Vec<Schedule<'_>>> = BTreeMap::new();
    for schedule in schedules {
        let others = schedule.iter().filter(|(key, _)| !VARIED.contains(key));
        groups.entry(others.collect()).or_default().push(schedule);
    }
    let place = name.bytes().map(usize::from).sum::<usize>();
    let sample: Vec<Schedule<'_>> = groups
        .values()
        .map(|group| group[place % group.len()])
        .collect();
    if sample.len() < schedules.len() {
        let (run, all) = (sample.len(), schedules.len());
        println!("{name}: {run} of {all} schedules; `cargo xtask cuda` runs all");
    }
    sample
}

/// Runs a test of this program in a child process that has a device, and returns its output. Returns `None` and prints
/// the reason if there is neither a GPU nor a C++ compiler for the emulated one.
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

/// Parses the number of cases from the output of a test.
fn counted(said: &str) -> usize {
    let counts = said.lines().filter_map(|line| line.strip_suffix(" cases"));
    let counts = counts.filter_map(|line| line.rsplit(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

/// Returns whether the emulated GPU is in use. On a real GPU, prints that the test is skipped and `why`.
#[allow(dead_code, reason = "tests of several devices, and of little memory")]
pub fn needs_stand_in(name: &str, why: &str) -> bool {
    let real = !host::is_fake() && Device::cuda(0).is_ok();
    if real {
        println!("{name}: skipped on a GPU: {why}");
    }
    !real
}

/// Returns the name of the enclosing test.
macro_rules! name {
    () => {{
        fn here() {}
        let name = std::any::type_name_of_val(&here).trim_end_matches("::here");
        name.split_once("::").map_or(name, |(_, name)| name)
    }};
}

/// Enters a test; returns from it if it ran in child processes, one per schedule.
macro_rules! device {
    ($schedules:expr) => {
        match $crate::here::enter($crate::here::name!(), $schedules) {
            Some(here) => here,
            None => return,
        }
    };
}
pub(crate) use {device, name};
