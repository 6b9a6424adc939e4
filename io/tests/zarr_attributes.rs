//! Attributes of zarr, packed elements, and folders that are already in use.
#![cfg(feature = "zarr")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use nomina::prelude::*;
use nomina_io::zarr::{self, Attribute, Zarr};
use tempfile::TempDir;

dims! { Time }

type Field<T> = Zarr<Tensor<(Time,), T>>;

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("field");
    (folder, path)
}

/// Writes stored elements, and sets the array's attributes.
fn packed<T: Element>(path: &Path, stored: &[T], attributes: &str) {
    let x = Tensor::<(Time,), T>::from_vec(stored.to_vec(), [stored.len()]).unwrap();
    let array = Field::<T>::create(path, &[stored.len()], &[2]).unwrap();
    array.write(&x).unwrap();
    let file = path.join("zarr.json");
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains("\"attributes\":{}"));
    let text = text.replace("\"attributes\":{}", &format!("\"attributes\":{attributes}"));
    fs::write(file, text).unwrap();
}

fn same(got: &[f64], wanted: &[f64]) -> bool {
    let equal = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
    got.len() == wanted.len() && got.iter().zip(wanted).all(equal)
}

#[test]
fn packed_integers_are_unpacked() {
    const NAN: f64 = f64::NAN;
    let fill = r#"{"scale_factor":0.01,"add_offset":273.15,"_FillValue":-32767}"#;
    let (_folder, path) = place();
    packed(&path, &[-32767_i16, 0, 100, -200, 32767], fill);
    let wanted = |v: f64| v * 0.01 + 273.15;
    let wanted = [
        NAN,
        wanted(0.0),
        wanted(100.0),
        wanted(-200.0),
        wanted(32767.0),
    ];
    let doubles = Field::<f64>::open(&path).unwrap();
    assert_eq!(doubles.dtype(), DType::F64);
    assert!(same(&doubles.read().unwrap().to_vec(), &wanted));
    // Rounded once, to the requested dtype.
    let floats = Field::<f32>::open(&path).unwrap().read().unwrap().to_vec();
    for (float, wanted) in floats.iter().zip(wanted) {
        assert!(*float == wanted as f32 || (float.is_nan() && wanted.is_nan()));
    }
    let halves = Field::<f16>::open(&path)
        .unwrap()
        .narrow(Time, 1..3)
        .unwrap();
    assert_eq!(
        halves.read().unwrap().to_vec(),
        wanted[1..3]
            .iter()
            .map(|&v| f16::from_f64(v))
            .collect::<Vec<_>>()
    );
    let any = Zarr::<DynTensor>::open(&path).unwrap();
    let any = any.narrow("Time", 2..).unwrap().read().unwrap();
    assert_eq!(any.dtype(), DType::F64);
    assert!(same(&any.to_vec::<f64>().unwrap(), &wanted[2..]));
    // The stored elements.
    let stored = Field::<i16>::open_stored(&path).unwrap();
    assert_eq!(
        stored.read().unwrap().to_vec(),
        [-32767, 0, 100, -200, 32767]
    );
    let stored = Zarr::<DynTensor>::open_stored(&path).unwrap();
    assert_eq!(stored.read().unwrap().dtype(), DType::I16);
    for error in [
        Field::<i16>::open(&path).unwrap_err(),
        Field::<i64>::refine(&path).unwrap_err(),
        Field::<bool>::open(&path).unwrap_err(),
        Field::<Complex<f64>>::open(&path).unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::DType);
        let text = error.to_string();
        for word in [
            "field",
            "packed in i16",
            "scale_factor",
            "open_stored",
            "Time=5",
        ] {
            assert!(text.contains(word), "{text}");
        }
    }
}

