//! The cache on disk: compiled modules, and plans of cuDNN.
//!
//! A file is written under a temporary name and then renamed, so that a process never reads a partial file of another.
//! A file that is damaged anyway, for example by a full disk, is detected by its checksum and compiled again. A failure
//! here costs only time.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{env, fs, io, process};

use super::compile::CompileTarget;
use super::source::{HEADERS, Source};

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"nominaK1";

/// The bytes before the module: magic, length and checksum.
const HEAD: usize = 24;

/// Returns the folder, from `NOMINA_CUDA_CACHE` or the user's cache folder; `None` for no cache.
pub(super) fn folder() -> Option<&'static PathBuf> {
    static FOLDER: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOLDER
        .get_or_init(|| match env::var_os("NOMINA_CUDA_CACHE") {
            Some(off) if off == "0" => None,
            Some(folder) if !folder.is_empty() => Some(folder.into()),
            _ => {
                let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".cache"));
                let caches = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
                let caches = caches.filter(|path| path.is_absolute()).or_else(home)?;
                Some(caches.join("nomina").join("cuda"))
            }
        })
        .as_ref()
}

/// Returns a hash of all headers.
fn shared() -> u64 {
    static SHARED: OnceLock<u64> = OnceLock::new();
    *SHARED.get_or_init(|| hash(&HEADERS))
}

/// Returns a hash of a module's text, its options and the headers that it includes.
pub(super) fn fingerprint(source: &Source) -> u64 {
    hash(&(source.headers(), source.text(), source.contracts()))
}

/// Returns a 128-bit hash of a module's source and its target. It is not cryptographic: collisions occur only by
/// intent. It does not include the compiler's version, so that a machine without a compiler can use modules of another
/// machine.
pub(super) fn number(source: &Source, target: CompileTarget) -> u128 {
    let shared = shared();
    let text = source.text();
    let of = match target {
        CompileTarget::Cubin(arch) => (arch / 10, arch % 10),
        // No device has this minor version.
        CompileTarget::Bound(arch) => (arch, u32::MAX - 1),
        CompileTarget::Ptx(arch) => (arch, u32::MAX),
    };
    let half = |salt: u8| u128::from(hash(&(salt, shared, &text, source.contracts(), of)));
    half(1) << 64 | half(2)
}

/// Returns the name of a module's file.
pub(super) fn name(source: &Source, target: CompileTarget) -> String {
    format!("{:032x}", number(source, target))
}

/// Returns the name of a file whose contents belong to a text. It has an extension, which modules have not.
pub(super) fn text_name(text: &str) -> String {
    format!("{:016x}.plan", hash(&text))
}

/// Hashes by the hasher of the standard library. If a release changes it, modules of the cache and of packages are not
/// found and are compiled again.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a module, if its file is there and undamaged.
pub(super) fn load(source: &Source, target: CompileTarget) -> Option<Vec<u8>> {
    load_file(&name(source, target))
}

/// Returns the contents of a file, if it is there and undamaged.
pub(super) fn load_file(name: &str) -> Option<Vec<u8>> {
    let bytes = fs::read(folder()?.join(name)).ok()?;
    unpacked(&bytes).map(<[u8]>::to_vec)
}

/// Writes the contents of a file for later processes.
pub(super) fn store_file(name: &str, contents: &[u8]) {
    write(name, &packed(contents));
}

/// Writes a module for later processes. With `NOMINA_CUDA_SOURCES`, also writes its source, so that another machine can
/// compile the modules that this one has used.
pub(super) fn store(source: &Source, target: CompileTarget, module: &[u8]) {
    static SOURCES: OnceLock<bool> = OnceLock::new();
    let name = name(source, target);
    if *SOURCES.get_or_init(|| env::var_os("NOMINA_CUDA_SOURCES").is_some()) {
        write(&format!("{name}.{KEPT}"), source.kept().as_bytes());
    }
    store_file(&name, module);
}

/// The extension of files with sources.
const KEPT: &str = "cu";

/// Returns the sources of the modules in a folder, in the order of their names.
///
/// # Errors
/// Returns an error if the source of a module is missing.
pub(super) fn sources(folder: &Path) -> io::Result<Vec<Source>> {
    let paths = fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
    let mut paths = paths.collect::<io::Result<Vec<_>>>()?;
    paths.retain(|path| {
        let name = path.file_name().unwrap_or_default();
        // Temporary names begin with a dot.
        !name.to_string_lossy().starts_with('.') && path.extension().is_none()
    });
    paths.sort();
    let read = |path: &PathBuf| {
        let path = path.with_extension(KEPT);
        let said = |error: String| io::Error::other(format!("{}: {error}", path.display()));
        let text = fs::read_to_string(&path).map_err(|error| said(error.to_string()))?;
        Source::of_kept(&text).ok_or_else(|| said("not a module's text".to_owned()))
    };
    paths.iter().map(read).collect()
}

/// Writes a file as a whole, or not at all.
fn write(name: &str, bytes: &[u8]) {
    let Some(folder) = folder() else {
        return;
    };
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let turn = COUNT.fetch_add(1, Ordering::Relaxed);
    let own = folder.join(format!(".{}-{turn}", process::id()));
    let written = fs::create_dir_all(folder)
        .and_then(|()| fs::write(&own, bytes))
        .and_then(|()| fs::rename(&own, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&own);
    }
}

fn packed(module: &[u8]) -> Vec<u8> {
    let mut file = Vec::with_capacity(HEAD + module.len());
    file.extend_from_slice(MAGIC);
    file.extend_from_slice(&(module.len() as u64).to_le_bytes());
    file.extend_from_slice(&hash(&module).to_le_bytes());
    file.extend_from_slice(module);
    file
}

fn unpacked(file: &[u8]) -> Option<&[u8]> {
    let (head, module) = file.split_at_checked(HEAD)?;
    let whole = &head[..8] == MAGIC
        && head[8..16] == (module.len() as u64).to_le_bytes()
        && head[16..] == hash(&module).to_le_bytes();
    whole.then_some(module)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_files_are_not_read() {
        let module: Vec<u8> = (0..200).collect();
        let file = packed(&module);
        assert_eq!(unpacked(&file), Some(&module[..]));
        for cut in 0..file.len() {
            assert_eq!(unpacked(&file[..cut]), None, "{cut}");
        }
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 1;
            assert_eq!(unpacked(&other), None, "{at}");
        }
        assert_eq!(unpacked(&[file, vec![0]].concat()), None);
    }
}
