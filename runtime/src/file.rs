//! Files: written completely or not at all, and opened only if they are regular.
//!
//! [`write()`] is the only function that turns tensors, pages and descriptions into files. A regular file is replaced
//! by a new one that is written next to it, so a reader sees the old file or the new one. A pipe or a device is written
//! to directly, because replacing it would take it away from everyone else. A link is followed, even if its target does
//! not exist yet.

use std::collections::hash_map::RandomState;
use std::fs::{self, File, Metadata, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use nomina_core::{Error, ErrorKind, Result};

/// The size of a file's write buffer.
const BUFFER: usize = 1 << 18;

/// The maximal number of links followed in a row, like on Linux.
const LINKS: usize = 40;

/// Converts a system error about a file to an [`ErrorKind::File`].
#[cold]
pub fn failed(op: &'static str, error: &io::Error) -> Error {
    Error::new(ErrorKind::File, op, error.to_string())
}

/// Writes a file.
///
/// A regular file, or a path where nothing exists, gets its content at once: `fill` writes to a hidden file in the same
/// folder, which is moved to the path once it is on disk. If anything fails, the old file remains and the hidden one is
/// removed. The new file takes the permissions of the old one. A link is followed and stays a link.
///
/// A pipe or a device is opened and written to, so a reader may see the beginning of a write that then fails. `fill`
/// can tell the difference by the metadata of the file it gets.
///
/// # Errors
/// [`ErrorKind::File`] if the system cannot write, or the path is a folder, a socket or a loop of links; the errors of
/// `fill`.
pub fn write(
    op: &'static str,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let io = |error: io::Error| failed(op, &error);
    let write = || match Destination::find(path).map_err(io)? {
        Destination::Replaced(path, old) => {
            let temporary = Temporary::filled(op, &path, old.as_ref(), fill)?;
            temporary.rename(&path).map_err(io)
        }
        Destination::Stream(file) => {
            fill_file(op, &file, fill)?;
            match file.sync_all() {
                // Most devices and all pipes have nothing to synchronise.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(io(error)),
                _ => Ok(()),
            }
        }
    };
    write().map_err(|error: Error| error.within(path.display()))
}

/// Writes a file that must not exist yet. Of several callers, in any process, exactly one succeeds; a partial file is
/// never visible.
///
/// # Errors
/// [`ErrorKind::File`] if something exists at the path, or the system cannot write; the errors of `fill`.
pub fn create(
    op: &'static str,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let io = |error: io::Error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Error::new(ErrorKind::File, op, "it already exists").hint("remove it first")
        }
        _ => failed(op, &error),
    };
    let create = || {
        let temporary = Temporary::filled(op, path, None, fill)?;
        temporary.rename_new(path).map_err(io)
    };
    create().map_err(|error: Error| error.within(path.display()))
}

/// Opens a regular file for reading. A pipe would make the caller wait for a writer, and a device may never end.
///
/// # Errors
/// If the system cannot open it, or it is a folder, a pipe, a socket or a device.
pub fn open(path: &Path) -> io::Result<File> {
    require_regular(&fs::metadata(path)?)?;
    let file = File::open(path)?;
    // It may have been replaced in between.
    require_regular(&file.metadata()?)?;
    Ok(file)
}

/// Reads a regular file of UTF-8.
///
/// # Errors
/// Returns the errors of [`open`] and of reading, and [`io::ErrorKind::InvalidData`] if the file is not UTF-8.
pub fn read_to_string(path: &Path) -> io::Result<String> {
    io::read_to_string(open(path)?)
}

/// Returns whether a name is one that [`write()`] or [`create`] gives a hidden file while they fill it.
#[must_use]
pub fn is_temporary(name: &str) -> bool {
    let number = name
        .strip_prefix('.')
        .and_then(|name| name.strip_suffix(".tmp"));
    number.is_some_and(|number| {
        number.len() == 16 && number.bytes().all(|digit| digit.is_ascii_hexdigit())
    })
}

/// Follows the links at a path to a path that is not a link, whether or not something exists there.
///
/// # Errors
/// If links form a loop, or the system cannot read one.
pub fn follow_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            // Nothing exists, or it is not a link.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::InvalidInput
                ) =>
            {
                return Ok(path);
            }
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("a cycle of links"))
}

fn fill_file(
    op: &'static str,
    file: &File,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let mut out = BufWriter::with_capacity(BUFFER, file);
    let filled = fill(&mut out).and_then(|()| out.flush().map_err(|error| failed(op, &error)));
    if filled.is_err() {
        // Dropped with its buffer, it would try to write again.
        let _ = out.into_parts();
    }
    filled
}

/// The destination of [`write()`].
enum Destination {
    /// A new file at this path, where a file with this metadata may exist. The path is not a link.
    Replaced(PathBuf, Option<Metadata>),
    /// A pipe, a device, or a file that is reachable only through an open descriptor.
    Stream(File),
}