/// Stored elements, attributes, and the unpacked values.
#[test]
fn conventions_say_what_elements_mean() {
    const NAN: f64 = f64::NAN;
    #[track_caller]
    fn check<T: Element>(stored: &[T], attributes: &str, wanted: &[f64]) {
        let (_folder, path) = place();
        packed(&path, stored, attributes);
        let got = Field::<f64>::open(&path).unwrap().read().unwrap().to_vec();
        assert!(same(&got, wanted), "{attributes}: {got:?}");
    }
    check(&[1_i32, 2, 3], r#"{"scale_factor":2}"#, &[2., 4., 6.]);
    check(&[1_i32, 2, 3], r#"{"scale_factor":[2.0]}"#, &[2., 4., 6.]);
    check(&[1_i64, 2], r#"{"add_offset":-1.5}"#, &[-0.5, 0.5]);
    check(&[1_i8, -1], r#"{"_FillValue":-1}"#, &[1., NAN]);
    check(&[1_i8, -1], r#"{"_FillValue":-1.0}"#, &[1., NAN]);
    check(
        &[1_i8, -1],
        r#"{"_FillValue":255,"scale_factor":1}"#,
        &[1., -1.],
    );
    check(
        &[255_u8, 4],
        r#"{"_FillValue":255,"scale_factor":0.5}"#,
        &[NAN, 2.],
    );
    check(
        &[1_i16, 2, 3],
        r#"{"missing_value":[1,3]}"#,
        &[NAN, 2., NAN],
    );
    check(
        &[1_i16, 2, 3],
        r#"{"missing_value":1,"_FillValue":2}"#,
        &[NAN, NAN, 3.],
    );
    check(
        &[-1_i8, 1, -128],
        r#"{"_Unsigned":"true"}"#,
        &[255., 1., 128.],
    );
    check(
        &[-1_i8, 1],
        r#"{"_Unsigned":"true","_FillValue":-1,"scale_factor":0.5}"#,
        &[NAN, 0.5],
    );
    check(
        &[255_u8, 128, 127],
        r#"{"_Unsigned":"false"}"#,
        &[-1., -128., 127.],
    );
    check(&[2_i16], r#"{"scale_factor":null,"add_offset":1}"#, &[3.]);
    // 9.969209968386869e36 is netCDF's own fill value for f32; the other texts are xarray's in zarr version 3.
    check(
        &[9.969_21e36_f64, 1.0],
        r#"{"_FillValue":9.96921e36}"#,
        &[NAN, 1.],
    );
    check(
        &[0.0_f64, 1.0],
        r#"{"_FillValue":"AAAAAAAAAAA="}"#,
        &[NAN, 1.],
    );
    check(
        &[f64::INFINITY, 1.0],
        r#"{"_FillValue":"Infinity"}"#,
        &[NAN, 1.],
    );
    check(
        &[f64::NAN, 1.0],
        r#"{"_FillValue":"AAAAAAAA+H8="}"#,
        &[NAN, 1.],
    );
    check(
        &[f64::NAN, 1.0],
        r#"{"_FillValue":"NaN","units":"K"}"#,
        &[NAN, 1.],
    );

    // The value is of the stored dtype: this is the nearest f32, which differs from its text in f64.
    let (_folder, path) = place();
    packed(
        &path,
        &[1e20_f32, 0.1],
        r#"{"_FillValue":100000002004087734272}"#,
    );
    let got = Field::<f32>::open(&path).unwrap().read().unwrap().to_vec();
    assert!(got[0].is_nan() && got[1] == 0.1);
    assert_eq!(Zarr::<DynTensor>::open(&path).unwrap().dtype(), DType::F32);
    let (_folder, path) = place();
    packed(&path, &[0.1_f32, 0.2], r#"{"missing_value":0.1}"#);
    assert!(Field::<f32>::open(&path).unwrap().read().unwrap().to_vec()[0].is_nan());
}

#[test]
fn attributes_that_say_nothing_of_elements_change_nothing() {
    let (_folder, path) = place();
    let attributes =
        r#"{"units":"days since 2000-01-01","a":{"scale_factor":2},"_FillValue":null}"#;
    packed(&path, &[1_i16, 2], attributes);
    assert_eq!(
        Field::<i16>::open(&path).unwrap().read().unwrap().to_vec(),
        [1, 2]
    );
    let error = Field::<f32>::open(&path).unwrap_err();
    assert!(!error.to_string().contains("packed"), "{error}");
    let (_folder, path) = place();
    packed(&path, &[true, false], r#"{"_FillValue":true}"#);
    assert!(Field::<bool>::open(&path).is_ok());
}

#[test]
fn broken_conventions_are_errors_and_stored_elements_still_there() {
    for attributes in [
        r#"{"scale_factor":"two"}"#,
        r#"{"scale_factor":[1,2]}"#,
        r#"{"add_offset":{}}"#,
        r#"{"_FillValue":"?"}"#,
        r#"{"_FillValue":0.5}"#,
        r#"{"missing_value":[1,[2]]}"#,
        r#"{"_Unsigned":1}"#,
        r#"{"scale_factor":1,"scale_factor":2}"#,
        r#"[1]"#,
    ] {
        let (_folder, path) = place();
        packed(&path, &[1_i16, 2], attributes);
        let error = Field::<f32>::open(&path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parse, "{attributes}: {error}");
        let stored = Field::<i16>::open_stored(&path).unwrap();
        assert_eq!(stored.read().unwrap().to_vec(), [1, 2]);
    }
    let long = format!(r#"{{"missing_value":[{}1]}}"#, "1,".repeat(1 << 16));
    let (_folder, path) = place();
    packed(&path, &[1_i16, 2], &long);
    let error = Field::<f32>::open(&path).unwrap_err();
    assert!(error.to_string().contains("missing_value"), "{error}");
}

#[test]
fn what_is_written_is_packed() {
    let (_folder, path) = place();
    packed(
        &path,
        &[0_i16; 5],
        r#"{"scale_factor":0.5,"add_offset":10,"_FillValue":-1}"#,
    );
    let array = Field::<f32>::open(&path).unwrap();
    let x = tensor!([10.0, 10.26, f32::NAN, 0.0, 26.24]; Time);
    array.write(&x).unwrap();
    let stored = Field::<i16>::open_stored(&path).unwrap();
    assert_eq!(stored.read().unwrap().to_vec(), [0, 1, -1, -20, 32]);
    // Writing a part of a chunk keeps the rest.
    array
        .narrow(Time, 1..2)
        .unwrap()
        .write(&tensor!([11.0]; Time))
        .unwrap();
    assert_eq!(stored.read().unwrap().to_vec(), [0, 2, -1, -20, 32]);
    for wrong in [1e6_f32, f32::INFINITY, 9.5] {
        let x = Tensor::full([5], wrong);
        let error = array.write(&x).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{error}");
        assert!(error.to_string().contains("element 0"), "{error}");
    }
    assert_eq!(stored.read().unwrap().to_vec(), [0, 2, -1, -20, 32]);

    let (_folder, path) = place();
    packed(
        &path,
        &[0_i8; 3],
        r#"{"_Unsigned":"true","scale_factor":2}"#,
    );
    let array = Field::<f64>::open(&path).unwrap();
    let x = tensor!([0.0, 254.0, 510.0]; Time).to::<f64>();
    array.write(&x).unwrap();
    assert_eq!(array.read().unwrap().to_vec(), x.to_vec());
    assert!(array.write(&Tensor::full([3], f64::NAN)).is_err());
    assert!(array.write(&Tensor::full([3], -2.0)).is_err());

    let (_folder, path) = place();
    packed(&path, &[0.0_f32; 2], r#"{"_FillValue":1e20}"#);
    let array = Field::<f32>::open(&path).unwrap();
    array.write(&tensor!([f32::NAN, 0.1]; Time)).unwrap();
    let stored = Field::<f32>::open_stored(&path).unwrap();
    assert_eq!(stored.read().unwrap().to_vec(), [1e20, 0.1]);
}

#[test]
fn attributes_are_there() {
    let (folder, path) = place();
    let text = r#"{"units":"K","n":9223372036854775807,"m":18446744073709551615,"x":1.5,"list":[null,true,[1]],"map":{"a":"ä"}}"#;
    packed(&path, &[1_i16], text);
    let attributes = zarr::attributes(&path).unwrap();
    assert_eq!(
        Field::<i16>::open(&path).unwrap().attributes().unwrap(),
        attributes
    );
    assert_eq!(attributes.len(), 6);
    assert_eq!(attributes["units"].as_str(), Some("K"));
    assert_eq!(attributes["n"], Attribute::Int(i64::MAX));
    assert_eq!(
        attributes["m"],
        Attribute::Float(18_446_744_073_709_551_615.0)
    );
    assert_eq!(attributes["x"].as_f64(), Some(1.5));
    let list = vec![
        Attribute::Null,
        Attribute::Bool(true),
        Attribute::List(vec![Attribute::Int(1)]),
    ];
    assert_eq!(attributes["list"], Attribute::List(list));
    let map = BTreeMap::from([("a".to_owned(), Attribute::Text("ä".to_owned()))]);
    assert_eq!(attributes["map"], Attribute::Map(map));

    zarr::create_group(folder.path()).unwrap();
    assert!(zarr::attributes(folder.path()).unwrap().is_empty());
    let group = r#"{"zarr_format":3,"node_type":"group","attributes":{"title":"t"},"consolidated_metadata":null}"#;
    fs::write(folder.path().join("zarr.json"), group).unwrap();
    assert_eq!(
        zarr::attributes(folder.path()).unwrap()["title"].as_str(),
        Some("t")
    );
    let missing = zarr::attributes(folder.path().join("none")).unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::File);
    let deep = format!("{{\"a\":{}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let (_folder, path) = place();
    packed(&path, &[1_i16], &deep);
    assert_eq!(
        zarr::attributes(&path).unwrap_err().kind(),
        ErrorKind::Parse
    );
}

#[test]
fn version_2_is_read_and_not_changed() {
    let array = r#"{"zarr_format":2,"shape":[2],"chunks":[2],"dtype":"<f4","compressor":null,"fill_value":0,"order":"C","filters":null}"#;
    let (folder, path) = place();
    fs::create_dir(&path).unwrap();
    fs::write(path.join(".zarray"), array).unwrap();
    fs::write(
        path.join(".zattrs"),
        r#"{"_ARRAY_DIMENSIONS":["N"],"units":"K"}"#,
    )
    .unwrap();
    fs::write(path.join("0"), [0, 0, 128, 63, 0, 0, 0, 64]).unwrap();
    let read = Zarr::<DynTensor>::open_stored(&path).unwrap();
    assert_eq!(read.names().to_string(), "(N,)");
    assert_eq!(read.read().unwrap().to_vec::<f32>().unwrap(), [1.0, 2.0]);
    assert_eq!(
        zarr::attributes(&path).unwrap()["units"].as_str(),
        Some("K")
    );
    let group = |file: &str| {
        let (folder, path) = place();
        fs::create_dir(&path).unwrap();
        fs::write(path.join(file), "{\"zarr_format\":2}").unwrap();
        (folder, path)
    };
    for path in [&path, &group(".zgroup").1, &group(".zmetadata").1] {
        for error in [
            Field::<f32>::create(path, &[2], &[2]).unwrap_err(),
            zarr::create_group(path).unwrap_err(),
            zarr::set_attributes(path, []).unwrap_err(),
        ] {
            let text = error.to_string();
            let named = text.contains("zarr version 2") || error.kind() == ErrorKind::File;
            assert!(named && text.contains("field"), "{text}");
        }
        assert!(!path.join("zarr.json").exists());
    }
    let other = group("zarr.json");
    let error = Field::<f32>::open(&other.1).unwrap_err();
    assert!(error.to_string().contains("zarr version 2"), "{error}");
    assert_eq!(fs::read(path.join(".zarray")).unwrap(), array.as_bytes());
    // In a plain folder, and in a group of version 3.
    assert_eq!(zarr::keys(folder.path()).unwrap(), ["field"]);
    zarr::create_group(folder.path()).unwrap();
    assert_eq!(zarr::keys(folder.path()).unwrap(), ["field"]);
    // An array with both kinds of metadata is of version 3.
    let (_folder, path) = place();
    Field::<f32>::create(&path, &[2], &[2]).unwrap();
    fs::write(path.join(".zarray"), array).unwrap();
    assert!(Field::<f32>::open(&path).is_ok());
}

#[test]
fn old_chunks_are_no_elements_of_a_new_array() {
    let (folder, path) = place();
    Field::<f32>::create(&path, &[4], &[2])
        .unwrap()
        .write(&Tensor::ones([4]))
        .unwrap();
    let again = Field::<f32>::create(&path, &[4], &[2]).unwrap_err();
    assert!(again.to_string().contains("it already exists"), "{again}");
    fs::remove_file(path.join("zarr.json")).unwrap();
    let error = Field::<f32>::create(&path, &[4], &[2]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::File);
    for word in ["field", "old chunks", "`c`", "remove it"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    assert!(path.join("c/0").exists() && !path.join("zarr.json").exists());
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let array = Field::<f32>::create(&path, &[4], &[2]).unwrap();
    assert_eq!(array.read().unwrap().to_vec(), [0.0; 4]);
    // A group may be created around existing arrays.
    zarr::create_group(folder.path()).unwrap();
    assert!(zarr::create_group(folder.path()).is_err());
    assert!(Field::<f32>::create(folder.path(), &[4], &[2]).is_err());
}

#[test]
fn of_threads_that_create_one_array_one_succeeds() {
    for round in 0..20 {
        let (_folder, path) = place();
        let barrier = Barrier::new(8);
        let create = || {
            barrier.wait();
            match round % 2 {
                0 => Field::<f32>::create(&path, &[4], &[2]).map(drop),
                _ => zarr::create_group(&path),
            }
        };
        let results: Vec<Result<()>> = thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(create)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        });
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
        for error in results.into_iter().filter_map(Result::err) {
            assert_eq!(error.kind(), ErrorKind::File);
            assert!(error.to_string().contains("it already exists"), "{error}");
        }
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
    }
}

#[test]
fn of_processes_that_create_one_array_one_succeeds() {
    const PATH: &str = "NOMINA_TEST_CREATE";
    if let Some(path) = std::env::var_os(PATH) {
        // This process was started by the test below.
        let code = i32::from(Field::<f32>::create(path, &[4], &[2]).is_err());
        std::process::exit(code);
    }
    let (_folder, path) = place();
    let start = || {
        Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "of_processes_that_create_one_array_one_succeeds"])
            .env(PATH, &path)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap()
    };
    let processes: Vec<_> = (0..8).map(|_| start()).collect();
    let codes = processes
        .into_iter()
        .map(|mut process| process.wait().unwrap().code());
    assert_eq!(codes.filter(|code| *code == Some(0)).count(), 1);
    assert!(Field::<f32>::open(&path).is_ok());
}
