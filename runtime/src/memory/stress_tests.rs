//! Threads that allocate blocks, pass them to each other, and drop them.

use std::sync::mpsc;
use std::thread;

use super::*;

/// A block marked at both ends with a number that only its owner knows.
struct Marked {
    block: Block,
    bytes: usize,
    mark: u64,
}

impl Marked {
    fn new(bytes: usize, mark: u64) -> Self {
        let block = Block::new(bytes, false).unwrap();
        let this = Self { block, bytes, mark };
        for place in this.places() {
            // SAFETY: within the block, which belongs to this test, and aligned.
            unsafe { place.write(mark) };
        }
        this
    }

    fn places(&self) -> [*mut u64; 2] {
        let ptr = self.block.as_ptr().as_ptr();
        [0, self.bytes / 8 - 1].map(|at| ptr.wrapping_add(8 * at).cast())
    }
}

impl Drop for Marked {
    fn drop(&mut self) {
        for place in self.places() {
            // SAFETY: as in `new`, which wrote it.
            assert_eq!(unsafe { place.read() }, self.mark, "two owners");
        }
    }
}

/// Returns a pseudorandom number.
fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Each thread keeps some blocks, drops some, and sends some to the next thread, which drops them.
fn churn(threads: usize, rounds: usize) {
    let (senders, receivers): (Vec<_>, Vec<_>) =
        (0..threads).map(|_| mpsc::channel::<Marked>()).unzip();
    thread::scope(|scope| {
        let mut running = Vec::new();
        for (at, receiver) in receivers.into_iter().enumerate() {
            let to = senders[(at + 1) % threads].clone();
            running.push(scope.spawn(move || {
                let mut state = at as u64 + 1;
                let mut kept: Vec<Marked> = Vec::new();
                for round in 0..rounds {
                    let bytes = match next(&mut state) % 64 {
                        0 => 1 << 20,
                        1 => 9 << 20,
                        2..8 => 40 << 10,
                        _ => 8 + next(&mut state) as usize % 4000,
                    };
                    let bytes = if cfg!(miri) { bytes.min(4000) } else { bytes };
                    let new = Marked::new(bytes, (at * rounds + round) as u64);
                    match next(&mut state) % 4 {
                        0 => drop(new),
                        // The next thread may have ended.
                        1 => drop(to.send(new)),
                        _ => kept.push(new),
                    }
                    if kept.len() > 40 {
                        let one = next(&mut state) as usize % kept.len();
                        drop(kept.swap_remove(one));
                    }
                    receiver.try_iter().take(2).for_each(drop);
                    if next(&mut state).is_multiple_of(1000) {
                        trim();
                    }
                }
            }));
        }
        drop(senders);
        // The scope only waits for closures to return, not for threads to hand over their caches.
        running
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    });
}

/// Checks the exact counts while nothing else runs: requires a separate process.
fn exact() {
    churn(4, if cfg!(miri) { 50 } else { 3000 });
    let after = stats();
    assert_eq!(after.in_use, 0, "{after:?}");
    assert!(after.held <= cap() + local::MOST, "{after:?}");
    assert!(after.peak >= after.held && (after.held > 0 || cap() == 0));

    let block = Block::new(100_000, false).unwrap();
    let now = stats();
    let size = match cap() {
        0 => 100_000,
        _ => class::size(class::for_bytes(100_000)),
    };
    assert_eq!(now.in_use, size);
    drop(block);
    assert_eq!(stats().in_use, 0);

    trim();
    let trimmed = stats();
    assert_eq!((trimmed.in_use, trimmed.held), (0, 0));
    assert!(trimmed.peak >= now.in_use);

    // With a small cap, the class that was unused longest is released first.
    set_cap(4 << 20);
    let sizes = [3 << 20, 1 << 20, 3 << 20, 1 << 20];
    drop(sizes.map(|bytes| Block::new(bytes, false).unwrap()));
    assert!(stats().held <= 4 << 20);
    set_cap(0);
    assert_eq!(stats().held, 0);
    let block = Block::new(100, false).unwrap();
    assert_eq!(stats().in_use, 100);
    drop(block);
    assert_eq!((stats().in_use, stats().held), (0, 0));
}

#[test]
fn blocks_have_one_owner_whoever_drops_them() {
    churn(4, if cfg!(miri) { 20 } else { 2000 });
}

/// The counts are global to the process: [`exact`] runs in a process that runs nothing else.
#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn counts_are_exact() {
    const ALONE: &str = "NOMINA_TEST_ALONE";
    if std::env::var_os(ALONE).is_some() {
        return exact();
    }
    let this = std::env::current_exe().unwrap();
    let name = "memory::stress_tests::counts_are_exact";
    let output = std::process::Command::new(this)
        .args(["--exact", name, "--test-threads=1"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
