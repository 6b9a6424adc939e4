//! Paths that are not regular files, and zarr folders that already contain something else.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use nomina::prelude::*;
use nomina_io::zarr::{self, Zarr};
use nomina_io::{npy, safetensors};

dims! { H, W }

fn x() -> Tensor<(H, W), u8> {
    tensor!([[1_u8, 2], [3, 4]]; H, W)
}

type Save = fn(&Path) -> Result<()>;

/// Returns all functions that write one file.
fn saves() -> [(&'static str, Save); 3] {
    [
        ("npy", |path| npy::save(path, x())),
        ("safetensors", |path| safetensors::save(path, [("x", x())])),
        ("html", |path| x().save_html(path)),
    ]
}

fn make(command: &str, path: &Path, args: &[&str]) -> bool {
    let output = Command::new(command).arg(path).args(args).output();
    output.is_ok_and(|output| output.status.success())
}

fn kind(path: &Path) -> fs::FileType {
    fs::symlink_metadata(path).unwrap().file_type()
}

#[test]
fn what_is_no_regular_file_is_written_to_or_refused() {
    for (name, save) in saves() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);

        assert!(make("mkfifo", &at("pipe"), &[]));
        let reader = thread::spawn({
            let pipe = at("pipe");
            move || fs::read(pipe).unwrap()
        });
        save(&at("pipe")).unwrap();
        assert!(!reader.join().unwrap().is_empty(), "{name}");
        assert!(kind(&at("pipe")).is_fifo(), "{name}");

        fs::create_dir(at("folder")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        for refused in ["folder", "socket"] {
            let error = save(&at(refused)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::File);
            assert!(error.to_string().contains(refused), "{name}: {error}");
        }
        assert!(kind(&at("folder")).is_dir() && kind(&at("socket")).is_socket());

        symlink("target", at("link")).unwrap();
        save(&at("link")).unwrap();
        assert!(kind(&at("link")).is_symlink() && kind(&at("target")).is_file(), "{name}");

        symlink("b", at("a")).unwrap();
        symlink("a", at("b")).unwrap();
        assert!(save(&at("a")).is_err() && kind(&at("a")).is_symlink(), "{name}");

        // A device node of the test's own if it runs as root: not the machine's `/dev/null`.
        if make("mknod", &at("null"), &["c", "1", "3"]) && fs::write(at("null"), "").is_ok() {
            symlink("null", at("to null")).unwrap();
            save(&at("null")).unwrap();
            save(&at("to null")).unwrap();
            assert!(kind(&at("null")).is_char_device(), "{name}");
            assert!(kind(&at("to null")).is_symlink(), "{name}");
        }
        let hidden = fs::read_dir(folder.path()).unwrap();
        let hidden = hidden.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name();
            name.to_string_lossy().contains(".tmp")
        });
        assert_eq!(hidden.count(), 0, "{name}");
    }
}

#[test]
fn a_pipe_is_not_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(make("mkfifo", &pipe, &[]));
    assert!(npy::load::<DynTensor>(&pipe).is_err());
    assert!(safetensors::SafeTensors::open(&pipe).is_err());
    assert!(safetensors::Checkpoint::open(&pipe).is_err());
}

#[test]
fn one_of_eight_creates_an_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let barrier = Barrier::new(8);
    let create = || {
        barrier.wait();
        Zarr::<Tensor<(H, W)>>::create(&path, &[4, 4], &[2, 2]).is_ok()
    };
    let created = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
        let created = threads.into_iter().map(|thread| thread.join().unwrap());
        created.filter(|&created| created).count()
    });
    assert_eq!(created, 1);
    Zarr::<Tensor<(H, W)>>::open(&path).unwrap().write(&Tensor::ones([4, 4])).unwrap();
    fs::remove_file(path.join("zarr.json")).unwrap();
    let error = Zarr::<Tensor<(H, W)>>::create(&path, &[4, 4], &[2, 2]).unwrap_err();
    assert!(error.to_string().contains("old chunks"), "{error}");
}

#[test]
fn version_2_of_zarr_is_read_only() {
    let folder = tempfile::tempdir().unwrap();
    let array = folder.path().join("x");
    fs::create_dir(&array).unwrap();
    fs::write(folder.path().join(".zgroup"), r#"{"zarr_format":2}"#).unwrap();
    fs::write(array.join(".zarray"), r#"{"zarr_format":2}"#).unwrap();
    assert_eq!(zarr::keys(folder.path()).unwrap(), ["x"]);
    let error = Zarr::<DynTensor>::open(&array).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType, "{error}");
    let error = zarr::create_group(folder.path()).unwrap_err();
    assert!(error.to_string().contains("zarr version 2"), "{error}");
}

#[test]
fn packed_elements_are_decoded_and_attributes_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let array = Zarr::<Tensor<(H, W), i16>>::create(&path, &[2, 2], &[2, 2]).unwrap();
    array.write(&tensor!([[0_i16, 10], [-999, 20]]; H, W)).unwrap();
    let text = fs::read_to_string(path.join("zarr.json")).unwrap();
    let attributes =
        r#""attributes":{"scale_factor":0.1,"add_offset":273.15,"_FillValue":-999,"units":"K"}"#;
    fs::write(path.join("zarr.json"), text.replace(r#""attributes":{}"#, attributes)).unwrap();
    let array = Zarr::<Tensor<(H, W)>>::open(&path).unwrap();
    assert_eq!(array.attributes().unwrap()["units"].as_str(), Some("K"));
    let x = array.read().unwrap().to_vec();
    assert_eq!((x[0], x[1], x[3]), (273.15, 274.15, 275.15));
    assert!(x[2].is_nan());
    let error = Zarr::<Tensor<(H, W), i16>>::open(&path).unwrap_err();
    assert!(error.to_string().contains("packed"), "{error}");
    let stored = Zarr::<Tensor<(H, W), i16>>::open_stored(&path).unwrap();
    assert_eq!(stored.read().unwrap().to_vec(), [0, 10, -999, 20]);
}
