//! Files of the Python packages of each format. Those in `tests/data`, written by `scripts/io_interop.py record`, are
//! read on every machine; if Python and the packages are installed, new files are exchanged in both directions.
//! `NOMINA_PYTHON` names the Python.

use std::path::Path;
use std::process::Command;

use nomina::prelude::*;

dims! { Time, Lat, Lon }

/// Returns the element of a number, which both sides compute.
fn element(i: usize, dtype: DType) -> Complex<f64> {
    let number = (7 * i % 23) as f64;
    match dtype {
        DType::Bool => Complex::new(number % 2.0, 0.0),
        _ if dtype.is_complex() => Complex::new(number, number + 1.0),
        _ => Complex::new(number, 0.0),
    }
}

fn ours(dtype: DType) -> DynTensor {
    let elements: Vec<Complex<f64>> = (0..24).map(|i| element(i, dtype)).collect();
    let all = DynTensor::from_vec(elements, &[2, 3, 4], ["Time", "Lat", "Lon"]).unwrap();
    let real = if dtype.is_complex() {
        all
    } else {
        all.real().unwrap()
    };
    real.to_dtype(dtype).unwrap()
}

fn same(tensor: &DynTensor, dtype: DType) {
    let bytes = |x: &DynTensor| x.contiguous().unwrap().raw().as_bytes().unwrap().to_vec();
    assert_eq!((tensor.dtype(), tensor.shape()), (dtype, &[2, 3, 4][..]));
    assert_eq!(bytes(tensor), bytes(&ours(dtype)), "{dtype}");
}

fn all_but(without: DType) -> impl Iterator<Item = (String, DType)> {
    let all = DType::ALL
        .into_iter()
        .filter(move |&dtype| dtype != without);
    all.map(|dtype| (dtype.torch_name().to_owned(), dtype))
}

#[cfg(feature = "safetensors")]
mod safetensors {
    use super::*;
    use nomina_io::safetensors::{SafeTensors, save};

    pub fn read(folder: &Path) {
        let file = SafeTensors::open(folder.join("python.safetensors")).unwrap();
        assert_eq!(file.metadata()["format"], "np");
        for (name, dtype) in all_but(DType::C128) {
            let tensor: DynTensor = file.tensor(&name).unwrap();
            same(&tensor, dtype);
            match dtype {
                DType::I64 => assert!(!tensor.names().has_names()),
                _ => assert_eq!(tensor.names(), &names!["Time", "Lat", "Lon"]),
            }
        }
        let typed: Tensor<(Time, Lat, Lon)> = file.tensor("float32").unwrap();
        let named: Tensor<(Time, Lat, Lon), i64> = file.refine("int64").unwrap();
        assert_eq!((typed.size(Lon), named.size(Lat)), (4, 3));
    }

    pub fn write(folder: &Path) {
        let all = all_but(DType::C128).map(|(name, dtype)| (name, ours(dtype)));
        save(folder.join("rust.safetensors"), all).unwrap();
    }
}

#[cfg(feature = "npz")]
mod npy {
    use super::*;
    use nomina_io::{npy, npz};

    pub fn read(folder: &Path) {
        let load = |name| npy::load::<DynTensor>(folder.join(name)).unwrap();
        same(&load("python.npy"), DType::F32);
        let fortran = load("fortran.npy");
        same(&fortran, DType::F64);
        assert_eq!(fortran.strides(), [1, 2, 6]);
        same(&load("big_endian.npy"), DType::I32);
        for name in ["python.npz", "compressed.npz"] {
            let file = npz::Npz::open(folder.join(name)).unwrap();
            assert_eq!(file.keys().len(), 11);
            for (name, dtype) in all_but(DType::BF16) {
                same(&file.load(&name).unwrap(), dtype);
            }
        }
        let typed: Tensor<(Time, Lat, Lon)> = npy::load(folder.join("python.npy")).unwrap();
        assert_eq!(typed.size(Lon), 4);
    }

    pub fn write(folder: &Path) {
        npy::save(folder.join("rust.npy"), ours(DType::F32)).unwrap();
        let x = ours(DType::F64);
        let turned = x
            .align_to(["Lon", "Lat", "Time"])
            .unwrap()
            .contiguous()
            .unwrap();
        npy::save(
            folder.join("rust_fortran.npy"),
            turned.align_to(["Time", "Lat", "Lon"]).unwrap(),
        )
        .unwrap();
        let all = all_but(DType::BF16).map(|(name, dtype)| (name, ours(dtype)));
        npz::save(folder.join("rust.npz"), all).unwrap();
    }
}

#[cfg(feature = "zarr")]
mod zarr {
    use super::*;
    use nomina_io::zarr::{Zarr, attributes, create_group, keys};

