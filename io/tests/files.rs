//! Paths that are not regular files, or do not exist yet: written to and read from.
#![cfg(all(
    unix,
    feature = "npz",
    feature = "png",
    feature = "safetensors",
    feature = "zarr"
))]

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use nomina::prelude::*;
use nomina_io::safetensors::{Checkpoint, SafeTensors};
use nomina_io::zarr::{self, Zarr};
use nomina_io::{npy, npz, png, safetensors};

dims! { N, C }

fn x() -> Tensor<(N, C), u8> {
    tensor!([[1_u8, 2, 3], [4, 5, 6]]; N, C)
}

struct Format {
    name: &'static str,
    save: fn(&Path) -> Result<()>,
    load: fn(&Path) -> Result<Tensor<(N, C), u8>>,
}

fn formats() -> [Format; 4] {
    [
        Format {
            name: "npy",
            save: |path| npy::save(path, x()),
            load: |path| npy::load(path),
        },
        Format {
            name: "npz",
            save: |path| npz::save(path, [("x", x())]),
            load: |path| npz::Npz::open(path)?.load("x"),
        },
        Format {
            name: "png",
            save: |path| png::save(path, x()),
            load: |path| png::load(path),
        },
        Format {
            name: "safetensors",
            save: |path| safetensors::save(path, [("x", x())]),
            load: |path| SafeTensors::open(path)?.tensor("x"),
        },
    ]
}

fn made_by(command: &str, path: &Path, args: &[&str]) -> bool {
    let made = Command::new(command).arg(path).args(args).output();
    made.is_ok_and(|output| output.status.success())
}

fn pipe(path: &Path) {
    assert!(made_by("mkfifo", path, &[]));
}

fn kind(path: &Path) -> fs::FileType {
    fs::symlink_metadata(path).unwrap().file_type()
}

/// Checks for a file error that names the path and contains `says`.
fn refused<T: std::fmt::Debug>(result: Result<T>, path: &Path, says: &str) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File, "{error}");
    let text = error.to_string();
    assert!(text.contains(path.to_str().unwrap()), "{text}");
    assert!(text.contains(says), "{text}");
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_pipe_is_written_to() {
    for Format { name, save, load } in formats() {
        for path in ["pipe", "link"] {
            // A pipe of its own: a program that another test starts may still hold an earlier reader, and the writer would then
            // not wait for the next.
            let folder = tempfile::tempdir().unwrap();
            let [end, link, path] = ["pipe", "link", path].map(|name| folder.path().join(name));
            pipe(&end);
            symlink("pipe", &link).unwrap();
            let reader = path.clone();
            let reader = thread::spawn(move || fs::read(reader).unwrap());
            save(&path).unwrap();
            let file = folder.path().join("file");
            fs::write(&file, reader.join().unwrap()).unwrap();
            assert_eq!(load(&file).unwrap().to_vec(), x().to_vec(), "{name}");
            fs::remove_file(file).unwrap();
            assert!(kind(&end).is_fifo() && kind(&link).is_symlink(), "{name}");
            assert_eq!(entries(folder.path()), 2);
        }
    }
}

/// Uses the test's own devices: a wrong `save` would replace these and not the machine's.
#[test]
fn a_device_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let (null, full) = (folder.path().join("null"), folder.path().join("full"));
    let made =
        made_by("mknod", &null, &["c", "1", "3"]) && made_by("mknod", &full, &["c", "1", "7"]);
    let opens = |path| File::options().write(true).open(path).is_ok();
    if !made || !opens(&null) {
        eprintln!("skipped: only root makes devices, where the file system has some");
        return;
    }
    let link = folder.path().join("link");
    symlink("null", &link).unwrap();
    for Format { name, save, .. } in formats() {
        save(&null).unwrap();
        save(&link).unwrap();
        refused(save(&full), &full, "No space");
        for device in [&null, &full] {
            assert!(kind(device).is_char_device(), "{name}");
        }
        assert!(kind(&link).is_symlink(), "{name}");
        assert_eq!(entries(folder.path()), 3);
    }
}

#[test]
fn a_folder_and_a_socket_are_refused() {
    for Format { name, save, .. } in formats() {
        let folder = tempfile::tempdir().unwrap();
        let (inner, socket) = (folder.path().join("inner"), folder.path().join("socket"));
        fs::create_dir(&inner).unwrap();
        fs::write(inner.join("kept"), "").unwrap();
        let _listener = UnixListener::bind(&socket).unwrap();
        refused(save(&inner), &inner, "it is a folder");
        refused(save(&socket), &socket, "it is a socket");
        assert!(
            kind(&socket).is_socket() && inner.join("kept").exists(),
            "{name}"
        );
        assert_eq!((entries(folder.path()), entries(&inner)), (2, 1));
    }
}

