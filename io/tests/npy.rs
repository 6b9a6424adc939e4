//! npy and npz files, written and read.
#![cfg(feature = "npz")]

use std::fs;
use std::io::Write;
use std::path::PathBuf;

use nomina::prelude::*;
use nomina_io::{npy, npz};
use tempfile::TempDir;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

dims! { N, C, Rgb = 3 }

fn place(name: &str) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    (folder, path)
}

fn file(header: &str, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    bytes
}

/// Returns a tensor of every dtype that the format supports, and tensors without elements or dims.
fn all() -> Vec<(String, DynTensor)> {
    let x = DynTensor::arange(0, 24, 1, ["N"]).unwrap();
    let x = x.unflatten("N", [("H", 2), ("W", 3), ("C", 4)]).unwrap();
    let dtypes = DType::ALL.into_iter().filter(|&dtype| dtype != DType::BF16);
    let mut all: Vec<(String, DynTensor)> = dtypes
        .map(|dtype| (dtype.torch_name().to_owned(), x.to_dtype(dtype).unwrap()))
        .collect();
    all.push(("none".to_owned(), DynTensor::zeros(&[3, 0], ()).unwrap()));
    all.push(("number".to_owned(), DynTensor::scalar(7).unwrap()));
    all.push(("turned".to_owned(), x.align_to(["C", "W", "H"]).unwrap()));
    all.push(("mixed".to_owned(), x.align_to(["W", "H", "C"]).unwrap()));
    all
}

fn same(before: &DynTensor, after: &DynTensor) {
    assert_eq!(
        (after.dtype(), after.shape()),
        (before.dtype(), before.shape())
    );
    assert!(!after.names().has_names());
    let bytes = |x: &DynTensor| x.contiguous().unwrap().raw().as_bytes().unwrap().to_vec();
    assert_eq!(bytes(before), bytes(after));
}

#[test]
fn every_dtype_comes_back_without_its_names() {
    let (_folder, path) = place("a.npy");
    for (name, before) in all() {
        npy::save(&path, before.clone()).unwrap();
        let after: DynTensor = npy::load(&path).unwrap();
        same(&before, &after);
        // Column-major tensors stay column-major.
        assert_eq!(after.raw().is_contiguous(), name != "turned", "{name}");
    }
    let (_folder, path) = place("a.npz");
    npz::save(&path, all()).unwrap();
    let file = npz::Npz::open(&path).unwrap();
    assert_eq!(file.keys().len(), all().len());
    for (name, before) in all() {
        same(&before, &file.load(&name).unwrap());
    }
}

#[test]
fn the_type_says_the_names_and_is_checked() {
    let (_folder, path) = place("a.npy");
    npy::save(&path, tensor!([[1., 2., 3.], [4., 5., 6.]]; N, C)).unwrap();
    let x: Tensor<(N, Rgb)> = npy::load(&path).unwrap();
    assert_eq!(x.sum(Rgb).to_vec(), [6.0, 15.0]);
    let wild: Tensor<(Wild, Wild)> = npy::load(&path).unwrap();
    assert!(!wild.names().has_names());
    let check = |error: Error, kind, part: &str| {
        let text = error.to_string();
        assert_eq!((error.kind(), error.op()), (kind, "load"), "{text}");
        assert!(text.contains(part) && text.contains("a.npy: "), "{text}");
    };
    check(
        npy::load::<Tensor<(Rgb, C)>>(&path).unwrap_err(),
        ErrorKind::Shape,
        "(Rgb=2, C=3)",
    );
    check(
        npy::load::<Tensor<(N,)>>(&path).unwrap_err(),
        ErrorKind::Rank,
        "dims (N,)",
    );
    check(
        npy::load::<Tensor<(N, C), f64>>(&path).unwrap_err(),
        ErrorKind::DType,
        "f32, not f64",
    );
}

