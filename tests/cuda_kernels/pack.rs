//! Writes the file of the package `nomina-cuda-kernels`.

use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::{fs, thread};

use super::{Options, share};

/// The size limit of a package on crates.io: 10 MiB.
const MOST: usize = 10 << 20;

/// Packs the stored kernels of the modules that the command line selects.
pub fn write(options: &Options, file: &Path) -> Result<(), String> {
    let modules = share::asked(options)?;
    let mut all: Vec<_> = modules
        .iter()
        .map(|module| (module.name(), module))
        .collect();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    let codes = all
        .iter()
        .map(|(_, module)| module.shipped().collect::<Vec<_>>());
    let codes: Vec<_> = codes.collect();
    // Kernels for one target are similar, and much of a kernel's code repeats in modules of the
    // same file.
    let targets = codes.iter().map(Vec::len).max().unwrap_or(0);
    let sorted =
        (0..targets).flat_map(|target| codes.iter().filter_map(move |code| code.get(target)));
    let sorted: Vec<_> = sorted.cloned().collect();
    let unpacked: usize = sorted.iter().map(|(_, code)| code.len()).sum();
    let pack =
        nomina_cuda_kernels::write(&sorted, zstd).map_err(|error| format!("zstd: {error}"))?;
    println!(
        "{}: {} modules, {unpacked} bytes, packed {}",
        file.display(),
        sorted.len(),
        pack.len()
    );
    if pack.len() > MOST {
        return Err(format!("the pack may have {MOST} bytes"));
    }
    fs::write(file, pack).map_err(|error| format!("{}: {error}", file.display()))
}

/// Compresses at level 19; level 22 makes blocks of this size no smaller.
fn zstd(block: &[u8]) -> io::Result<Vec<u8>> {
    let mut command = Command::new("zstd");
    command.args(["-19", "--no-check", "-c"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().expect("it is piped");
    let output = thread::scope(|scope| {
        scope.spawn(move || input.write_all(block));
        child.wait_with_output()
    })?;
    if output.status.success() {
        Ok(output.stdout)
    } else {
        Err(io::Error::other(output.status.to_string()))
    }
}
