//! Arrow: tensors and record batches both ways, without a copy, and files of pyarrow. `NOMINA_PYTHON` names the Python.
#![cfg(feature = "arrow")]

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, Float64Array, Int32Array, RecordBatch,
    StringArray, UInt64Array,
};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{DataType, Field};
use nomina::prelude::*;
use nomina::{DynLabelled, Labels, Timestamp, jiff::ToSpan};
use nomina_data::arrow::{Nulls, tensor_from_array, tensor_to_array};
use nomina_data::{Column, DynDataset, Variable};

fn counting(shape: &[usize], names: &[&str], dtype: DType) -> DynTensor {
    let numel: usize = shape.iter().product();
    let flat = DynTensor::arange(0, numel as i64, 1, ()).unwrap();
    let sizes: Vec<i64> = shape.iter().map(|&size| size as i64).collect();
    let x = flat.to_dtype(dtype).unwrap().reshape(&sizes).unwrap();
    let names = names
        .iter()
        .map(|name| Some(nomina::Name::new(name).unwrap()));
    DynTensor::from_parts(x.into_parts().0, Names::new(names).unwrap()).unwrap()
}

fn address(x: &DynTensor) -> usize {
    x.raw().as_ptr().addr()
}

#[test]
fn every_dtype_goes_both_ways() {
    for dtype in DType::ALL {
        for shape in [&[6][..], &[2, 3], &[2, 3, 1, 2], &[0, 3], &[0]] {
            let x = counting(shape, &["N", "A", "B", "C"][..shape.len()], dtype);
            let converted = tensor_to_array("x", &x);
            if dtype == DType::BF16 || dtype.is_complex() {
                assert_eq!(converted.unwrap_err().kind(), ErrorKind::DType);
                continue;
            }
            let (field, array) = converted.unwrap();
            assert_eq!(
                (array.len(), array.data_type()),
                (shape[0], field.data_type())
            );
            let back = tensor_from_array(&field, &array, "N", Nulls::Refuse).unwrap();
            assert_eq!((back.dtype(), back.names()), (dtype, x.names()));
            assert!(back.equal(&x).unwrap(), "{dtype} {shape:?}");
            if dtype != DType::Bool && x.numel() > 0 {
                assert_eq!(address(&back), address(&x), "{dtype} {shape:?}");
            }
        }
    }
}

#[test]
fn permuted_tensors_state_their_order() {
    let x = counting(&[2, 3, 4, 5], &["N", "A", "B", "C"], DType::F32);
    let turned = x.permute(["N", "C", "A", "B"]).unwrap();
    let (field, array) = tensor_to_array("x", &turned).unwrap();
    let metadata: serde_json::Value =
        serde_json::from_str(field.extension_type_metadata().unwrap()).unwrap();
    let expected = serde_json::json!({
        "shape": [3, 4, 5], "dim_names": ["A", "B", "C"], "permutation": [2, 0, 1],
    });
    assert_eq!(metadata, expected);
    let back = tensor_from_array(&field, &array, "N", Nulls::Refuse).unwrap();
    assert_eq!(
        (back.names(), address(&back)),
        (turned.names(), address(&x))
    );
    assert!(back.equal(&turned).unwrap());
    // A tensor whose rows are not outermost, or with gaps, is copied.
    for view in [
        x.permute(["B", "N", "A", "C"]).unwrap(),
        x.narrow("C", 1, 3).unwrap(),
    ] {
        let (field, array) = tensor_to_array("x", &view).unwrap();
        let rows = view.names()[0].clone().unwrap();
        let back = tensor_from_array(&field, &array, rows.as_str(), Nulls::Refuse).unwrap();
        assert!(back.equal(&view).unwrap() && back.names() == view.names());
        assert_ne!(address(&back), address(&view));
    }
}

#[test]
fn memory_of_arrow_lives_and_is_not_written_to() {
    let array = Float64Array::from(vec![1.0, 2.0, 3.0]);
    let field = Field::new("x", DataType::Float64, false);
    let mut x = tensor_from_array(&field, &array, "N", Nulls::Refuse).unwrap();
    assert_eq!(address(&x), array.values().as_ptr().addr());
    x.add_(1).unwrap();
    assert_eq!(
        (array.value(0), x.to_vec::<f64>().unwrap()),
        (1.0, vec![2.0, 3.0, 4.0])
    );
    let part = array.slice(1, 2);
    let part = tensor_from_array(&field, &part, "N", Nulls::Refuse).unwrap();
    drop(array);
    assert_eq!(part.to_vec::<f64>().unwrap(), [2.0, 3.0]);

    let x = counting(&[3], &["N"], DType::F32);
    let (_, array) = tensor_to_array("x", &x).unwrap();
    drop(x);
    assert_eq!(
        array.as_primitive::<Float32Type>().values()[..],
        [0.0, 1.0, 2.0]
    );
}

