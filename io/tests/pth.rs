//! Files of PyTorch, which `scripts/pth_files.py record` writes.
#![cfg(feature = "pth")]

use std::path::PathBuf;

use nomina::prelude::*;
use nomina_io::ForeignDType;
use nomina_io::pth::{Pth, Value};

dims! { Out, In }

fn data(name: &str) -> PathBuf {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pth");
    PathBuf::from(folder).join(name)
}

fn opened(name: &str) -> Pth {
    Pth::open(data(name)).unwrap()
}

/// Returns element `i` of the files, as `scripts/pth_files.py` computes it.
fn element(i: usize) -> f64 {
    (7 * i % 23) as f64
}

fn floats(tensor: &DynTensor) -> Vec<f64> {
    let wide = tensor.to_dtype(DType::F64).unwrap();
    let wide = wide.contiguous().unwrap();
    wide.raw().as_slice::<f64>().unwrap().to_vec()
}

fn bytes(tensor: &DynTensor) -> Vec<u8> {
    let dense = tensor.contiguous().unwrap();
    dense.raw().as_bytes().unwrap().to_vec()
}

fn error_of(name: &str) -> String {
    Pth::open(data(name)).unwrap_err().to_string()
}

#[test]
fn a_checkpoint_is_tensors_and_values_by_their_paths() {
    let file = opened("checkpoint.pt");
    let keys: Vec<&str> = file.keys().collect();
    assert_eq!(
        keys[..3],
        ["model.0.bias", "model.0.weight", "model.1.bias"]
    );
    assert_eq!(
        keys[9..],
        [
            "optimizer.state.0.exp_avg",
            "optimizer.state.0.step",
            "optimizer.state.1.exp_avg",
            "optimizer.state.1.step",
        ]
    );
    let w: Tensor<(Out, In)> = file.refine("model.0.weight").unwrap();
    let expected: Vec<f32> = (0..12).map(|i| element(i) as f32).collect();
    assert_eq!((w.shape(), w.to_vec()), (&[4, 3][..], expected));
    let count: DynTensor = file.tensor("model.1.num_batches_tracked").unwrap();
    assert_eq!((count.dtype(), count.rank()), (DType::I64, 0));
    assert_eq!(floats(&count), [6.0]);

    let values = file.values().unwrap();
    let value = |path: &str| values.get(path).cloned();
    assert_eq!(value("epoch"), Some(Value::Int(3)));
    assert_eq!(value("arch"), Some(Value::Text("mlp".into())));
    assert_eq!(value("size.1"), Some(Value::Int(3)));
    let group = "optimizer.param_groups.0";
    assert_eq!(value(&format!("{group}.lr")), Some(Value::Float(0.5)));
    assert_eq!(
        value(&format!("{group}.betas.1")),
        Some(Value::Float(0.999))
    );
    assert_eq!(value(&format!("{group}.amsgrad")), Some(Value::Bool(false)));
    assert_eq!(value(&format!("{group}.foreach")), Some(Value::None));
    assert_eq!(value("scheduler.milestones.80"), Some(Value::Int(1)));
    // Neither integers of more than 64 bits nor devices are values.
    assert!(value("seed").is_none() && value("device").is_none());

    assert_eq!(file.versions()["model.1"], 2);
    assert_eq!(file.versions()["model"], 1);
    assert_eq!(opened("state.pth").versions()["1"], 2);
}

#[test]
fn every_protocol_has_the_same_tensors() {
    let expected = opened("checkpoint.pt");
    for version in 3..=5 {
        let file = opened(&format!("protocol{version}.pt"));
        assert_eq!(file.values().unwrap(), expected.values().unwrap());
        assert_eq!(file.versions(), expected.versions());
        let (all, wanted) = (file.tensors().unwrap(), expected.tensors().unwrap());
        assert_eq!(all.len(), 13);
        for (found, wanted) in all.iter().zip(&wanted) {
            assert_eq!(found.0, wanted.0);
            assert_eq!(bytes(&found.1), bytes(&wanted.1));
        }
    }
}

#[test]
fn a_file_of_one_tensor_has_an_empty_path() {
    let file = opened("tensor.pt");
    assert_eq!(file.keys().collect::<Vec<_>>(), [""]);
    let x: Tensor<(Out, In)> = file.refine("").unwrap();
    assert_eq!(x.to_vec(), [0., 7., 14., 21., 5., 12.]);
}

#[test]
fn all_dtypes_in_both_byte_orders() {
    for (name, prefix) in [("layouts.pt", "dtypes."), ("big_endian.pt", "")] {
        let file = opened(name);
        for dtype in DType::ALL {
            let path = format!("{prefix}{}", dtype.torch_name());
            let tensor: DynTensor = file.tensor(&path).unwrap();
            assert_eq!((tensor.dtype(), tensor.shape()), (dtype, &[2, 3, 4][..]));
            let real = if dtype.is_complex() {
                assert_eq!(floats(&tensor.imag().unwrap())[1], 8.0, "{path}");
                tensor.real().unwrap()
            } else {
                tensor.clone()
            };
            let expected = (0..24).map(|i| match dtype {
                DType::Bool => element(i) % 2.0,
                _ => element(i),
            });
            assert_eq!(floats(&real), expected.collect::<Vec<_>>(), "{path} {name}");
            // Read twice, the same storage is used.
            let again: DynTensor = file.tensor(&path).unwrap();
            assert!(again.raw().shares_storage(tensor.raw()));
        }
    }
}

