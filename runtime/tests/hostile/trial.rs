//! Many calls of every function.

use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::super::bytes::Bytes;
use super::calls;
use super::entry::{self, Call};

/// A limit that no call of these arguments comes close to.
const PATIENCE: Duration = Duration::from_secs(60);

/// The running call, and its start.
static UNDER_WAY: Mutex<Option<(String, u64, Instant)>> = Mutex::new(None);

/// The location of the last panic.
static PLACE: Mutex<String> = Mutex::new(String::new());

/// Aborts the program if a call does not return.
fn watch() {
    std::thread::spawn(|| {
        loop {
            std::thread::sleep(Duration::from_secs(1));
            if let Some((name, seed, since)) = &*UNDER_WAY.lock().unwrap()
                && since.elapsed() > PATIENCE
            {
                // Not by `eprintln!`, whose output a test captures, and would lose here.
                let said = format!("{name} does not end: NOMINA_HOSTILE=1,{seed},{name}\n");
                let _ = std::io::stderr().write_all(said.as_bytes());
                std::process::abort();
            }
        }
    });
}

fn name(call: &Call) -> String {
    match call.of {
        "call" => call.name.to_owned(),
        of => format!("{of}::{}", call.name),
    }
}

/// Calls every function, or the one with this name, with `count` argument sets.
///
/// # Panics
/// If one did harm, or all its calls were refused.
pub fn all(count: u64, first: u64, only: Option<&str>) {
    watch();
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|info| {
        *PLACE.lock().unwrap() = info.to_string();
    }));
    let mut faults = BTreeMap::new();
    let mut idle = Vec::new();
    let (mut functions, mut sets, mut results) = (0, 0, 0);
    for call in calls().filter(|call| only.is_none_or(|only| only == name(call))) {
        let mut done = 0_u64;
        for seed in first..first + count {
            *UNDER_WAY.lock().unwrap() = Some((name(call), seed, Instant::now()));
            match catch_unwind(AssertUnwindSafe(|| {
                entry::once(call, &mut Bytes::Random(seed))
            })) {
                Ok(ok) => done += u64::from(ok),
                Err(_) => {
                    let place = PLACE.lock().unwrap().clone();
                    let at = place.lines().next().unwrap_or_default().to_owned();
                    faults.entry((name(call), at)).or_insert((seed, place));
                }
            }
        }
        if done == 0 && count >= 300 {
            idle.push(name(call));
        }
        functions += 1;
        (sets, results) = (sets + count, results + done);
    }
    *UNDER_WAY.lock().unwrap() = None;
    std::panic::set_hook(before);
    println!("{functions} functions, {sets} argument sets: {results} results");
    let faults: Vec<String> = faults
        .iter()
        .map(|((name, _), (seed, what))| {
            format!("{name}, NOMINA_HOSTILE=1,{seed},{name}\n  {what}")
        })
        .collect();
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.join("\n")
    );
    assert!(idle.is_empty(), "never a result: {idle:?}");
}
