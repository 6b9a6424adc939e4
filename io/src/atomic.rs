//! Files that are there as a whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use nomina::{Error, ErrorKind, Result};

/// An error of the system about a file.
#[cold]
pub(crate) fn failed(op: &'static str, error: &io::Error) -> Error {
    Error::new(ErrorKind::File, op, error.to_string())
}

/// Writes a file beside its place and moves it there once the disk has it: whoever reads the path sees the old file or the
/// new one, and who has mapped the old one keeps it.
pub(crate) fn write(
    op: &'static str,
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<&File>) -> Result<()>,
) -> Result<()> {
    let all = || {
        // A link stays one.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        };
        let failed = |error: io::Error| failed(op, &error);
        let temporary = new_in(&folder, &path).map_err(failed)?;
        let mut out = BufWriter::with_capacity(1 << 18, temporary.as_file());
        fill(&mut out)?;
        out.flush().map_err(failed)?;
        drop(out);
        temporary.as_file().sync_all().map_err(failed)?;
        temporary
            .persist(&path)
            .map_err(|error| failed(error.error))?;
        // The new name, too. Some file systems cannot, and then the file is there all the same.
        #[cfg(unix)]
        let _ = File::open(&folder).and_then(|folder| folder.sync_all());
        Ok(())
    };
    all().map_err(|error: Error| error.within(path.display()))
}

/// A file of the rights that the one at `path` has, or any new one.
fn new_in(folder: &Path, path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let temporary = builder.tempfile_in(folder)?;
    if let Ok(there) = fs::metadata(path) {
        temporary.as_file().set_permissions(there.permissions())?;
    }
    Ok(temporary)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(out: &mut BufWriter<&File>) -> Result<()> {
        out.write_all(b"new")
            .map_err(|error| failed("save", &error))
    }

    #[test]
    fn what_fails_leaves_the_old_file_and_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let error = write("save", &path, |out| {
            out.write_all(b"half").unwrap();
            Err(Error::new(ErrorKind::DType, "save", "no"))
        });
        let text = error.unwrap_err().to_string();
        assert!(
            text.starts_with("save: ") && text.contains("a: no"),
            "{text}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        write("save", &path, new).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let error = write("save", Path::new("/no/such/folder/a"), |_| Ok(()));
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File);
        assert!(error.to_string().contains("/no/such/folder/a"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn rights_and_links_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write("save", &link, new).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o640);
        // A new file is for whom the process's mask says, as any.
        let (other, plain) = (folder.path().join("b"), folder.path().join("c"));
        write("save", &other, |_| Ok(())).unwrap();
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(&other), mode(&plain));
    }
}
