//! Compiles every kernel for every dtype with the real compiler, on a machine without a GPU: to PTX, which must have no
//! generic accesses, and to machine code for sm_80 and sm_90, which must have no spills or stack frames except the
//! listed ones.
//!
//! `cargo xtask kernels [--only SUBSTRING,...] [--names] [--verbose] [--require]` compiles them all, which takes one
//! core twenty minutes; the test compiles a sample, the same every time. The compiler is a pinned wheel, which
//! `scripts/cuda/fetch.py` downloads once, with `--fetch` or `--all`; without it, the test says so and passes, unless
//! `--require` is given. Results are cached below `target/cuda`, keyed by the text of the modules, so that only changed
//! modules are compiled again.

#[path = "cuda_kernels/library.rs"]
mod library;
#[path = "cuda_kernels/listed.rs"]
mod listed;
#[path = "cuda_kernels/pack.rs"]
mod pack;
#[path = "cuda_kernels/report.rs"]
mod report;
#[path = "cuda_kernels/share.rs"]
mod share;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use library::Library;
use report::Kernel;

/// The target architectures: two generations of data-centre GPUs.
const CAPABILITIES: [u32; 2] = [80, 90];

/// One module in this many is compiled, unless all are asked for.
const SAMPLE: u64 = 16;

/// The command-line options.
#[derive(Clone, Default)]
struct Options {
    /// Substrings; a module runs if its name contains one of them.
    only: String,
    /// Takes one module in this many, selected by a hash of its name.
    every: u64,
    /// Only lists the modules.
    names: bool,
    verbose: bool,
    /// Downloads the compiler; as a test the program downloads nothing.
    fetch: bool,
    require: bool,
    /// Compiles for sm_90 only, and stores the kernels in `NOMINA_CUDA_CACHE`.
    keep: bool,
    /// Also stores them for sm_80 and as PTX, together with the common modules of the list, and packs everything into
    /// this file.
    pack: Option<PathBuf>,
    /// The cache of a program that ran on the emulated GPU; compiles the modules it asked for instead of the listed
    /// ones.
    among: Option<PathBuf>,
    /// The index of this process among those that share the work, and their number.
    share: Option<(usize, usize)>,
}

impl Options {
    /// Returns `None` if a test runner asks for other tests or for a list.
    fn read() -> Result<Option<Self>, String> {
        let mut options = Self {
            every: SAMPLE,
            ..Self::default()
        };
        let mut args = std::env::args().skip(1);
        let mut list = false;
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} what?"));
            match arg.as_str() {
                "--list" => list = true,
                "--ignored" => return Ok(None),
                "--only" => options.only = value()?,
                "--all" => (options.every, options.fetch) = (1, true),
                "--fetch" => options.fetch = true,
                "--keep" => options.keep = true,
                "--pack" => (options.keep, options.pack) = (true, Some(value()?.into())),
                "--among" => options.among = Some(value()?.into()),
                "--names" => options.names = true,
                "--verbose" => options.verbose = true,
                "--require" => options.require = true,
                "--share" => {
                    let text = value()?;
                    let numbers = text.split_once('/');
                    let numbers =
                        numbers.and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
                    options.share = Some(numbers.ok_or("--share takes I/N")?);
                }
                // Flags that test runners pass to every program.
                flag if flag.starts_with("--") => {}
                filter if "cuda_kernels".contains(filter) => {}
                _ => return Ok(None),
            }
        }
        if list {
            println!("cuda_kernels: test");
            return Ok(None);
        }
        Ok(Some(options))
    }
}

/// Returns `target/cuda`, the folder of the compiler and of the cached results.
fn folder() -> PathBuf {
    let tmp = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap_or(&tmp).join("cuda")
}

