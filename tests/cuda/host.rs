//! The emulated GPU: its libraries are built with the system's C++ compiler, once per content, and
//! test programs run themselves again with them.
//!
//! Test programs include this file by `#[path]`.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::{env, fs, process};

/// Set in a process that runs with the emulated GPU.
const MARK: &str = "NOMINA_FAKE_GPU";

/// A library: its name, the name that programs link to, and its sources (a folder or a file).
const LIBRARIES: [(&str, &str, &str); 5] = [
    ("libcuda.so.1", "libcuda.so", "driver"),
    ("libnvrtc.so.13", "libnvrtc.so", "nvrtc.cpp"),
    ("libcublasLt.so.13", "libcublasLt.so", "cublaslt.cpp"),
    ("libcudnn.so.9", "libcudnn.so", "cudnn.cpp"),
    ("libnccl.so.2", "libnccl.so", "nccl.cpp"),
];

const FLAGS: [&str; 4] = ["-std=c++17", "-O2", "-fPIC", "-fvisibility=hidden"];

/// Returns whether this process already runs with the emulated GPU.
pub fn is_fake() -> bool {
    env::var_os(MARK).is_some()
}

/// Returns `runtime/kernels`.
pub fn kernels() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let inside = root.join("runtime/kernels");
    if inside.is_dir() {
        inside
    } else {
        root.join("../runtime/kernels")
    }
}

/// Returns the name of the C++ compiler: `$CXX`, else `c++`.
pub fn compiler() -> OsString {
    match env::var_os("CXX") {
        Some(named) if !named.is_empty() => named,
        _ => "c++".into(),
    }
}

/// Returns the folder for files of tests, below the target folder.
fn folder() -> PathBuf {
    match option_env!("CARGO_TARGET_TMPDIR") {
        Some(folder) => folder.into(),
        None => env::temp_dir(),
    }
}

/// Returns the folder with the emulated libraries, or why there is none.
pub fn fakes() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let host = kernels().join("host");
    let version = Command::new(compiler())
        .arg("--version")
        .output()
        .map_err(|error| format!("no C++ compiler ({}): {error}", compiler().display()))?
        .stdout;
    let mut hasher = DefaultHasher::new();
    (version, FLAGS, compiler()).hash(&mut hasher);
    let shared = kernels().join("types.cuh");
    for file in files(&host)?
        .iter()
        .chain(&files(&host.join("driver"))?)
        .chain([&shared])
    {
        (file.file_name(), text(fs::read(file), file)?).hash(&mut hasher);
    }
    let built = folder().join(format!("fake-gpu-{:016x}", hasher.finish()));
    if built.is_dir() {
        return Ok(built);
    }
    // Another process may build the same libraries: the first to rename its folder wins.
    let own = built.with_extension(process::id().to_string());
    text(fs::create_dir_all(&own), &own)?;
    build_in(&host, &own)?;
    if fs::rename(&own, &built).is_err() {
        text(fs::remove_dir_all(&own), &own)?;
    }
    if built.is_dir() {
        Ok(built)
    } else {
        Err(format!("{} did not come to be", built.display()))
    }
}

fn build_in(host: &Path, own: &Path) -> Result<(), String> {
    let mut objects = Vec::new();
    for (name, asked, sources) in LIBRARIES {
        let sources = match host.join(sources) {
            sources if sources.is_dir() => files(&sources)?,
            sources if sources.is_file() => vec![sources],
            _ => continue,
        };
        for source in sources.iter().filter(|source| ends(source, "cpp")) {
            let object = own.join(source.with_extension("o").file_name().unwrap_or_default());
            let mut command = Command::new(compiler());
            command.args(FLAGS).args(["-c", "-o"]);
            objects.push((
                name,
                asked,
                object.clone(),
                start(command.arg(object).arg(source))?,
            ));
        }
    }
    let mut linked: Vec<(&str, &str, Vec<PathBuf>)> = Vec::new();
    for (name, asked, object, child) in objects {
        finish(child)?;
        match linked.last_mut() {
            Some((last, _, objects)) if *last == name => objects.push(object),
            _ => linked.push((name, asked, vec![object])),
        }
    }
    for (name, asked, objects) in linked {
        let mut command = Command::new(compiler());
        command
            .args(["-shared", "-o"])
            .arg(own.join(name))
            .args(&objects);
        // The other libraries may call the driver.
        command
            .arg(format!("-Wl,-soname,{name}"))
            .arg("-Wl,-rpath,$ORIGIN")
            .arg("-L")
            .arg(own);
        if name != "libcuda.so.1" {
            command.arg("-lcuda");
        }
        finish(start(command.args(["-ldl", "-lpthread"]))?)?;
        text(std::os::unix::fs::symlink(name, own.join(asked)), own)?;
        for object in objects {
            text(fs::remove_file(&object), &object)?;
        }
    }
    // The compiler library includes these headers before each kernel, so they must be next to it.
    for header in files(host)?.iter().filter(|file| ends(file, "h")) {
        text(
            fs::copy(header, own.join(header.file_name().unwrap_or_default())),
            header,
        )?;
    }
    Ok(())
}

fn ends(file: &Path, with: &str) -> bool {
    file.extension().is_some_and(|extension| extension == with)
}

/// Returns the files of a folder, sorted.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for entry in text(fs::read_dir(folder), folder)? {
        files.push(text(entry, folder)?.path());
    }
    files.retain(|file| file.is_file());
    files.sort();
    Ok(files)
}

fn text<T>(result: std::io::Result<T>, path: &Path) -> Result<T, String> {
    result.map_err(|error| format!("{}: {error}", path.display()))
}

fn start(command: &mut Command) -> Result<Child, String> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{command:?}: {error}"))
}

fn finish(child: Child) -> Result<(), String> {
    let output = child
        .wait_with_output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// A folder that is deleted on drop.
pub struct Folder(PathBuf);

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Returns a folder for this process with the emulated libraries except one, or why there is none.
pub fn without(library: &str) -> Result<Folder, String> {
    let fakes = fakes()?;
    let own = fakes.with_extension(format!("without-{library}-{}", process::id()));
    let own = Folder(own);
    text(fs::create_dir_all(&*own), &own)?;
    for file in files(&fakes)? {
        let name = file.file_name().unwrap_or_default();
        if !file.is_symlink() && !name.to_string_lossy().starts_with(library) {
            text(fs::copy(&file, own.join(name)), &file)?;
        }
    }
    Ok(own)
}

/// Returns a command that runs with the emulated GPU: its libraries come first in the search path,
/// and compiled kernels are stored apart from those of a real GPU.
pub fn with_fakes(program: &Path) -> Result<Command, String> {
    let fakes = fakes()?;
    let mut command = Command::new(program);
    let mut path = OsString::from(&fakes);
    if let Some(more) = env::var_os("LD_LIBRARY_PATH").filter(|more| !more.is_empty()) {
        path.push(":");
        path.push(more);
    }
    command
        .env("LD_LIBRARY_PATH", path)
        .env("NOMINA_CUDA_CACHE", fakes.join("cache"))
        .env("NOMINA_CUDA_SOURCES", "1")
        .env(MARK, "1");
    Ok(command)
}

/// Runs this program again with the emulated GPU.
pub fn rerun_with_fake(args: &[&str], env: &[(&str, &str)]) -> Result<Output, String> {
    let own = env::current_exe().map_err(|error| error.to_string())?;
    let mut command = with_fakes(&own)?;
    let output = command.args(args).envs(env.iter().copied()).output();
    output.map_err(|error| format!("{}: {error}", own.display()))
}