impl Destination {
    fn find(path: &Path) -> io::Result<Self> {
        let found = match fs::metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self::Replaced(follow_links(path)?, None));
            }
            Err(error) => return Err(error),
        };
        if found.is_file() {
            // `/dev/stdout` may lead to a file that has no name any more, or whose name is another file's now.
            let real = fs::canonicalize(path);
            let real = real.ok().filter(|real| is_same_file(real, &found));
            if let Some(real) = real {
                return Ok(Self::Replaced(real, Some(found)));
            }
        } else if let Some(what) = unwritable(&found) {
            return Err(what);
        }
        let file = OpenOptions::new().write(true).open(path)?;
        if found.is_file() {
            file.set_len(0)?;
        }
        Ok(Self::Stream(file))
    }
}

#[cfg(unix)]
fn is_same_file(path: &Path, found: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|other| (other.dev(), other.ino()) == (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn is_same_file(_: &Path, _: &Metadata) -> bool {
    true
}

/// Returns a name for a kind of file that is not regular.
fn kind(found: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = found.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
    }
    if found.is_dir() {
        "a folder"
    } else {
        "a device"
    }
}

/// Returns the error for a file that can be neither replaced nor written to.
fn unwritable(found: &Metadata) -> Option<io::Error> {
    let kind = kind(found);
    let what = format!("it is {kind}, not a regular file");
    match kind {
        "a folder" => Some(io::Error::new(io::ErrorKind::IsADirectory, what)),
        "a socket" => Some(io::Error::new(io::ErrorKind::Unsupported, what)),
        _ => None,
    }
}

fn require_regular(found: &Metadata) -> io::Result<()> {
    if found.is_file() {
        return Ok(());
    }
    let what = format!("it is {}, not a regular file", kind(found));
    let kind = if found.is_dir() {
        io::ErrorKind::IsADirectory
    } else {
        io::ErrorKind::Unsupported
    };
    Err(io::Error::new(kind, what))
}

/// A hidden file, removed when dropped.
struct Temporary {
    path: PathBuf,
    is_renamed: bool,
}

impl Temporary {
    /// Fills a hidden file in the folder of `path`, with the permissions of `old`, and waits until it is on disk.
    fn filled(
        op: &'static str,
        path: &Path,
        old: Option<&Metadata>,
        fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
    ) -> Result<Self> {
        let io = |error: io::Error| failed(op, &error);
        let (temporary, file) = Self::new(folder(path), old).map_err(io)?;
        fill_file(op, &file, fill)?;
        file.sync_all().map_err(io)?;
        Ok(temporary)
    }

    fn new(folder: &Path, old: Option<&Metadata>) -> io::Result<(Self, File)> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if let Some(old) = old {
            use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
            // Never more than the old file allows, not even before its permissions are set.
            options.mode(old.mode() & 0o777);
        }
        let mut tries = 0;
        let (path, file) = loop {
            // Each `RandomState` has different keys.
            let number = RandomState::new().build_hasher().finish();
            let path = folder.join(format!(".{number:016x}.tmp"));
            match options.open(&path) {
                Ok(file) => break (path, file),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100 => {
                    tries += 1;
                }
                Err(error) => return Err(error),
            }
        };
        let temporary = Self {
            path,
            is_renamed: false,
        };
        if let Some(old) = old {
            #[cfg(unix)]
            {
                use std::os::unix::fs::{MetadataExt, fchown};
                let new = file.metadata()?;
                if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
                    // Only root may change the owner; other users own the files they write.
                    let _ = fchown(&file, Some(old.uid()), Some(old.gid()));
                }
            }
            file.set_permissions(old.permissions())?;
        }
        Ok((temporary, file))
    }

    /// Moves the file to `path`, and replaces a file there.
    fn rename(mut self, path: &Path) -> io::Result<()> {
        fs::rename(&self.path, path)?;
        self.is_renamed = true;
        sync_folder(path);
        Ok(())
    }

    /// Moves the file to `path` if nothing is there; the file system decides atomically.
    fn rename_new(self, path: &Path) -> io::Result<()> {
        match fs::hard_link(&self.path, path) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
            // A file system without hard links: still exclusive, but not atomic.
            Err(_) => {
                let mut out = File::create_new(path)?;
                let copied = File::open(&self.path)
                    .and_then(|mut from| io::copy(&mut from, &mut out))
                    .and_then(|_| out.sync_all());
                if let Err(error) = copied {
                    let _ = fs::remove_file(path);
                    return Err(error);
                }
            }
        }
        sync_folder(path);
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_renamed {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Waits until the names in the folder of `path` are on disk. Some file systems cannot do that; the file exists anyway.
fn sync_folder(path: &Path) {
    #[cfg(unix)]
    let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
    #[cfg(not(unix))]
    let _ = path;
}
