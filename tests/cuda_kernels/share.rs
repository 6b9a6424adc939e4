//! Splits the work between processes, since the compiler compiles one program at a time per process.

use std::collections::HashSet;
use std::collections::hash_map::DefaultHasher;
use std::fmt::Write;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nomina_runtime::cuda::catalog::{self, Module};

use super::library::Library;
use super::report::{self, Kernel};
use super::{CAPABILITIES, Found, Options, folder};

/// Starts a process per core and collects their results.
pub fn split(options: &Options, library: &Library) -> Result<Found, String> {
    if !report::understands() {
        return Err("the reader of the compiler's reports is broken".to_owned());
    }
    let this = std::env::current_exe().map_err(|error| error.to_string())?;
    let count = std::thread::available_parallelism().map_or(1, usize::from);
    let mut children = Vec::new();
    for i in 0..count {
        let mut command = Command::new(&this);
        command.args(["--share", &format!("{i}/{count}"), "--only", &options.only]);
        if options.every == 1 {
            command.arg("--all");
        }
        if options.keep {
            command.arg("--keep");
        }
        if let Some(file) = &options.pack {
            command.arg("--pack").arg(file);
        }
        if let Some(folder) = &options.among {
            command.arg("--among").arg(folder);
        }
        library.show(&mut command);
        let child = command.stdout(Stdio::piped()).spawn();
        children.push(child.map_err(|error| format!("{}: {error}", this.display()))?);
    }
    let mut found = Found::default();
    for (i, mut child) in children.into_iter().enumerate() {
        let mut ended = false;
        for line in child
            .stdout
            .take()
            .into_iter()
            .flat_map(|out| BufReader::new(out).lines())
        {
            let line = line.map_err(|error| error.to_string())?;
            match line.split_once('\t') {
                Some(("module", _)) => found.modules += 1,
                Some(("accesses", rest)) => found.accesses.push(rest.to_owned()),
                Some(("compiled", _)) => found.compiled += 1,
                Some(("kernel", rest)) => {
                    let kernel = Kernel::parse(rest);
                    found
                        .kernels
                        .push(kernel.ok_or("a process's line is not understood")?);
                }
                Some(("failure", rest)) => found.failures.push(rest.replace('\r', "\n")),
                Some(("end", _)) => ended = true,
                _ => return Err(format!("process {i} says `{line}`")),
            }
        }
        let status = child.wait().map_err(|error| error.to_string())?;
        if !ended || !status.success() {
            return Err(format!("process {i} of {count}: {status}"));
        }
    }
    Ok(found)
}

/// Returns the modules that the command line selects.
pub fn asked(options: &Options) -> Result<Vec<Module>, String> {
    let mut modules = match &options.among {
        Some(folder) => {
            catalog::asked(folder).map_err(|error| format!("{}: {error}", folder.display()))?
        }
        None => catalog::modules(),
    };
    if options.pack.is_some() {
        let mut common = catalog::modules();
        common.retain(|module| is_common(&module.name()));
        let files: HashSet<_> = modules.iter().map(|module| module.file(90)).collect();
        common.retain(|module| !files.contains(&module.file(90)));
        modules.append(&mut common);
    }
    modules.retain(|module| {
        let name = module.name();
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        options.only.split(',').any(|only| name.contains(only))
            && hasher.finish().is_multiple_of(options.every)
    });
    Ok(modules)
}

/// Returns whether a module uses only `f32`, `i64` and `bool` with 32-bit positions: the modules of most programs.
fn is_common(name: &str) -> bool {
    let rare = [
        "u8", "i8", "u16", "i16", "i32", "f16", "bf16", "u64", "f64", "c64", "c128",
    ];
    let mut words = name.split(|c: char| !c.is_alphanumeric());
    !words.any(|word| rare.contains(&word))
}

/// Does the share of one process: the modules whose index modulo the number of processes is its own.
pub fn work(options: &Options) -> Result<(), String> {
    let (this, of) = options.share.unwrap_or((0, 1));
    let version = catalog::compiler().map_err(|error| error.to_string())?;
    let kept = folder().join(format!("found-{}.{}", version.0, version.1));
    fs::create_dir_all(&kept).map_err(|error| format!("{}: {error}", kept.display()))?;
    let modules = asked(options)?;
    for module in modules.iter().skip(this).step_by(of) {
        println!("module\t{}", module.name());
        if options.keep {
            match module.keep(options.pack.is_some()) {
                Ok(true) => println!("compiled\t"),
                Ok(false) => {}
                Err(error) => println!("failure\t{}", error.to_string().replace('\n', "\r")),
            }
            continue;
        }
        for capability in CAPABILITIES.into_iter().filter(|&it| module.goes_with(it)) {
            let file = kept.join(format!("{:016x}-{capability}", module.fingerprint()));
            match kernels(module, capability, &file) {
                Ok(lines) => print!("{lines}"),
                // A line is a message to the collecting process.
                Err(error) => println!("failure\t{}", error.replace('\n', "\r")),
            }
        }
    }
    println!("end\t");
    Ok(())
}

/// Returns report lines for the kernels of a module, from the cache or by compiling it.
fn kernels(module: &Module, capability: u32, file: &PathBuf) -> Result<String, String> {
    if let Ok(text) = fs::read_to_string(file)
        && let Some(lines) = text.strip_suffix("end\n")
    {
        return Ok(lines.to_owned());
    }
    let name = module.name();
    let said = |what: &str| format!("{name}, sm_{capability}: {what}");
    let code = module
        .compile(capability)
        .map_err(|error| said(&error.to_string()))?;
    if !code.cubin.starts_with(b"\x7fELF") {
        return Err(said("the code is no ELF file"));
    }
    let ptx = String::from_utf8_lossy(&code.ptx);
    if !ptx.contains(&format!(".target sm_{capability}")) {
        return Err(said("the PTX is not for it"));
    }
    for entry in module.entries() {
        if !ptx.contains(&format!(".entry {entry}(")) {
            return Err(said(&format!("there is no kernel `{entry}`")));
        }
    }
    if let Some(remark) = report::remark(&code.report) {
        return Err(said(remark));
    }
    let kernels = report::read(&name, capability, &code.report);
    if let Some(entry) = module
        .entries()
        .find(|entry| !kernels.iter().any(|k| k.name == *entry))
    {
        return Err(said(&format!("the compiler says nothing of `{entry}`")));
    }
    let mut lines: String = kernels
        .iter()
        .map(|kernel| format!("kernel\t{}\n", kernel.line()))
        .collect();
    let [generic, global] = report::accesses(&ptx);
    let _ = writeln!(lines, "accesses\t{generic}\t{global}\t{name}");
    // Renaming is atomic, so that other processes never read a partial file. If it fails, the next run merely takes
    // longer.
    let own = file.with_extension(std::process::id().to_string());
    let written = fs::write(&own, format!("{lines}end\n")).and_then(|()| fs::rename(&own, file));
    drop(written);
    Ok(format!("compiled\t\n{lines}"))
}
