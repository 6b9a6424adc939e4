//! safetensors files: writing, reading, and mapping without a copy.
#![cfg(feature = "safetensors")]

use std::fs;
use std::path::{Path, PathBuf};

use nomina::prelude::*;
use nomina_io::safetensors::{DIMS, SafeTensors, save, save_with};
use tempfile::TempDir;

dims! { Out, In, Rgb = 3, Four = 4 }

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.safetensors");
    (folder, path)
}

/// Writes a file from its parts, valid or not.
fn by_hand(path: &Path, header: &str, data: &[u8]) {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
}

#[test]
fn every_dtype_and_its_names_come_back() {
    let (_folder, path) = place();
    let x = DynTensor::arange(0, 24, 1, ["N"]).unwrap();
    let x = x.unflatten("N", [("H", 2), ("W", 3), ("C", 4)]).unwrap();
    let all = DType::ALL.into_iter().filter(|&dtype| dtype != DType::C128);
    let all: Vec<(String, DynTensor)> = all
        .map(|dtype| (dtype.to_string(), x.to_dtype(dtype).unwrap()))
        .collect();
    save(&path, all.clone()).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    assert_eq!(file.keys().len(), 11);
    for (name, before) in &all {
        let after: DynTensor = file.tensor(name).unwrap();
        assert_eq!(
            (after.dtype(), after.names()),
            (before.dtype(), before.names())
        );
        assert_eq!(
            after.raw().as_bytes().unwrap(),
            before.raw().as_bytes().unwrap()
        );
    }
}

#[test]
fn elements_lie_row_by_row_whatever_the_layout() {
    let (_folder, path) = place();
    let x = tensor!([[1., 2., 3.], [4., 5., 6.]]; Out, In);
    let none = DynTensor::zeros(&[3, 0, 2], names!["A", _, "B"]).unwrap();
    let all = [
        ("turned", x.align_to((In, Out)).into_dyn()),
        ("part", x.narrow(In, 1..).into_dyn()),
        ("number", x.sum(..).into_dyn()),
        ("none", none.clone()),
    ];
    save(&path, all).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    let turned: Tensor<(In, Out)> = file.tensor("turned").unwrap();
    assert_eq!(turned.to_vec(), [1., 4., 2., 5., 3., 6.]);
    let part: Tensor<(Out, In)> = file.tensor("part").unwrap();
    assert_eq!(part.to_vec(), [2., 3., 5., 6.]);
    let number: Tensor<()> = file.tensor("number").unwrap();
    assert_eq!(number.item(), 21.0);
    let back: DynTensor = file.tensor("none").unwrap();
    assert_eq!((back.names(), back.shape()), (none.names(), &[3, 0, 2][..]));
}

