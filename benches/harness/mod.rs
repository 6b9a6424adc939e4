//! Shared by the benchmarks: options, timing, and output.
//!
//! A case is measured as `scripts/bench/torch_ops.py` measures PyTorch: three warm-up runs, then
//! five samples, each of as many runs as take a twentieth of a second; the figure is the median. On
//! an asynchronous device, a sample ends when the device has finished, and several copies of the
//! operands are used in turn, so that they do not come from its cache.

// Every benchmark includes this file, but none uses all of it.
#![allow(dead_code)]

use std::fmt;
use std::hint::black_box;
use std::io::{BufRead, Write};
use std::sync::OnceLock;
use std::time::Instant;

/// The minimum duration of a sample, in seconds.
const SAMPLE: f64 = 0.05;

/// Runs the work the given number of times, and returns the time in seconds.
pub type Timed = Box<dyn FnMut(u64) -> f64>;

/// Creates the operands of a case, and returns the timed work on them.
type Make = Box<dyn Fn() -> Timed>;

/// A device that runs asynchronously, so that a measurement has to wait for it.
pub struct Beside {
    /// Waits until all work is finished.
    pub wait: fn(),
    /// Returns the bytes of device memory in use.
    pub in_use: fn() -> usize,
}

/// The device that all cases run on, if not the host.
pub static BESIDE: OnceLock<Beside> = OnceLock::new();

/// The total size of the copies of the operands: several times a device's cache.
const TURNS: usize = 256 << 20;

/// Creates enough copies of the operands to exceed a device's cache; a single one if they are too
/// small for the cache to matter.
fn copies<I>(device: &Beside, make: &impl Fn() -> I) -> Vec<I> {
    let before = (device.in_use)();
    let mut copies = vec![make()];
    let bytes = (device.in_use)().saturating_sub(before);
    if bytes >= 1 << 20 {
        let more = TURNS.div_ceil(bytes).clamp(2, 64) - 1;
        copies.extend((0..more).map(|_| make()));
    }
    copies
}

/// A named measurement.
pub struct Case {
    pub name: String,
    work: Result<Make, &'static str>,
    /// Returns the result of the case, if other libraries compute the same.
    values: Option<Box<dyn Fn() -> Vec<f64>>>,
    rate: Option<(f64, &'static str)>,
}

/// Creates a case: `make` prepares the operands, which is not timed, and `run` is measured. The
/// drop of its result is included, as in PyTorch.
pub fn case<I: 'static, R>(
    name: impl Into<String>,
    make: impl Fn() -> I + 'static,
    run: impl Fn(&mut I) -> R + Copy + 'static,
) -> Case {
    let make = move || -> Timed {
        if let Some(device) = BESIDE.get() {
            let mut copies = copies(device, &make);
            let mut turn = 0;
            return Box::new(move |runs| {
                (device.wait)();
                let start = Instant::now();
                for _ in 0..runs {
                    drop(black_box(run(black_box(&mut copies[turn]))));
                    turn = (turn + 1) % copies.len();
                }
                (device.wait)();
                start.elapsed().as_secs_f64()
            });
        }
        let mut operands = make();
        Box::new(move |runs| {
            let start = Instant::now();
            for _ in 0..runs {
                drop(black_box(run(black_box(&mut operands))));
            }
            start.elapsed().as_secs_f64()
        })
    };
    Case {
        name: name.into(),
        work: Ok(Box::new(make)),
        values: None,
        rate: None,
    }
}

impl Case {
    /// Creates a case for which a library has no operator.
    pub fn lacking(name: &str, reason: &'static str) -> Self {
        Self {
            name: name.to_owned(),
            work: Err(reason),
            values: None,
            rate: None,
        }
    }

    /// Sets the function that computes the case's result, for `--values`.
    pub fn values(mut self, values: impl Fn() -> Vec<f64> + 'static) -> Self {
        self.values = Some(Box::new(values));
        self
    }

    /// Also prints a rate in units per second, if one run does `work` units.
    pub fn rate(mut self, work: f64, unit: &'static str) -> Self {
        self.rate = Some((work, unit));
        self
    }
}

/// Returns the seconds per run.
pub fn measure(timed: &mut dyn FnMut(u64) -> f64) -> f64 {
    timed(3);
    let mut runs = 1;
    while timed(runs) <= SAMPLE {
        runs *= 2;
    }
    let mut samples: [f64; 5] = std::array::from_fn(|_| timed(runs) / runs as f64);
    samples.sort_by(f64::total_cmp);
    samples[2]
}

/// The command-line options.
#[derive(Clone)]
pub struct Options {
    pub json: bool,
    /// Reads the names of cases from standard input, one per line.
    pub ask: bool,
    /// Prints the names of the cases, and measures nothing.
    pub list: bool,
    /// Prints the results of the cases, and measures nothing.
    pub values: bool,
    /// Runs only cases whose name contains this.
    pub only: String,
    pub threads: usize,
    /// The libraries to measure, if there are several.
    pub peers: Vec<String>,
    /// The library of these cases, if there are several.
    peer: Option<String>,
    /// The device of the cases as given on the command line; `None` if it was not given.
    pub device: Option<String>,
}

impl Options {
    /// Parses the command line; `peers` are the available libraries. Prints a message and exits if
    /// an argument is invalid.
    pub fn read(peers: &[&str]) -> Self {
        Self::read_args(peers, false)
    }

    /// Like [`read`](Self::read), for cases that run on any device.
    pub fn read_with_device() -> Self {
        Self::read_args(&[], true)
    }

