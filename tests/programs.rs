//! Random programs on tensors of any layout: see `programs/mod.rs`. `NOMINA_PROGRAMS=count,seed` sets their number and
//! the first seed.

#[path = "programs/bytes.rs"]
mod bytes;
#[path = "programs/run.rs"]
mod programs;

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use programs::Counts;

/// Serializes the tests, since programs seed and draw from the process-wide generator.
fn alone() -> MutexGuard<'static, ()> {
    static GENERATOR: Mutex<()> = Mutex::new(());
    GENERATOR.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn layouts_change_no_result() {
    let _alone = alone();
    let asked = std::env::var("NOMINA_PROGRAMS").unwrap_or_else(|_| "20000,1".to_owned());
    let (count, first) = asked.split_once(',').unwrap_or((&asked, "1"));
    let (count, first): (u64, u64) = (count.parse().unwrap(), first.parse().unwrap());
    let mut counts = Counts::default();
    let mut wrong = Vec::new();
    for seed in first..first + count {
        if let Err(what) = programs::run(&mut Bytes::Random(seed), &mut counts) {
            wrong.push(format!("seed {seed}:\n{what}"));
            if wrong.len() >= 10 {
                break;
            }
        }
    }
    println!(
        "{count} programs from {first}: {} results, {} by definition, {} errors",
        counts.results, counts.defined, counts.errors
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(counts.results > counts.errors / 4 && counts.defined > 0);
}

#[test]
fn sizes_beside_a_zero_are_no_work() {
    let _alone = alone();
    let wrong = programs::endless(40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Programs from bytes, as a fuzzer supplies them.
#[test]
fn bytes_say_what_is_run() {
    let _alone = alone();
    let mut counts = Counts::default();
    for byte in 0..=u8::MAX {
        let bytes: Vec<u8> = (0..64).map(|i| byte.wrapping_mul(i)).collect();
        programs::run(&mut Bytes::Given(&bytes), &mut counts).unwrap();
    }
    assert!(counts.results > 0);
}