#[test]
fn nulls_are_an_error_or_nan() {
    let field = |array: &dyn Array| Field::new("x", array.data_type().clone(), true);
    let read = |array: &dyn Array, nulls| tensor_from_array(&field(array), array, "N", nulls);
    let floats = Float64Array::from(vec![Some(1.0), None, Some(3.0)]);
    let error = read(&floats, Nulls::Refuse).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error
            .to_string()
            .contains("1 nulls among elements of f64, the first at 1"),
        "{error}"
    );
    let x = read(&floats, Nulls::Nan).unwrap().to_vec::<f64>().unwrap();
    assert!(x[1].is_nan() && [x[0], x[2]] == [1.0, 3.0]);
    let integers = Int32Array::from(vec![Some(1), None]);
    let truth = BooleanArray::from(vec![Some(true), None]);
    for array in [&integers as &dyn Array, &truth] {
        for nulls in [Nulls::Refuse, Nulls::Nan] {
            assert_eq!(read(array, nulls).unwrap_err().kind(), ErrorKind::Argument);
        }
    }
    // Null rows, and nulls within them.
    let rows = [
        Some(vec![Some(1.0), None]),
        None,
        Some(vec![Some(2.0), Some(3.0)]),
    ];
    let rows = FixedSizeListArray::from_iter_primitive::<Float64Type, _, _>(rows, 2);
    assert_eq!(
        read(&rows, Nulls::Refuse).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let x = read(&rows, Nulls::Nan).unwrap();
    let missing: Vec<bool> = x
        .to_vec::<f64>()
        .unwrap()
        .iter()
        .map(|x| x.is_nan())
        .collect();
    assert_eq!(
        (x.shape(), missing),
        (&[3, 2][..], vec![false, true, true, true, false, false])
    );
}