    pub fn read(folder: &Path) {
        let root = folder.join("python.zarr");
        for (name, dtype) in all_but(DType::BF16) {
            let array = Zarr::<DynTensor>::open(root.join(&name)).unwrap();
            assert_eq!(array.names(), &names!["Time", "Lat", "Lon"]);
            same(&array.read().unwrap(), dtype);
            let part = array
                .narrow("Lat", 1..)
                .unwrap()
                .narrow("Lon", 2..3)
                .unwrap();
            let part = part.read().unwrap();
            let whole = ours(dtype)
                .narrow("Lat", 1, 2)
                .unwrap()
                .narrow("Lon", 2, 1)
                .unwrap();
            assert_eq!(part.shape(), [2, 2, 1]);
            assert_eq!(
                part.raw().as_bytes().unwrap(),
                whole.contiguous().unwrap().raw().as_bytes().unwrap()
            );
        }
        for name in ["sharded", "index_first", "gzipped", "summed", "turned"] {
            let array = Zarr::<Tensor<(Time, Lat, Lon), f64>>::open(root.join(name)).unwrap();
            same(&array.read().unwrap().into_dyn(), DType::F64);
        }
        let plain = root.join("plain");
        assert!(Zarr::<Tensor<(Time, Lat, Lon), f64>>::open(&plain).is_err());
        let array = Zarr::<Tensor<(Time, Lat, Lon), f64>>::refine(&plain).unwrap();
        assert_eq!(
            array.narrow(Lat, 1..2).unwrap().read().unwrap().shape(),
            [2, 1, 4]
        );
        let holes = Zarr::<DynTensor>::open(root.join("holes")).unwrap();
        let rows = holes.read().unwrap().isnan().unwrap().to_vec::<bool>();
        assert_eq!(
            rows.unwrap(),
            [[false; 4], [true; 4], [true; 4], [true; 4]].concat()
        );
        let error = Zarr::<DynTensor>::open(&root).unwrap_err().to_string();
        assert!(error.contains("a group, not an array"), "{error}");
        let names = keys(&root).unwrap();
        assert!(
            names.len() == 18 && names.contains(&"turned".to_owned()),
            "{names:?}"
        );
        packed(&folder.join("packed.zarr"));
    }

    /// Checks arrays that xarray packed: 1, a missing element, and 3.
    fn packed(root: &Path) {
        assert_eq!(attributes(root).unwrap()["title"].as_str(), Some("packed"));
        for name in keys(root).unwrap() {
            let array = Zarr::<DynTensor>::open(root.join(&name)).unwrap();
            let units = &array.attributes().unwrap()["units"];
            assert_eq!(units.as_str(), Some("K"), "{name}");
            let x = array.read().unwrap().to_dtype(DType::F64).unwrap();
            let x = x.to_vec::<f64>().unwrap();
            let near = (x[0] - 1.0).abs() < 0.005 && (x[2] - 3.0).abs() < 0.005;
            assert!(near && x[1].is_nan(), "{name}: {x:?}");
            let float = Zarr::<Tensor<(Time,)>>::open(root.join(&name)).unwrap();
            assert_eq!(float.read().unwrap().to_vec()[2], x[2] as f32, "{name}");
        }
    }

    /// Copies a folder with its contents.
    fn copied(from: &Path, to: &Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let to = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copied(&entry.path(), &to)
            } else {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
    }

    pub fn write(folder: &Path) {
        let root = folder.join("rust.zarr");
        create_group(&root).unwrap();
        for (name, dtype) in all_but(DType::BF16) {
            let x = ours(dtype);
            let array =
                Zarr::<DynTensor>::create(root.join(name), dtype, x.names(), x.shape(), &[1, 2, 3])
                    .unwrap();
            // By boxes that are not aligned to chunks.
            for lon in [0_usize..1, 1..4] {
                let part = x.narrow("Lon", lon.start as i64, lon.len()).unwrap();
                array.narrow("Lon", lon).unwrap().write(&part).unwrap();
            }
        }
        let root = folder.join("repacked.zarr");
        copied(&data().join("packed.zarr"), &root);
        for name in keys(&root).unwrap() {
            let array = Zarr::<Tensor<(Time,), f64>>::open(root.join(&name)).unwrap();
            let x = tensor!([f64::NAN, 2.0, 4.0]; Time);
            array.write(&x).unwrap();
        }
        let root = folder.join("rewritten.zarr");
        copied(&data().join("python.zarr"), &root);
        for name in keys(&root).unwrap() {
            let array = Zarr::<DynTensor>::open(root.join(&name)).unwrap();
            if array.shape() == [2, 3, 4] && array.names().has_names() {
                let zeros = DynTensor::options().dtype(array.dtype());
                let zeros = zeros.zeros(&[2, 1, 4], array.names().clone()).unwrap();
                array.narrow("Lat", 1..2).unwrap().write(&zeros).unwrap();
            }
        }
        type Plain = Tensor<(Time, Lat, Lon), f64>;
        let plain = Zarr::<Plain>::refine(root.join("plain")).unwrap();
        plain
            .narrow(Lat, 1..2)
            .unwrap()
            .write(&Tensor::zeros([2, 1, 4]))
            .unwrap();
    }
}

/// A format's name, and its writer and reader.
type Ways = (&'static str, fn(&Path), fn(&Path));

fn formats() -> Vec<Ways> {
    vec![
        #[cfg(feature = "safetensors")]
        ("safetensors", safetensors::read, safetensors::write),
        #[cfg(feature = "npz")]
        ("npy", npy::read, npy::write),
        #[cfg(feature = "zarr")]
        ("zarr", zarr::read, zarr::write),
    ]
}

fn data() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

#[test]
fn recorded_files_are_read() {
    for (_, read, _) in formats() {
        read(&data());
    }
}

#[test]
fn files_go_both_ways_where_python_is() {
    let python = std::env::var("NOMINA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/io_interop.py");
    let run = |args: &[&str]| Command::new(&python).arg(&script).args(args).output();
    let able = match run(&["needs"]) {
        Ok(output) if output.status.success() => String::from_utf8(output.stdout).unwrap(),
        _ => String::new(),
    };
    for (name, read, write) in formats() {
        if !able.lines().any(|line| line == name) {
            eprintln!(
                "{name}: not compared: `{python}` or the packages that {} needs are not here",
                script.display()
            );
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().to_str().unwrap();
        write(folder.path());
        for task in ["write", "check"] {
            let output = run(&[task, at, name]).unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{task} {name}: {said}");
        }
        read(folder.path());
        eprintln!("{name}: both ways");
    }
}