#[test]
fn texts_stand_beside_tensors() {
    let (_folder, path) = place();
    save_with(
        &path,
        [("x", DynTensor::ones(&[2], ["N"]).unwrap())],
        [("format", "pt")],
    )
    .unwrap();
    let file = SafeTensors::open(&path).unwrap();
    assert_eq!(file.metadata()["format"], "pt");
    assert_eq!(file.metadata()[DIMS], r#"{"x":["N"]}"#);
    // Without metadata and names, the file has none.
    save(&path, [("x", DynTensor::ones(&[2], ()).unwrap())]).unwrap();
    assert!(SafeTensors::open(&path).unwrap().metadata().is_empty());
    let bytes = fs::read(&path).unwrap();
    assert!(!String::from_utf8_lossy(&bytes).contains("__metadata__"));
}

#[test]
fn nothing_is_copied_until_it_is_written_to() {
    let (_folder, path) = place();
    let x: Tensor<(Out, In)> = Tensor::ones([64, 64]);
    save(&path, [("x", x.to_dyn()), ("y", x.to_dyn())]).unwrap();
    let before = fs::read(&path).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    let mut first: Tensor<(Out, In)> = file.tensor("x").unwrap();
    let second: Tensor<(Out, In)> = file.tensor("x").unwrap();
    let y: Tensor<(Out, In)> = file.tensor("y").unwrap();
    let at = |x: &Tensor<(Out, In)>| x.as_slice().unwrap().as_ptr();
    assert_eq!(at(&first), at(&second));
    // Another owner shares it, so this tensor is copied.
    first += 1.0;
    assert_ne!(at(&first), at(&second));
    assert!(second.equal(&x) && y.equal(&x));
    // No other owner: changed in place, and only in memory.
    drop((file, first));
    let (mut alone, place) = (second.clone(), at(&second));
    drop(second);
    alone += 1.0;
    alone.as_mut_slice()[0] = 7.0;
    assert_eq!(
        (at(&alone), alone.to_vec()[..2].to_vec()),
        (place, vec![7.0, 2.0])
    );
    assert!(y.equal(&x));
    assert_eq!(fs::read(&path).unwrap(), before);
    assert_eq!(
        SafeTensors::open(&path)
            .unwrap()
            .tensor::<Tensor<(Out, In)>>("x")
            .unwrap()
            .to_vec(),
        x.to_vec()
    );
    // A tensor outlives its file, and a mapped tensor can still become a vector.
    assert_eq!(alone.into_vec().len(), 64 * 64);
}

#[test]
fn a_file_is_replaced_while_its_tensors_live() {
    let (_folder, path) = place();
    let write = |value| save(&path, [("x", Tensor::<(Out,)>::full([1000], value))]).unwrap();
    write(1.0);
    let old: Tensor<(Out,)> = SafeTensors::open(&path).unwrap().tensor("x").unwrap();
    write(2.0);
    let new: Tensor<(Out,)> = SafeTensors::open(&path).unwrap().tensor("x").unwrap();
    assert_eq!((old.sum(..).item(), new.sum(..).item()), (1000.0, 2000.0));
    // A tensor is saved over the file it is mapped from.
    save(&path, [("x", new)]).unwrap();
    let same: Tensor<(Out,)> = SafeTensors::open(&path).unwrap().tensor("x").unwrap();
    assert_eq!(same.sum(..).item(), 2000.0);
}

#[test]
fn what_is_not_aligned_is_copied() {
    let (_folder, path) = place();
    let data: Vec<u8> = [1.5_f64, -2.0]
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect();
    for pad in 0..8 {
        let header = r#"{"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#;
        by_hand(&path, &format!("{header}{}", " ".repeat(pad)), &data);
        let file = SafeTensors::open(&path).unwrap();
        let mut x: Tensor<(Wild,), f64> = file.tensor("x").unwrap();
        x += 1.0;
        assert_eq!(x.to_vec(), [2.5, -1.0]);
        assert_eq!(
            file.tensor::<Tensor<(Wild,), f64>>("x").unwrap().to_vec(),
            [1.5, -2.0]
        );
    }
}

#[test]
fn a_type_that_does_not_fit_is_told_with_file_tensor_and_both_lists() {
    let (_folder, path) = place();
    let w: Tensor<(Out, In)> = Tensor::ones([2, 4]);
    let plain = DynTensor::ones(&[2, 4], ()).unwrap();
    save(&path, [("w", w.into_dyn()), ("plain", plain)]).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    let check = |error: Error, kind, op: &str, parts: &[&str]| {
        assert_eq!((error.kind(), error.op()), (kind, op), "{error}");
        let text = error.to_string();
        let place = format!("in {}: ", path.display());
        for part in parts.iter().copied().chain([&place[..]]) {
            assert!(text.contains(part), "`{part}` is not in\n{text}");
        }
    };
    let swapped = file.tensor::<Tensor<(In, Out)>>("w").unwrap_err();
    check(
        swapped,
        ErrorKind::NameMismatch,
        "tensor",
        &["`w`", "dims (In, Out)", "(Out=2, In=4)"],
    );
    let rank = file.tensor::<Tensor<(Out,)>>("w").unwrap_err();
    check(
        rank,
        ErrorKind::Rank,
        "tensor",
        &["`w`", "dims (Out,)", "(Out=2, In=4)"],
    );
    let dtype = file.tensor::<Tensor<(Out, In), f16>>("w").unwrap_err();
    check(
        dtype,
        ErrorKind::DType,
        "tensor",
        &["f32, not f16", "(Out=2, In=4)"],
    );
    let unnamed = file.tensor::<Tensor<(Out, In)>>("plain").unwrap_err();
    check(
        unnamed,
        ErrorKind::UnnamedDim,
        "tensor",
        &["(_=2, _=4)", "dims (Out, In)", "`refine`"],
    );
    let size = file.refine::<Tensor<(Out, Rgb)>>("plain").unwrap_err();
    check(
        size,
        ErrorKind::Shape,
        "refine",
        &["size 4", "says 3", "(Out=2, Rgb=4)"],
    );
    let other = file.refine::<Tensor<(In, Out)>>("w").unwrap_err();
    check(
        other,
        ErrorKind::NameMismatch,
        "refine",
        &["dims (In, Out)", "(Out=2, In=4)"],
    );
    let absent = file.tensor::<DynTensor>("v").unwrap_err();
    check(
        absent,
        ErrorKind::Argument,
        "tensor",
        &["`v`", "the file has `plain`, `w`"],
    );

    let given: Tensor<(Out, Four)> = file.refine("plain").unwrap();
    assert_eq!(given.names(), names!["Out", "Four"]);
    let wild: Tensor<(Wild, Wild)> = file.tensor("w").unwrap();
    assert_eq!(wild.names(), names!["Out", "In"]);
    assert!(
        file.refine::<DynTensor>("plain")
            .unwrap()
            .names()
            .iter()
            .all(Option::is_none)
    );
}

#[test]
fn what_cannot_be_saved_leaves_the_file_as_it_was() {
    let (folder, path) = place();
    fs::write(&path, "old").unwrap();
    let x = |dtype| DynTensor::options().dtype(dtype).ones(&[2], ["N"]).unwrap();
    let dtype = save(&path, [("a", x(DType::F32)), ("b", x(DType::C128))]).unwrap_err();
    assert_eq!(dtype.kind(), ErrorKind::DType);
    assert!(
        dtype
            .to_string()
            .contains("`b`: safetensors files have no elements of Complex<f64>"),
        "{dtype}"
    );
    let twice = save(&path, [("a", x(DType::F32)), ("a", x(DType::F32))]).unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::Argument);
    assert!(save(&path, [("__metadata__", x(DType::F32))]).is_err());
    assert!(save_with(&path, [("a", x(DType::F32))], [(DIMS, "{}")]).is_err());
    assert_eq!(fs::read(&path).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

/// A recorded tensor is saved without its node.
#[test]
fn a_leaf_is_saved_as_its_elements() {
    let (_folder, path) = place();
    let w = tensor!([[1., 2.], [3., 4.]]; Out, In).with_grad();
    save(&path, [("w", w.align_to((In, Out)))]).unwrap();
    let back: Tensor<(In, Out)> = SafeTensors::open(&path).unwrap().tensor("w").unwrap();
    assert!(!back.requires_grad());
    assert_eq!(back.to_vec(), [1., 3., 2., 4.]);
    let back = back.with_grad();
    (&back * &back).sum(..).backward();
    assert_eq!(back.take_grad().unwrap().to_vec(), [2., 6., 4., 8.]);
}

#[test]
fn a_broken_file_is_an_error_that_names_it() {
    let (_folder, path) = place();
    let tensor = |name: &str, dtype: &str, shape: &str, from: u64, to: u64| {
        format!(r#""{name}":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[{from},{to}]}}"#)
    };
    let x = tensor("x", "F32", "[2]", 0, 8);
    let dims = |text: &str| format!(r#"{{"__metadata__":{{"nomina.dims":{text:?}}},{x}}}"#);
    let deep = format!("{{{x},\"y\":{}", "[".repeat(50_000));
    let huge = u64::MAX / 4;
    let many = format!("[{}1]", "1,".repeat(64));
    let broken = [
        String::new(),
        "{".to_owned(),
        "[]".to_owned(),
        "null".to_owned(),
        "{} {}".to_owned(),
        r#"{"x":3}"#.to_owned(),
        deep,
        // A duplicate; past the end; not to the end; backwards; an overlap; a gap.
        format!("{{{x},{x}}}"),
        format!("{{{}}}", tensor("x", "F32", "[3]", 0, 12)),
        format!("{{{}}}", tensor("x", "F32", "[1]", 0, 4)),
        format!("{{{}}}", tensor("x", "F32", "[2]", 8, 0)),
        format!(
            "{{{},{}}}",
            tensor("x", "F32", "[1]", 0, 4),
            tensor("y", "F32", "[2]", 0, 8)
        ),
        format!(
            "{{{},{}}}",
            tensor("x", "U8", "[3]", 0, 3),
            tensor("y", "F32", "[1]", 4, 8)
        ),
        // Other sizes; sizes that overflow in elements and in bytes; negative, fractional, and too many sizes.
        format!("{{{}}}", tensor("x", "F32", "[3]", 0, 8)),
        format!(
            "{{{}}}",
            tensor("x", "F32", &format!("[{huge},{huge}]"), 0, 8)
        ),
        format!("{{{}}}", tensor("x", "F64", &format!("[{huge}]"), 0, 8)),
        format!("{{{}}}", tensor("x", "F32", "[4611686018427387906]", 0, 8)),
        format!("{{{}}}", tensor("x", "F32", "[-2]", 0, 8)),
        format!("{{{}}}", tensor("x", "F32", "[2.0]", 0, 8)),
        format!("{{{}}}", tensor("x", "F32", &many, 0, 8)),
        format!("{{{}}}", tensor("x", "F32", "[18446744073709551616]", 0, 8)),
        format!("{{{}}}", tensor("x", "F31", "[2]", 0, 8)),
        // Eight tensors whose last offset is near `u64::MAX`, so that adding to it overflows.
        format!(
            "{{{}}}",
            (0..8)
                .map(|i| tensor(
                    &format!("x{i}"),
                    "U8",
                    &format!("[{}]", u64::MAX / 8),
                    i * (u64::MAX / 8),
                    (i + 1) * (u64::MAX / 8)
                ))
                .collect::<Vec<_>>()
                .join(",")
        ),
        // Names: not text, not an object, without a tensor, too few, duplicates, not identifiers.
        format!(r#"{{"__metadata__":{{"nomina.dims":3}},{x}}}"#),
        format!(r#"{{"__metadata__":{{}},"__metadata__":{{}},{x}}}"#),
        dims("[]"),
        dims(r#"{"y":["N"]}"#),
        dims(r#"{"x":[]}"#),
        dims(r#"{"x":["N","N"]}"#),
        dims(r#"{"x":["2d"]}"#),
        dims(r#"{"x":"N"}"#),
        dims(&format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000))),
    ];
    for header in broken {
        by_hand(&path, &header, &[0; 8]);
        let error = SafeTensors::open(&path).expect_err(&header[..header.len().min(200)]);
        let text = error.to_string();
        assert!(
            text.starts_with("open: ") && text.contains("a.safetensors: "),
            "{text}"
        );
        assert_ne!(error.kind(), ErrorKind::File, "{text}");
        assert!(text.len() < 1000, "{text}");
    }
    // This header without a fault is accepted.
    by_hand(&path, &dims(r#"{"x":["N"]}"#), &[0; 8]);
    assert!(
        SafeTensors::open(&path)
            .unwrap()
            .tensor::<DynTensor>("x")
            .is_ok()
    );
    for bytes in [
        &[][..],
        &[0; 7],
        &[255; 8],
        &[9, 0, 0, 0, 0, 0, 0, 0, b'{', b'}'],
    ] {
        fs::write(&path, bytes).unwrap();
        assert_eq!(
            SafeTensors::open(&path).unwrap_err().kind(),
            ErrorKind::Parse
        );
    }
    fs::remove_file(&path).unwrap();
    assert_eq!(
        SafeTensors::open(&path).unwrap_err().kind(),
        ErrorKind::File
    );
    assert!(SafeTensors::open(path.parent().unwrap()).is_err());
}

#[test]
fn what_only_one_tensor_gets_wrong_spoils_no_other() {
    let (_folder, path) = place();
    let header = r#"{"b":{"dtype":"BOOL","shape":[2],"data_offsets":[0,2]},"x":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},
        "f8":{"dtype":"F8_E4M3","shape":[2,1],"data_offsets":[4,6]},"u":{"dtype":"U16","shape":[1],"data_offsets":[6,8]}}"#;
    by_hand(&path, header, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let file = SafeTensors::open(&path).unwrap();
    assert_eq!(
        file.tensor::<DynTensor>("x")
            .unwrap()
            .to_vec::<u8>()
            .unwrap(),
        [3, 4]
    );
    let error = file.tensor::<DynTensor>("b").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Parse);
    assert!(error.to_string().contains("`b` in "), "{error}");
    for (name, shown) in [("f8", "(_=2, _=1)"), ("u", "(_=1,)")] {
        let error = file.tensor::<DynTensor>(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::DType);
        assert!(error.to_string().contains(shown), "{error}");
    }
}

#[test]
fn files_cross_threads() {
    let (_folder, path) = place();
    save(&path, [("x", Tensor::<(Out, In)>::ones([100, 100]))]).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    let sums: Vec<f32> = std::thread::scope(|scope| {
        let sum = || {
            file.tensor::<Tensor<(Out, In)>>("x")
                .unwrap()
                .sum(..)
                .item()
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(sum)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(sums, [10_000.0; 4]);
}

#[test]
fn the_same_tensors_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    let x = DynTensor::ones(&[2], ["N"]).unwrap();
    let saved = |turned: bool| {
        let mut tensors: Vec<_> = (0..9).map(|i| (format!("t{i}"), x.clone())).collect();
        let mut texts: Vec<_> = (0..9).map(|i| (format!("k{i}"), "v")).collect();
        if turned {
            tensors.reverse();
            texts.reverse();
        }
        save_with(&path, tensors, texts).unwrap();
        fs::read(&path).unwrap()
    };
    let first = saved(false);
    // An unsorted map would almost certainly give another order in one of ten runs.
    for i in 0..10 {
        assert!(saved(i % 2 == 1) == first);
    }
}