#[test]
fn a_link_is_followed_also_to_what_is_not_there_yet() {
    for Format { name, save, load } in formats() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("there")).unwrap();
        let (link, other) = (folder.join("link"), folder.join("there/other"));
        // Through a second link, whose target is relative to its own folder.
        symlink("there/other", &link).unwrap();
        symlink("target", &other).unwrap();
        let target = folder.join("there/target");
        for round in 0..2 {
            save(&link).unwrap();
            assert!(kind(&target).is_file(), "{name} {round}");
            assert_eq!(load(&link).unwrap().to_vec(), x().to_vec());
        }
        assert!(kind(&link).is_symlink() && kind(&other).is_symlink());
        assert_eq!((entries(folder), entries(&folder.join("there"))), (2, 2));
        let lost = folder.join("lost");
        symlink("no/such", &lost).unwrap();
        refused(save(&lost), &lost, "No such file");
        let (a, b) = (folder.join("a"), folder.join("b"));
        symlink("b", &a).unwrap();
        symlink("a", &b).unwrap();
        refused(save(&a), &a, "links");
        assert!([&lost, &a, &b].iter().all(|path| kind(path).is_symlink()));
    }
}

/// `/dev/stdout` can lead to such a file.
#[cfg(target_os = "linux")]
#[test]
fn a_file_that_has_no_name_is_written_to() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let mut file = File::options()
        .create_new(true)
        .read(true)
        .write(true)
        .open(&path)
        .unwrap();
    file.write_all(&[7; 4096]).unwrap();
    fs::remove_file(&path).unwrap();
    let descriptor = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    npy::save(&descriptor, x()).unwrap();
    assert_eq!(entries(folder.path()), 0);
    let mut bytes = Vec::new();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.read_to_end(&mut bytes).unwrap();
    fs::write(&path, bytes).unwrap();
    assert_eq!(npy::load::<DynTensor>(&path).unwrap().shape(), [2, 3]);
}

#[test]
fn what_fails_leaves_the_old_file_and_nothing_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.npz");
    fs::write(&path, "old").unwrap();
    // The second tensor is refused after the first is written.
    let half = [x().to_dyn(), x().to_dyn().to_dtype(DType::BF16).unwrap()];
    let save = |path: &Path| npz::save(path, ["x", "y"].into_iter().zip(half.clone()));
    let error = save(&path).unwrap_err();
    assert!(error.to_string().contains("a.npz"), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(entries(folder.path()), 1);
    assert!(save(&folder.path().join("new")).is_err());
    assert_eq!(entries(folder.path()), 1);
    npz::save(&path, [("x", x())]).unwrap();
    assert!(npz::Npz::open(&path).is_ok());
    assert_eq!(entries(folder.path()), 1);
    let gone = folder.path().join("no/such/a");
    refused(npy::save(&gone, x()), &gone, "No such file");
}

#[test]
fn permissions_and_links_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("a"), folder.path().join("link"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    npy::save(&link, x()).unwrap();
    assert!(kind(&link).is_symlink());
    assert!(npy::load::<DynTensor>(&path).is_ok());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o640);
    // A new file has the permissions of the process's umask, like any other.
    let (other, plain) = (folder.path().join("b"), folder.path().join("c"));
    npy::save(&other, x()).unwrap();
    fs::write(&plain, "").unwrap();
    assert_eq!(mode(&other), mode(&plain));
}

#[test]
fn nothing_but_a_regular_file_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let cases = [
        (&path, "it is a pipe"),
        (&PathBuf::from("/dev/zero"), "it is a device"),
        (&folder.path().to_owned(), "it is a folder"),
    ];
    for (path, says) in cases {
        for Format { load, .. } in formats() {
            refused(load(path), path, says);
        }
    }
    refused(Checkpoint::open(&path), &path, "it is a pipe");
    for name in ["model.safetensors.index.json", "model.safetensors"] {
        let inner = tempfile::tempdir().unwrap();
        pipe(&inner.path().join(name));
        let opened = Checkpoint::open(inner.path());
        refused(opened, inner.path(), "it is a pipe");
    }
    let array = folder.path().join("array");
    type Array = Zarr<Tensor<(N, C), u8>>;
    let whole = Array::create(&array, &[2, 3], &[2, 3]).unwrap();
    fs::create_dir_all(array.join("c/0")).unwrap();
    pipe(&array.join("c/0/0"));
    refused(whole.read(), &array, "it is a pipe");
    fs::remove_file(array.join("zarr.json")).unwrap();
    pipe(&array.join("zarr.json"));
    refused(Array::open(&array), &array, "it is a pipe");
    refused(zarr::attributes(&array), &array, "it is a pipe");
}

#[test]
fn a_zarr_array_is_created_where_a_link_leads() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("target", &link).unwrap();
    let array = Zarr::<Tensor<(N, C), u8>>::create(&link, &[2, 3], &[2, 3]).unwrap();
    array.write(&x()).unwrap();
    assert!(kind(&link).is_symlink() && folder.path().join("target/zarr.json").exists());
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    for path in [&file, &file.join("x")] {
        let error = Zarr::<Tensor<(N, C), u8>>::create(path, &[2, 3], &[2, 3]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::File, "{error}");
    }
    assert_eq!(fs::read(&file).unwrap(), b"kept");
}