fn main() -> ExitCode {
    let done = match Options::read() {
        Ok(None) => Ok(()),
        Ok(Some(options)) if options.names => {
            let asked = share::asked(&options);
            asked.and_then(|all| all.iter().try_for_each(|module| say(module.name())))
        }
        Ok(Some(options)) if options.share.is_some() => share::work(&options),
        Ok(Some(options)) => all(&options),
        Err(error) => Err(error),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cuda_kernels: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Prints a line to standard output; fails if the reader has closed the pipe.
fn say(line: impl Display) -> Result<(), String> {
    writeln!(std::io::stdout(), "{line}").map_err(|error| error.to_string())
}

fn all(options: &Options) -> Result<(), String> {
    let library = match Library::find(&folder(), options.fetch) {
        Ok(library) => library,
        Err(library::Trouble::Missing(why)) if !options.require => {
            println!("cuda_kernels: left out, no kernel was compiled: {why}");
            return Ok(());
        }
        Err(trouble) => return Err(trouble.to_string()),
    };
    let start = Instant::now();
    let found = share::split(options, &library)?;
    let seconds = start.elapsed().as_secs_f64();
    if found.modules == 0 {
        return Err(format!("no module has `{}` in its name", options.only));
    }
    if options.keep {
        println!(
            "{} modules for sm_90, {} compiled now, {} failed; {seconds:.1} s",
            found.modules,
            found.compiled,
            found.failures.len()
        );
        return match (found.failures.is_empty(), &options.pack) {
            (false, _) => Err(found.failures.join("\n")),
            (true, Some(file)) => pack::write(options, file),
            (true, None) => Ok(()),
        };
    }
    let (mut unlisted, mut generics) = (Vec::new(), Vec::new());
    let mut largest: BTreeMap<&str, u32> = BTreeMap::new();
    for kernel in &found.kernels {
        let file = kernel.file();
        let registers = largest.entry(file).or_default();
        *registers = kernel.registers.max(*registers);
        if options.verbose {
            println!("{kernel}");
        }
        if kernel.uses_local_memory() && !listed::is_listed(kernel) {
            unlisted.push(kernel.to_string());
        }
    }
    let mut accesses = [0; 2];
    for line in &found.accesses {
        let mut fields = line.splitn(3, '\t');
        let [generic, global] =
            [(); 2].map(|()| fields.next().and_then(|n| n.parse().ok()).unwrap_or(1));
        accesses = [accesses[0] + generic, accesses[1] + global];
        if generic > 0 {
            let module = fields.next().unwrap_or(line);
            generics.push(format!(
                "{module}: {generic} of {} accesses",
                generic + global
            ));
        }
    }
    println!(
        "accesses of memory in PTX: {} global, {} generic",
        accesses[1], accesses[0]
    );
    let registers: Vec<String> = largest.iter().map(|(f, n)| format!("{f} {n}")).collect();
    println!("most registers of a thread: {}", registers.join(", "));
    let part = match options.every {
        1 => "all".to_owned(),
        every => format!("a sample, one of {every}"),
    };
    println!(
        "{} modules ({part}) with {} kernels for sm_80 and sm_90; {} compiled now, {} kept from before; {} failed; {seconds:.1} s",
        found.modules,
        found.kernels.len(),
        found.compiled,
        found.accesses.len() - found.compiled,
        found.failures.len()
    );
    if options.only.is_empty() && options.every == 1 {
        unlisted.extend(listed::needless(&found.kernels));
    }
    if !found.failures.is_empty() {
        return Err(found.failures.join("\n"));
    }
    if !generics.is_empty() {
        return Err(format!(
            "generic accesses, whose space the device has to find out (a pointer that went by way of a number?):\n{}",
            generics.join("\n")
        ));
    }
    if unlisted.is_empty() {
        return Ok(());
    }
    Err(format!(
        "spills or stack frames that tests/cuda_kernels/listed.rs has no reason for:\n{}",
        unlisted.join("\n")
    ))
}

/// The combined results of all processes.
#[derive(Default)]
struct Found {
    modules: usize,
    compiled: usize,
    kernels: Vec<Kernel>,
    /// The numbers of generic and global accesses, with the name of the module.
    accesses: Vec<String>,
    failures: Vec<String>,
}