    fn read_args(peers: &[&str], devices: bool) -> Self {
        Self::parse(std::env::args().skip(1), peers, devices).unwrap_or_else(|error| {
            let peer = if peers.is_empty() { "" } else { " [--peer NAME]" };
            let device = if devices { " [--device cuda]" } else { "" };
            eprintln!(
                "{error}\nusage: [--json] [--only SUBSTRING] [--threads N] [--ask] [--list] [--values]{peer}{device}"
            );
            std::process::exit(2)
        })
    }

    fn parse(
        args: impl Iterator<Item = String>,
        peers: &[&str],
        devices: bool,
    ) -> Result<Self, String> {
        let mut options = Self {
            json: false,
            ask: false,
            list: false,
            values: false,
            only: String::new(),
            threads: 2,
            peers: Vec::new(),
            peer: None,
            device: None,
        };
        let mut args = args;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} what?"));
            match arg.as_str() {
                // Cargo adds this flag.
                "--bench" => {}
                "--json" => options.json = true,
                "--ask" => options.ask = true,
                "--list" => options.list = true,
                "--values" => options.values = true,
                "--only" => options.only = value()?,
                "--threads" => {
                    let text = value()?;
                    options.threads = match text.parse() {
                        Ok(threads) if threads > 0 => threads,
                        _ => return Err(format!("--threads takes a number, not `{text}`")),
                    };
                }
                "--peer" if !peers.is_empty() => {
                    let name = value()?;
                    if !peers.contains(&name.as_str()) {
                        return Err(format!("no peer `{name}`; there are {}", peers.join(", ")));
                    }
                    options.peers.push(name);
                }
                "--device" if devices => options.device = Some(value()?),
                other => return Err(format!("no option `{other}`")),
            }
        }
        if options.peers.is_empty() {
            options.peers = peers.iter().map(|&name| name.to_owned()).collect();
        }
        Ok(options)
    }

    /// Returns the options for the cases of one library, whose name every line of JSON then
    /// contains.
    pub fn of(&self, peer: &str) -> Self {
        Self {
            peer: Some(peer.to_owned()),
            ..self.clone()
        }
    }
}

/// Measures the selected cases, and prints each as soon as it is finished.
pub fn run(cases: &[Case], options: &Options) {
    if options.ask {
        return answer(cases, options);
    }
    let chosen = || {
        cases
            .iter()
            .filter(|case| case.name.contains(&options.only))
    };
    let width = chosen().map(|case| case.name.len()).max().unwrap_or(0);
    for case in chosen() {
        if options.list {
            say(&case.name);
            continue;
        }
        if options.values {
            if let Some(values) = &case.values {
                let (name, values) = (&case.name, values());
                say(&format_args!(
                    r#"{{"case": "{name}", "values": {values:?}}}"#
                ));
            }
            continue;
        }
        let figure = Figure::of(case, options);
        match &figure.outcome {
            Err(_) if options.json => continue,
            _ if options.json => say(&figure),
            Err(reason) => say(&format_args!("{:<width$}  {reason}", case.name)),
            Ok(seconds) => {
                let rate = figure
                    .rate
                    .map(|(rate, unit)| format!("{rate:>10.1} {unit}"));
                let time = readable(*seconds);
                say(&format_args!(
                    "{:<width$} {time:>12}{}",
                    case.name,
                    rate.unwrap_or_default()
                ));
            }
        }
    }
}

/// Measures the cases named on standard input, so that a program that compares several libraries
/// can alternate between them.
fn answer(cases: &[Case], options: &Options) {
    for name in std::io::stdin().lock().lines() {
        let name = name.expect("standard input is readable");
        match cases.iter().find(|case| case.name == name) {
            Some(case) => say(&Figure::of(case, options)),
            None => say(&format_args!(
                r#"{{"case": "{name}", "lacking": "no such case"}}"#
            )),
        }
    }
}

/// Prints a line and flushes it, so that the reader of a pipe gets it at once.
fn say(line: &dyn fmt::Display) {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{line}").and_then(|()| out.flush());
    if written.is_err() {
        // The reader has closed the pipe.
        std::process::exit(1);
    }
}

/// The result of a case, or the reason why there is none; `Display` formats it as JSON.
struct Figure<'a> {
    peer: Option<&'a str>,
    name: &'a str,
    outcome: Result<f64, &'static str>,
    rate: Option<(f64, &'static str)>,
}

impl<'a> Figure<'a> {
    fn of(case: &'a Case, options: &'a Options) -> Self {
        let outcome = match &case.work {
            Ok(make) => Ok(measure(&mut make())),
            Err(reason) => Err(*reason),
        };
        let rate = case.rate.zip(outcome.ok());
        Self {
            peer: options.peer.as_deref(),
            name: &case.name,
            outcome,
            rate: rate.map(|((work, unit), seconds)| (work / seconds, unit)),
        }
    }
}

impl fmt::Display for Figure<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        if let Some(peer) = self.peer {
            write!(f, r#""peer": "{peer}", "#)?;
        }
        write!(f, r#""case": "{}", "#, self.name)?;
        match self.outcome {
            Ok(seconds) => write!(f, r#""seconds": {seconds:e}"#)?,
            Err(reason) => write!(f, r#""lacking": "{reason}""#)?,
        }
        if let Some((rate, unit)) = self.rate {
            write!(f, r#", "rate": {rate:.2}, "unit": "{unit}""#)?;
        }
        f.write_str("}")
    }
}

/// Formats a time in a suitable unit.
pub fn readable(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.2} µs", s * 1e6),
        s if s < 1.0 => format!("{:.3} ms", s * 1e3),
        s => format!("{s:.3} s"),
    }
}
