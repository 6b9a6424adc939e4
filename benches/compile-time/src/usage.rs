//! The resources used by a command: user time, and the memory of the compilers it started.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The resources of one run of cargo.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// The user time in seconds, of cargo and all processes it started.
    pub seconds: f64,
    /// The largest resident set of a process that cargo started, in MB.
    pub megabytes: f64,
}

impl Usage {
    /// Returns the better of two runs: interference only adds to a run.
    pub fn better(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.min(other.seconds),
            megabytes: self.megabytes.min(other.megabytes),
        }
    }
}

/// The interval between memory readings. Each process records its own maximum, so a reading can
/// only miss what it allocates in its last moments.
const LOOK: Duration = Duration::from_millis(4);

/// Runs a command to its end.
pub fn of(command: &mut Command) -> Result<(Usage, Output), String> {
    let before = children_user_seconds()?;
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("cargo could not start: {error}"))?;
    let (pid, ended) = (child.id(), AtomicBool::new(false));
    let (output, kilobytes) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut children = Children::of(pid);
            while !ended.load(Ordering::Relaxed) {
                children.look();
                std::thread::sleep(LOOK);
            }
            children.kilobytes
        });
        let output = child.wait_with_output();
        ended.store(true, Ordering::Relaxed);
        (output, watch.join().unwrap_or(0))
    });
    let output = output.map_err(|error| format!("cargo did not end: {error}"))?;
    let usage = Usage {
        seconds: children_user_seconds()? - before,
        megabytes: kilobytes as f64 / 1024.0,
    };
    Ok((usage, output))
}

/// The descendants of one process, found through `/proc`.
struct Children {
    parent: u32,
    /// Every process seen so far, and whether it is a descendant.
    seen: BTreeMap<u32, bool>,
    /// The largest resident set so far.
    kilobytes: u64,
}

impl Children {
    fn of(parent: u32) -> Self {
        Self {
            parent,
            seen: BTreeMap::new(),
            kilobytes: 0,
        }
    }

    fn look(&mut self) {
        let folders = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = folders.filter_map(|folder| folder.file_name().to_str()?.parse().ok());
        for pid in pids {
            if self.seen.get(&pid) == Some(&false) {
                continue;
            }
            let Ok(status) = std::fs::read_to_string(format!("/proc/{pid}/status")) else {
                continue;
            };
            let own = field(&status, "PPid:") == Some(u64::from(self.parent));
            self.seen.insert(pid, own);
            if own && let Some(peak) = field(&status, "VmHWM:") {
                self.kilobytes = self.kilobytes.max(peak);
            }
        }
    }
}

/// Returns the number after a word at the start of a line.
fn field(status: &str, word: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(word))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the load average of the last minute.
pub fn load() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

/// Returns the user time of all children that have ended; Linux counts in ticks of 10 ms.
fn children_user_seconds() -> Result<f64, String> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat")
        .map_err(|error| format!("user time is read from /proc/self/stat: {error}"))?;
    parse_children_user(&stat)
        .map(|ticks| ticks as f64 / TICKS_PER_SECOND)
        .ok_or_else(|| format!("/proc/self/stat reads `{stat}`"))
}

/// Parses field 16 (`cutime`); the second field may contain spaces and ends at the last
/// parenthesis.
fn parse_children_user(stat: &str) -> Option<u64> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(13)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_time_is_field_sixteen() {
        let stat = "1 (a (b) c) S 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20";
        assert_eq!(parse_children_user(stat), Some(16));
        assert_eq!(parse_children_user("1 (a) S 4"), None);
    }

    #[test]
    fn memory_is_the_high_water_mark() {
        let status = "Name:\tx\nPPid:\t7\nVmPeak:\t  90 kB\nVmHWM:\t    1724 kB\n";
        assert_eq!(field(status, "VmHWM:"), Some(1724));
        assert_eq!(field(status, "PPid:"), Some(7));
        assert_eq!(field(status, "VmSwap:"), None);
    }

    #[test]
    fn a_started_process_is_watched() {
        // The shell keeps running, so that the second `sleep` is its child.
        let mut shell = Command::new("sh");
        let (usage, output) = of(shell.args(["-c", "sleep 0.1; echo done"])).unwrap();
        assert_eq!(output.stdout, b"done\n");
        assert!(usage.megabytes > 0.0, "{usage:?}");
        assert!(usage.seconds >= 0.0, "{usage:?}");
    }
}