#[test]
fn elements_stay_where_they_are_until_written_to() {
    let (_folder, path) = place("a.npy");
    npy::save(&path, Tensor::<(N, C)>::ones([50, 50])).unwrap();
    let before = fs::read(&path).unwrap();
    let mut x: Tensor<(N, C)> = npy::load(&path).unwrap();
    let (at, y) = (x.as_slice().unwrap().as_ptr(), x.clone());
    x += 1.0;
    assert_ne!(x.as_slice().unwrap().as_ptr(), at);
    let mut y = y;
    y += 1.0;
    assert_eq!(y.as_slice().unwrap().as_ptr(), at);
    assert!(x.equal(&y));
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn numbers_in_the_other_order_of_bytes() {
    let (_folder, path) = place("a.npy");
    let header = "{'descr': '>c8', 'fortran_order': True, 'shape': (1, 2), }";
    let data: Vec<u8> = [1.0_f32, 2.0, 3.0, 4.0]
        .iter()
        .flat_map(|x| x.to_be_bytes())
        .collect();
    fs::write(&path, file(header, &data)).unwrap();
    let x: Tensor<(N, C), Complex<f32>> = npy::load(&path).unwrap();
    assert_eq!(x.to_vec(), [Complex::new(1., 2.), Complex::new(3., 4.)]);
}

#[test]
fn a_broken_file_is_an_error_that_names_it() {
    let (_folder, path) = place("a.npy");
    let with = |shape: &str, data: usize| {
        let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        file(&header, &vec![0; data])
    };
    fs::write(&path, with("(2,)", 8)).unwrap();
    assert!(npy::load::<DynTensor>(&path).is_ok());
    let bool_of_2 = file(
        "{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }",
        &[2],
    );
    for bytes in [
        vec![],
        b"\x93NUMPY\x01\x00".to_vec(),
        with("(2,)", 7),
        with("(2,)", 9),
        with("(4611686018427387906,)", 8),
        with("(4294967296, 4294967296)", 0),
        with("(0, 18446744073709551615, 18446744073709551615)", 0),
        with("(18446744073709551615,)", 8),
        bool_of_2,
    ] {
        fs::write(&path, &bytes).unwrap();
        let error = npy::load::<DynTensor>(&path).unwrap_err();
        assert!(
            [ErrorKind::Parse, ErrorKind::Shape].contains(&error.kind()),
            "{error}"
        );
        assert!(
            error.to_string().starts_with("load: ") && error.to_string().contains("a.npy: "),
            "{error}"
        );
    }
    assert_eq!(
        npy::load::<DynTensor>(path.with_extension("no"))
            .unwrap_err()
            .kind(),
        ErrorKind::File
    );
    let bf16 = DynTensor::options()
        .dtype(DType::BF16)
        .ones(&[2], ["N"])
        .unwrap();
    assert_eq!(
        npy::save(&path, bf16.clone()).unwrap_err().kind(),
        ErrorKind::DType
    );
    let error = npz::save(&path, [("b", bf16)]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`b`: npy files have no elements of bf16"),
        "{error}"
    );
}

#[test]
fn a_broken_archive_is_an_error_that_names_it() {
    let (_folder, path) = place("a.npz");
    let x = DynTensor::ones(&[2], ["N"]).unwrap();
    assert!(npz::save(&path, [("x", x.clone()), ("x", x.clone())]).is_err());
    assert!(!path.exists());
    npz::save(&path, [("x", x)]).unwrap();
    let file = npz::Npz::open(&path).unwrap();
    let error = file.load::<DynTensor>("y").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error.to_string().contains("`y` in ") && error.to_string().contains("`x`"),
        "{error}"
    );
    let whole = fs::read(&path).unwrap();
    for end in [0, 10, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..end]).unwrap();
        assert_eq!(npz::Npz::open(&path).unwrap_err().kind(), ErrorKind::Parse);
    }
    // The checksum detects a changed element.
    let at = whole
        .windows(4)
        .position(|bytes| bytes == 1.0_f32.to_le_bytes())
        .unwrap();
    let mut bytes = whole.clone();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = npz::Npz::open(&path)
        .unwrap()
        .load::<DynTensor>("x")
        .unwrap_err();
    assert!(error.to_string().contains("`x` in "), "{error}");
}

/// NumPy's `uint16`, `uint32` and `uint64` have no dtype here; they are read as `i64`.
#[test]
fn unsigned_integers_are_read_as_i64() {
    let (_folder, path) = place("a.npy");
    let read = |descr: &str, data: Vec<u8>| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': True, 'shape': (2, 2)}}");
        fs::write(&path, file(&header, &data)).unwrap();
        npy::load::<Tensor<(N, C), i64>>(&path)
    };
    let small = [0_u16, 1, 40_000, u16::MAX];
    let wide = [0_u32, 1, 3_000_000_000, u32::MAX];
    let long = [0_u64, 1, 1 << 40, i64::MAX as u64];
    let turned = |x: [i64; 4]| [x[0], x[2], x[1], x[3]];
    for big in [false, true] {
        let descr = |name: &str| format!("{}{name}", if big { '>' } else { '<' });
        let bytes = |little: Vec<Vec<u8>>| -> Vec<u8> {
            let order = |mut one: Vec<u8>| {
                if big {
                    one.reverse();
                }
                one
            };
            little.into_iter().flat_map(order).collect()
        };
        let data = bytes(small.iter().map(|x| x.to_le_bytes().to_vec()).collect());
        let found = read(&descr("u2"), data).unwrap();
        assert_eq!(found.to_vec(), turned(small.map(i64::from)));
        let data = bytes(wide.iter().map(|x| x.to_le_bytes().to_vec()).collect());
        let found = read(&descr("u4"), data).unwrap();
        assert_eq!(found.to_vec(), turned(wide.map(i64::from)));
        let data = bytes(long.iter().map(|x| x.to_le_bytes().to_vec()).collect());
        let found = read(&descr("u8"), data).unwrap();
        assert_eq!(found.to_vec(), turned(long.map(|x| x as i64)));
        let data = bytes(
            long.iter()
                .map(|x| (x + 1).to_le_bytes().to_vec())
                .collect(),
        );
        let error = read(&descr("u8"), data).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DType);
        assert!(error.to_string().contains("exceeds i64"), "{error}");
    }
    // Another dtype is another type.
    assert!(npy::load::<Tensor<(N, C), i32>>(&path).is_err());
    fs::write(
        &path,
        file(
            "{'descr': '<u4', 'fortran_order': False, 'shape': (0,)}",
            &[],
        ),
    )
    .unwrap();
    assert_eq!(npy::load::<DynTensor>(&path).unwrap().dtype(), DType::I64);
}

/// A description has the dtype that the tensor has when it is opened.
#[test]
fn unsigned_integers_are_described_as_they_are_read() {
    let (_folder, path) = place("a.npz");
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    let mut archive = ZipWriter::new(fs::File::create(&path).unwrap());
    archive.start_file("x.npy", stored).unwrap();
    let header = "{'descr': '<u2', 'fortran_order': False, 'shape': (2,)}";
    archive.write_all(&file(header, &[1, 0, 255, 255])).unwrap();
    archive.finish().unwrap();

    let (_, all) = nomina_io::describe(&path).unwrap();
    assert_eq!(all[0].dtype, DType::I64);
    let archive = npz::Npz::open(&path).unwrap();
    let x: Tensor<(N,), i64> = archive.load("x").unwrap();
    assert_eq!(x.to_vec(), [1, 65_535]);
}
