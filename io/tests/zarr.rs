//! zarr arrays, written and read by boxes.
#![cfg(feature = "zarr")]

use std::fs;
use std::path::{Path, PathBuf};

use nomina::prelude::*;
use nomina_io::zarr::Zarr;
use tempfile::TempDir;

dims! { Time, Lat, Rgb = 3 }

type Field = Tensor<(Time, Lat)>;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("field");
    (folder, path)
}

fn chunks(path: &Path) -> usize {
    let folder = path.join("c");
    let rows = fs::read_dir(folder).map(|rows| rows.map(|row| row.unwrap().path()));
    let rows: Vec<PathBuf> = rows.map(Iterator::collect).unwrap_or_default();
    rows.iter()
        .map(|row| fs::read_dir(row).unwrap().count())
        .sum()
}

#[test]
fn boxes_of_an_array_that_memory_could_not_hold() {
    let (_folder, path) = place();
    // Sixteen terabytes, of which two chunks are written.
    let array = Zarr::<Field>::create(&path, &[1 << 22, 1 << 20], &[64, 64]).unwrap();
    let x: Field = Tensor::from_fn([3, 100], |at| (100 * at[0] + at[1]) as f32);
    let part = array.narrow(Time, 1_000_000..1_000_003).unwrap();
    let part = part.narrow(Lat, 10..110).unwrap();
    part.write(&x).unwrap();
    assert_eq!(chunks(&path), 2);
    let array = Zarr::<Field>::open(&path).unwrap();
    assert_eq!(array.shape(), [1 << 22, 1 << 20]);
    let near = array
        .narrow(Time, 999_999..1_000_004)
        .unwrap()
        .narrow(Lat, 109..=110)
        .unwrap();
    let near = near.read().unwrap();
    assert_eq!(near.to_vec(), [0., 0., 99., 0., 199., 0., 299., 0., 0., 0.]);
    // A box of a box.
    let inner = array.narrow(Lat, 10..).unwrap().narrow(Lat, 5..6).unwrap();
    let inner = inner.narrow(Time, 1_000_002..1_000_003).unwrap();
    assert_eq!(inner.read().unwrap().to_vec(), [205.0]);
}

#[test]
fn every_dtype_comes_back() {
    let (folder, _) = place();
    let x = DynTensor::arange(0, 30, 1, ["N"]).unwrap();
    let x = x.unflatten("N", [("Time", 5), ("Lat", 6)]).unwrap();
    for dtype in DType::ALL {
        let path = folder.path().join(dtype.torch_name());
        let x = x.to_dtype(dtype).unwrap();
        let array = Zarr::<DynTensor>::create(&path, dtype, &names!["Time", _], x.shape(), &[2, 4])
            .unwrap();
        array.write(&x).unwrap();
        let array = Zarr::<DynTensor>::open(&path).unwrap();
        assert_eq!((array.dtype(), array.names()), (dtype, &names!["Time", _]));
        assert_eq!(array.read().unwrap().raw().as_bytes(), x.raw().as_bytes());
    }
    let path = folder.path().join("number");
    let number = Zarr::<Tensor<()>>::create(&path, &[], &[]).unwrap();
    number.write(&tensor!(3.5)).unwrap();
    assert_eq!(
        Zarr::<Tensor<()>>::open(&path)
            .unwrap()
            .read()
            .unwrap()
            .item(),
        3.5
    );
    let none = Zarr::<Field>::create(folder.path().join("none"), &[0, 3], &[1, 3]).unwrap();
    none.write(&Tensor::zeros([0, 3])).unwrap();
    assert_eq!(none.read().unwrap().shape(), [0, 3]);
}