#[test]
fn views_of_one_storage() {
    let file = opened("layouts.pt");
    let open = |name: &str| file.tensor::<DynTensor>(&format!("views.{name}")).unwrap();
    let at = |all: &[usize]| all.iter().map(|&i| element(i)).collect::<Vec<_>>();
    let whole = open("whole");
    let all: Vec<usize> = (0..24).collect();
    assert_eq!(floats(&whole), at(&all));
    for name in [
        "again",
        "transposed",
        "column",
        "expanded",
        "number",
        "parameter",
    ] {
        assert!(open(name).raw().shares_storage(whole.raw()), "{name}");
    }
    assert_eq!(floats(&open("again")), floats(&whole));
    let turned: Vec<usize> = (0..6)
        .flat_map(|i| (0..4).map(move |j| 6 * j + i))
        .collect();
    assert_eq!(floats(&open("transposed")), at(&turned));
    assert_eq!(floats(&open("column")), at(&[2, 8, 14, 20]));
    assert_eq!(
        floats(&open("expanded")),
        at(&[6, 7, 8, 9, 10, 11].repeat(3))
    );
    assert_eq!(floats(&open("number")), at(&[5]));
    assert_eq!(floats(&open("parameter")), at(&[1, 2, 7, 8]));
    let conjugated = open("conjugated");
    assert_eq!(floats(&conjugated.imag().unwrap())[..2], [-1.0, -8.0]);
    assert_eq!(floats(&conjugated.real().unwrap())[..2], [0.0, 7.0]);
    assert_eq!(floats(&open("negated")), [0.0, -7.0, -14.0]);
    assert_eq!(open("empty").shape(), [0, 3]);
    assert_eq!(floats(&open("list.1.0")), [0.0, 7.0, 14.0]);
    // Writing to one view changes neither the others nor the file.
    let mut written = open("transposed");
    written.neg_().unwrap();
    assert_eq!(floats(&open("whole")), at(&all));
}

#[test]
fn dtypes_that_tensors_lack_are_read_as_others() {
    let file = opened("foreign.pt");
    let error = file.tensor::<DynTensor>("uint64").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
    let text = error.to_string();
    assert!(text.contains("elements of U64 are not supported"), "{text}");
    assert!(
        text.contains("`.read_as(ForeignDType::U64, DType::I64)`"),
        "{text}"
    );

    let file = file
        .read_as(ForeignDType::F8E4M3, DType::F32)
        .read_as(ForeignDType::F8E5M2, DType::BF16)
        .read_as(ForeignDType::U16, DType::I32)
        .read_as(ForeignDType::U32, DType::I64)
        .read_as(ForeignDType::U64, DType::F64);
    let open = |name: &str| file.tensor::<DynTensor>(name).unwrap();
    assert_eq!(open("uint16").dtype(), DType::I32);
    assert_eq!(floats(&open("uint16")), [0.0, 1.0, 65535.0]);
    assert_eq!(floats(&open("uint32")), [0.0, 1.0, 4294967295.0]);
    assert_eq!(floats(&open("uint64")), [0.0, 1.0, 18446744073709551616.0]);
    let e4m3 = floats(&open("float8_e4m3fn"));
    assert_eq!((e4m3[0x38], e4m3[0x7e], e4m3[0xb8]), (1.0, 448.0, -1.0));
    assert!(e4m3[0x7f].is_nan());
    // Transposed: element (i, j) is byte i + 16 j.
    let e5m2 = open("float8_e5m2");
    assert_eq!((e5m2.dtype(), e5m2.shape()), (DType::BF16, &[16, 16][..]));
    let e5m2 = floats(&e5m2);
    assert_eq!((e5m2[12 * 16 + 3], e5m2[11 * 16 + 7]), (1.0, 57344.0));

    let wrong = opened("foreign.pt").read_as(ForeignDType::U64, DType::I64);
    let error = wrong.tensor::<DynTensor>("uint64").unwrap_err().to_string();
    assert!(
        error.contains("18446744073709551615 is outside the range of i64"),
        "{error}"
    );
    let wrong = opened("foreign.pt").read_as(ForeignDType::F8E4M3, DType::I32);
    let error = wrong.tensor::<DynTensor>("float8_e4m3fn").unwrap_err();
    assert!(
        error.to_string().contains("cannot be read as i32"),
        "{error}"
    );
}

#[test]
fn other_files_are_refused_with_the_way_out() {
    let error = error_of("class.pt");
    assert!(
        error.contains("the pickle needs `__main__.Model`"),
        "{error}"
    );
    assert!(
        error.contains("torch.save(model.state_dict(), path)"),
        "{error}"
    );
    assert!(error.contains("class.pt"), "{error}");
    for (name, kind) in [
        ("legacy.pt", "PyTorch before 1.6"),
        ("tar.pt", "a tar file"),
    ] {
        let error = error_of(name);
        assert!(error.contains(kind), "{error}");
        assert!(error.contains("torch.save(torch.load(path"), "{error}");
    }
    let npz = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/python.npz");
    let error = Pth::open(npz).unwrap_err().to_string();
    assert!(error.contains("without `data.pkl`"), "{error}");
    let npy = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/python.npy");
    let error = Pth::open(npy).unwrap_err().to_string();
    assert!(error.contains("not a zip archive"), "{error}");

    let file = opened("state.pth");
    let error = file.tensor::<DynTensor>("0.weigth").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(
        error.to_string().contains("`0.bias`, `0.weight`"),
        "{error}"
    );
    let error = file.tensors_at("model").unwrap_err();
    assert!(error.to_string().contains("`model` in"), "{error}");
    let error = file
        .refine::<Tensor<(Out, In), f64>>("0.weight")
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
}