#[test]
fn broken_columns_are_errors() {
    let (field, array) = tensor_to_array("x", &counting(&[2, 6], &["N", "A"], DType::F32)).unwrap();
    for metadata in [
        "",
        "[]",
        "{}",
        r#"{"shape":[5]}"#,
        r#"{"shape":[-6]}"#,
        r#"{"shape":[2,3],"dim_names":["A"]}"#,
        r#"{"shape":[2,3],"permutation":[0,0]}"#,
        r#"{"shape":[2,3],"permutation":[2,1]}"#,
        r#"{"shape":[4294967296,4294967296,6]}"#,
    ] {
        let mut all = field.metadata().clone();
        all.insert("ARROW:extension:metadata".to_owned(), metadata.to_owned());
        let field = field.clone().with_metadata(all);
        let error = tensor_from_array(&field, &array, "N", Nulls::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Parse, "{metadata}: {error}");
    }
    let read = |rows: &str| {
        tensor_from_array(&field, &array, rows, Nulls::Refuse)
            .unwrap_err()
            .kind()
    };
    assert_eq!(
        (read("A"), read("no name")),
        (ErrorKind::DuplicateNames, ErrorKind::InvalidName)
    );
    let large: ArrayRef = Arc::new(UInt64Array::from(vec![u64::MAX]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a"]));
    for array in [large, texts] {
        let field = Field::new("x", array.data_type().clone(), false);
        let error = tensor_from_array(&field, &array, "N", Nulls::Refuse).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DType, "{error}");
    }
    let scalar = DynTensor::from_vec(vec![1.0_f32], &[], ()).unwrap();
    assert_eq!(
        tensor_to_array("x", &scalar).unwrap_err().kind(),
        ErrorKind::Rank
    );
    let none = counting(&[2, 0], &["N", "A"], DType::F32);
    assert_eq!(
        tensor_to_array("x", &none).unwrap_err().kind(),
        ErrorKind::Shape
    );
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn batch(path: &Path) -> RecordBatch {
    let mut reader = StreamReader::try_new(File::open(path).unwrap(), None).unwrap();
    reader.next().unwrap().unwrap()
}

/// Checks the dataset of a file that pyarrow wrote.
fn check(path: &Path) {
    let ds = DynDataset::from_record_batch(&batch(path), "time", Nulls::Nan).unwrap();
    let day = Timestamp::date(1970, 1, 2).unwrap();
    assert_eq!(
        *ds.labels("time").unwrap(),
        Column::Time(vec![Timestamp::from_nanoseconds(0), day])
    );
    let tensor = |name: &str| ds.variable(name).unwrap().tensor().unwrap();
    let images = counting(&[2, 3, 4], &["time", "lat", "lon"], DType::F32);
    assert!(tensor("named").equal(&images).unwrap());
    assert_eq!(tensor("named").names(), images.names());
    let turned = images.permute(["time", "lon", "lat"]).unwrap();
    assert!(tensor("permuted").equal(&turned).unwrap());
    assert_eq!(tensor("permuted").names(), turned.names());
    assert_eq!(
        ds.variable("plain").unwrap().dims(),
        ["time", "plain_dim_0", "plain_dim_1"]
    );
    assert_eq!(
        tensor("plain").to_vec::<i16>().unwrap(),
        [0, 1, 2, 3, 4, 5, 6, 7]
    );
    assert_eq!(
        tensor("lists").to_vec::<f64>().unwrap(),
        [1.0, 2.0, 3.0, 4.0]
    );
    let holes = tensor("holes").to_vec::<f64>().unwrap();
    assert!(holes[0] == 1.5 && holes[1].is_nan());
    assert_eq!(
        ds.variable("holes").unwrap().attributes().text("units"),
        Some("K")
    );
    assert_eq!(tensor("truth").to_vec::<bool>().unwrap(), [true, false]);
    assert_eq!(tensor("unsigned").to_vec::<i32>().unwrap(), [65535, 0]);
    let column = |name: &str| ds.variable(name).unwrap().column().unwrap();
    assert_eq!(
        *column("station"),
        Column::Text(vec!["a".to_owned(), "λ".to_owned()])
    );
    assert_eq!(column("day").show(1), "1969-12-31");
    // Selection by label, and a tensor with labels.
    let first = ds
        .sel("time", "1970-01-01")
        .unwrap()
        .labelled("named")
        .unwrap();
    assert_eq!(first.tensor().shape(), [1, 3, 4]);
}

/// Returns a dataset whose record batch pyarrow checks.
fn ours() -> DynDataset {
    let x = counting(&[2, 3, 4], &["time", "lat", "lon"], DType::F32);
    let turned = counting(&[2, 3, 4], &["time", "lat", "lon"], DType::F32);
    let turned = turned.permute(["time", "lon", "lat"]).unwrap();
    let times = Timestamp::series("1970-01-01", 1.day(), 2).unwrap();
    let t = DynLabelled::new(x)
        .with("time", Labels::new(times))
        .unwrap();
    let mut ds = DynDataset::new();
    ds.insert_labelled("t", &t).unwrap();
    let mut t = ds.remove("t").unwrap();
    t.attributes_mut().set("units", "K");
    ds.insert(t).unwrap();
    ds.insert(Variable::new("turned", turned).unwrap()).unwrap();
    let truth = DynTensor::from_vec(vec![true, false], &[2], ["time"]).unwrap();
    ds.insert(Variable::new("truth", truth).unwrap()).unwrap();
    let heights = DynTensor::from_vec(vec![1.0; 3], &[3], ["lat"]).unwrap();
    ds.insert(Variable::new("height", heights).unwrap())
        .unwrap();
    ds
}

#[test]
fn datasets_are_record_batches() {
    let ds = ours();
    let batch = ds.to_record_batch("time").unwrap();
    let names: Vec<&str> = batch
        .schema_ref()
        .fields()
        .iter()
        .map(|field| &field.name()[..])
        .collect();
    assert_eq!(
        (batch.num_rows(), names),
        (2, vec!["time", "t", "turned", "truth"])
    );
    let back = DynDataset::from_record_batch(&batch, "time", Nulls::Refuse).unwrap();
    for name in ["t", "turned", "truth"] {
        let (a, b) = (back.variable(name).unwrap(), ds.variable(name).unwrap());
        assert_eq!((a.dims(), a.attributes()), (b.dims(), b.attributes()));
        assert!(a.tensor().unwrap().equal(&b.tensor().unwrap()).unwrap());
    }
    assert_eq!(back.labels("time").unwrap(), ds.labels("time").unwrap());
    // The rows are of any dim.
    let rows = ds.to_record_batch("lon").unwrap();
    assert_eq!((rows.num_rows(), rows.num_columns()), (4, 2));
    assert_eq!(
        ds.to_record_batch("depth").unwrap_err().kind(),
        ErrorKind::NameNotFound
    );
}

#[test]
fn recorded_files_are_read() {
    check(&data().join("tensors.arrow"));
}

#[test]
fn files_go_both_ways_where_pyarrow_is() {
    let python = std::env::var("NOMINA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/arrow_interop.py");
    let run = |args: &[&str]| Command::new(&python).arg(&script).args(args).output();
    if !run(&["needs"]).is_ok_and(|output| output.status.success()) {
        eprintln!("not compared: `{python}` or pyarrow is not here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |task: &str, path: &Path| {
        let output = run(&[task, path.to_str().unwrap()]).unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{task}: {said}");
    };
    let path = folder.path().join("python.arrow");
    run("write", &path);
    check(&path);
    let path = folder.path().join("rust.arrow");
    let mut ds = ours();
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "λ"]));
    let names = RecordBatch::try_from_iter([("name", names)]).unwrap();
    let names = DynDataset::from_record_batch(&names, "time", Nulls::Refuse).unwrap();
    ds.insert(names.variable("name").unwrap().clone()).unwrap();
    let batch = ds.to_record_batch("time").unwrap();
    let mut writer =
        StreamWriter::try_new(File::create(&path).unwrap(), batch.schema_ref()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    run("check", &path);
}