#[test]
fn the_type_is_checked_once() {
    let (_folder, path) = place();
    Zarr::<Field>::create(&path, &[5, 4], &[2, 2]).unwrap();
    let check = |error: Error, kind, parts: &[&str]| {
        let text = error.to_string();
        assert_eq!(error.kind(), kind, "{text}");
        for part in parts.iter().chain(&["field: "]) {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
    };
    let swapped = Zarr::<Tensor<(Lat, Time)>>::open(&path).unwrap_err();
    check(
        swapped,
        ErrorKind::NameMismatch,
        &["dims (Lat, Time)", "(Time=5, Lat=4)"],
    );
    check(
        Zarr::<Tensor<(Time,)>>::open(&path).unwrap_err(),
        ErrorKind::Rank,
        &["(Time=5, Lat=4)"],
    );
    check(
        Zarr::<Tensor<(Time, Lat), f64>>::open(&path).unwrap_err(),
        ErrorKind::DType,
        &["f32, not f64"],
    );
    check(
        Zarr::<Field>::create(&path, &[5, 4], &[2, 2]).unwrap_err(),
        ErrorKind::File,
        &["it already exists"],
    );
    let any = Zarr::<DynTensor>::open(&path).unwrap();
    check(
        any.narrow("Lon", ..).unwrap_err(),
        ErrorKind::NameNotFound,
        &["`Lon`", "(Time=5, Lat=4)"],
    );
    check(
        any.narrow("Lat", 2..5).unwrap_err(),
        ErrorKind::Index,
        &["dim `Lat`"],
    );
    #[allow(clippy::reversed_empty_ranges)]
    let backwards = 3..2;
    check(
        any.narrow("Lat", backwards).unwrap_err(),
        ErrorKind::Index,
        &["dim `Lat`"],
    );
    let shape = any
        .write(&DynTensor::zeros(&[5, 3], ["Time", "Lat"]).unwrap())
        .unwrap_err();
    check(
        shape,
        ErrorKind::Shape,
        &["(Time=5, Lat=3) and (Time=5, Lat=4)"],
    );
    let names = any
        .write(&DynTensor::zeros(&[5, 4], ["Lat", "Time"]).unwrap())
        .unwrap_err();
    check(names, ErrorKind::NameMismatch, &["(Lat=5, Time=4)"]);
    let dtype = any
        .write(&any.read().unwrap().to_dtype(DType::I8).unwrap())
        .unwrap_err();
    check(
        dtype,
        ErrorKind::DType,
        &["elements are i8, the array is f32"],
    );
    let (_folder, other) = place();
    for chunk in [&[2][..], &[0, 2], &[usize::MAX, 2]] {
        let error = Zarr::<Field>::create(&other, &[5, 4], chunk).unwrap_err();
        check(error, ErrorKind::Argument, &["(Time=5, Lat=4)"]);
    }
    let rgb = Zarr::<Tensor<(Time, Rgb)>>::create(&other, &[5, 4], &[1, 1]).unwrap_err();
    check(rgb, ErrorKind::Shape, &["size 4"]);
    assert!(!other.exists());
}

#[test]
fn what_only_a_part_of_a_chunk_meets_keeps_the_rest() {
    let (_folder, path) = place();
    let array = Zarr::<Field>::create(&path, &[4, 4], &[4, 4]).unwrap();
    array.write(&Tensor::ones([4, 4])).unwrap();
    array
        .narrow(Lat, 1..3)
        .unwrap()
        .write(&Tensor::zeros([4, 2]))
        .unwrap();
    assert_eq!(array.read().unwrap().sum(Time).to_vec(), [4., 0., 0., 4.]);
    // A chunk that cannot be written leaves the old one.
    let chunk = path.join("c/0/0");
    let before = fs::read(&chunk).unwrap();
    fs::write(&chunk, &before[..before.len() - 3]).unwrap();
    let error = array
        .narrow(Lat, 1..3)
        .unwrap()
        .write(&Tensor::ones([4, 2]))
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parse);
    assert_eq!(fs::read(&chunk).unwrap(), before[..before.len() - 3]);
    assert_eq!(array.read().unwrap_err().kind(), ErrorKind::Parse);
    // Only chunks and the metadata are there.
    assert_eq!(fs::read_dir(path.join("c/0")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
}

#[test]
fn a_broken_description_is_an_error() {
    let (_folder, path) = place();
    assert_eq!(
        Zarr::<DynTensor>::open(&path).unwrap_err().kind(),
        ErrorKind::File
    );
    Zarr::<Field>::create(&path, &[5, 4], &[2, 2]).unwrap();
    let file = path.join("zarr.json");
    let whole = fs::read_to_string(&file).unwrap();
    let changed = |from: &str, to: &str| {
        let squeezed: String = whole.split_whitespace().collect();
        assert!(squeezed.contains(from), "{squeezed}");
        squeezed.replace(from, to)
    };
    let deep = "[".repeat(100_000);
    for text in [
        String::new(),
        "{}".to_owned(),
        deep.clone(),
        whole[..whole.len() / 2].to_owned(),
        changed(
            "\"shape\":[5,4]",
            "\"shape\":[18446744073709551615,18446744073709551615]",
        ),
        changed("\"shape\":[5,4]", "\"shape\":[5]"),
        changed("\"shape\":[5,4]", "\"shape\":[-5,4]"),
        changed("[2,2]", "[0,2]"),
        changed("[2,2]", "[4294967296,4294967296]"),
        changed("[2,2]", "[2]"),
        changed("\"Time\",\"Lat\"", "\"Time\",\"Time\""),
        changed("\"Time\",\"Lat\"", "\"Time\",\"2d\""),
        changed("\"Time\",\"Lat\"", "\"Time\""),
        changed("float32", "uint32"),
        changed("float32", "float31"),
        changed("\"gzip\"", "\"rot13\""),
        changed("\"zarr_format\":3", "\"zarr_format\":2"),
        changed("\"zarr_format\":3", "\"new\":{},\"zarr_format\":3"),
        changed("\"bytes\"},", "\"bytes\"},{\"name\":\"bytes\"},"),
        changed("\"fill_value\":0.0", "\"fill_value\":\"zero\""),
        changed("\"separator\":\"/\"", "\"separator\":\"../\""),
        changed("\"regular\"", "\"rectilinear\""),
        changed(
            "\"attributes\":{",
            &format!("\"attributes\":{{\"a\":{deep},"),
        ),
    ] {
        fs::write(&file, &text).unwrap();
        let error = Zarr::<DynTensor>::open(&path).expect_err(&text[..text.len().min(300)]);
        assert!(error.to_string().contains("field: "), "{error}");
    }
}

#[test]
fn what_is_not_read_is_named() {
    let (_folder, path) = place();
    Zarr::<Field>::create(&path, &[5, 4], &[2, 2]).unwrap();
    let file = path.join("zarr.json");
    let whole = fs::read_to_string(&file).unwrap();
    for (from, to, said) in [
        (
            "\"gzip\"",
            "\"rot13\"",
            "codec `rot13`: unknown; supported: blosc, bytes, crc32c, gzip",
        ),
        ("\"float32\"", "\"uint24\"", "elements of `uint24`"),
        (
            "\"float32\"",
            "{\"name\":\"numpy.datetime64\",\"configuration\":{\"unit\":\"s\"}}",
            "`numpy.datetime64`",
        ),
        (
            "\"attributes\":{}",
            "\"attributes\":{},\"transformed\":{\"must_understand\":true}",
            "`transformed`",
        ),
    ] {
        assert!(whole.contains(from));
        fs::write(&file, whole.replace(from, to)).unwrap();
        let error = Zarr::<Field>::open(&path).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
    }
    let passed = "\"attributes\":{\"a\":[1]},\"more\":{\"must_understand\":false}";
    fs::write(&file, whole.replace("\"attributes\":{}", passed)).unwrap();
    assert!(Zarr::<Field>::open(&path).is_ok());
}

#[test]
fn a_fill_value_is_what_was_never_written() {
    let (folder, _) = place();
    for (dtype, text, bits) in [
        (DType::F32, "1.5", &[0, 0, 0xc0, 0x3f][..]),
        (DType::F32, "\"NaN\"", &[0, 0, 0xc0, 0x7f]),
        (DType::F32, "\"-Infinity\"", &[0, 0, 0x80, 0xff]),
        (DType::F32, "\"0x7fc00001\"", &[1, 0, 0xc0, 0x7f]),
        (DType::I16, "-2", &[0xfe, 0xff]),
        (DType::Bool, "true", &[1]),
        (
            DType::C64,
            "[1.0,\"Infinity\"]",
            &[0, 0, 0x80, 0x3f, 0, 0, 0x80, 0x7f],
        ),
    ] {
        let path = folder.path().join(format!("{dtype}{bits:?}"));
        Zarr::<DynTensor>::create(&path, dtype, &names![_], &[2], &[2]).unwrap();
        let file = path.join("zarr.json");
        let whole = fs::read_to_string(&file).unwrap();
        let start = whole.find("\"fill_value\":").unwrap() + 13;
        let end = start + whole[start..].find(",\"node_type").unwrap();
        let with = |text: &str| format!("{}{text}{}", &whole[..start], &whole[end..]);
        fs::write(&file, with(text)).unwrap();
        let array = Zarr::<DynTensor>::open(&path).unwrap().read().unwrap();
        assert_eq!(
            array.raw().as_bytes().unwrap(),
            [bits, bits].concat(),
            "{text}"
        );
        for wrong in ["null", "[]", "\"\"", "\"0x7\"", "1e999", "[1]"] {
            let wrong = if dtype == DType::I16 && wrong == "1e999" {
                "70000"
            } else {
                wrong
            };
            fs::write(&file, with(wrong)).unwrap();
            let error = Zarr::<DynTensor>::open(&path).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Parse, "{wrong}");
        }
    }
}
