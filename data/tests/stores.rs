//! Stores of zarr for Python with blosc, unsigned integers and consolidated metadata, and groups of netCDF.

use nomina::prelude::*;
use nomina_data::{DynDataset, OpenOptions};
use nomina_io::zarr::{Group, Zarr};

fn store(name: &str) -> String {
    format!("{}/tests/data/stores/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn integers(dataset: &DynDataset, name: &str) -> Vec<i64> {
    let tensor = dataset.variable(name).unwrap().tensor().unwrap();
    tensor.to_dtype(DType::I64).unwrap().to_vec().unwrap()
}

#[test]
fn unsigned_integers_are_read_as_i64() {
    for version in [2, 3] {
        let mixed = DynDataset::open_lazy(store(&format!("mixed_{version}.zarr"))).unwrap();
        assert_eq!(mixed.attributes().text("title"), Some("unsigned"));
        assert_eq!(integers(&mixed, "u2"), [0, 1, 65_535]);
        assert_eq!(integers(&mixed, "u4"), [0, 7, 4_294_967_295]);
        assert_eq!(integers(&mixed, "u8"), [0, 7, i64::MAX]);
        let last = mixed.isel("x", -1).unwrap();
        assert_eq!(integers(&last, "u2"), [65_535]);
        let units = mixed.variable("u2").unwrap().attributes().text("units");
        assert_eq!(units, Some("counts"));
        let packed = mixed.variable("packed").unwrap().tensor().unwrap();
        let packed = packed.to_vec::<f64>().unwrap();
        assert!(
            packed[0].is_nan() && packed[1..] == [5.0, 20_000.0],
            "{packed:?}"
        );
    }
}

#[test]
fn variables_that_are_left_out_are_named() {
    for version in [2, 3] {
        let mixed = DynDataset::open_lazy(store(&format!("mixed_{version}.zarr"))).unwrap();
        let [left_out] = mixed.left_out() else {
            panic!("{:?}", mixed.left_out())
        };
        assert_eq!(left_out.name, "when");
        assert!(
            left_out.why.contains("datetime64") || left_out.why.contains("M8"),
            "{left_out:?}"
        );
        assert!(mixed.to_string().contains("Left out:\n    when"), "{mixed}");
        assert!(mixed.to_html().contains("Left out: when, "));
        let error = mixed.variable("when").unwrap_err().to_string();
        assert!(
            error.contains("variable `when` of the file was left out: "),
            "{error}"
        );
    }
}

#[test]
fn consolidated_metadata_are_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("x.zarr");
    // Only the consolidated metadata and the chunks remain.
    for (version, own) in [(2, ".zarray"), (3, "zarr.json")] {
        let from = store(&format!("mixed_{version}.zarr"));
        for name in ["", "u2"] {
            std::fs::create_dir_all(copy.join(name)).unwrap();
            for entry in std::fs::read_dir(std::path::Path::new(&from).join(name)).unwrap() {
                let entry = entry.unwrap();
                let file = entry.file_name();
                if entry.path().is_file() && (name.is_empty() || file != *own) {
                    std::fs::copy(entry.path(), copy.join(name).join(file)).unwrap();
                }
            }
        }
        if version == 3 {
            std::fs::create_dir_all(copy.join("u2/c")).unwrap();
            for chunk in ["0", "1"] {
                let path = format!("u2/c/{chunk}");
                std::fs::copy(format!("{from}/{path}"), copy.join(path)).unwrap();
            }
        }
        let group = Group::open(&copy).unwrap();
        assert!(group.is_consolidated());
        assert_eq!(group.keys().unwrap(), ["packed", "u2", "u4", "u8", "when"]);
        assert_eq!(
            integers(&DynDataset::open_lazy(&copy).unwrap(), "u2"),
            [0, 1, 65_535]
        );
        std::fs::remove_dir_all(&copy).unwrap();
    }
    let mut dataset = DynDataset::new();
    let x = DynTensor::from_vec(vec![1.0_f32, 2.0], &[2], ["x"]).unwrap();
    dataset
        .insert(nomina_data::Variable::new("a", x).unwrap())
        .unwrap();
    dataset.write_zarr(&copy).unwrap();
    let group = Group::open(&copy).unwrap();
    assert!(group.is_consolidated());
    assert_eq!(group.keys().unwrap(), ["a"]);
    assert_eq!(
        group
            .array("a")
            .unwrap()
            .read()
            .unwrap()
            .to_vec::<f32>()
            .unwrap(),
        [1.0, 2.0]
    );
}

#[test]
fn unsigned_arrays_are_written_within_their_range() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("u2");
    std::fs::create_dir_all(path.join("c")).unwrap();
    for file in ["zarr.json", "c/0", "c/1"] {
        std::fs::copy(
            format!("{}/u2/{file}", store("mixed_3.zarr")),
            path.join(file),
        )
        .unwrap();
    }
    let array = Zarr::<DynTensor>::open(&path).unwrap();
    let tensor = |values: [i64; 3]| DynTensor::from_vec(values.to_vec(), &[3], ["x"]).unwrap();
    array.write(&tensor([65_535, 40_000, 3])).unwrap();
    assert_eq!(
        array.read().unwrap().to_vec::<i64>().unwrap(),
        [65_535, 40_000, 3]
    );
    for wrong in [-1, 65_536] {
        let error = array.write(&tensor([0, wrong, 0])).unwrap_err().to_string();
        assert!(
            error.contains("does not fit unsigned integers of 16 bits"),
            "{error}"
        );
    }
}

#[test]
fn blosc_is_a_feature() {
    for version in [2, 3] {
        let group = Group::open(store(&format!("blosc_{version}.zarr"))).unwrap();
        for name in ["blosclz", "lz4", "lz4hc", "zlib", "zstd"] {
            let array = match group.array(name) {
                Ok(array) => array,
                Err(error) => {
                    if cfg!(feature = "blosc") {
                        panic!("{error}");
                    }
                    let error = error.to_string();
                    assert!(error.contains("enable the feature `blosc`"), "{error}");
                    continue;
                }
            };
            // Also if another crate of the build enabled it.
            let values = array.read().unwrap().to_vec::<f64>().unwrap();
            assert_eq!(values.len(), 1500);
            for (at, value) in values.into_iter().enumerate() {
                assert!(
                    (value - at as f64 / 7.0).abs() <= 0.05 + 1e-9,
                    "{name}: {at}: {value}"
                );
            }
        }
    }
}

#[test]
#[cfg(feature = "netcdf")]
fn groups_of_netcdf_are_opened() {
    let root = DynDataset::open(store("groups.nc")).unwrap();
    assert_eq!(
        root.variables().map(|one| one.name()).collect::<Vec<_>>(),
        ["root"]
    );
    let ocean = OpenOptions::new()
        .group("model/ocean")
        .open(store("groups.nc"))
        .unwrap();
    assert_eq!(ocean.attributes().text("title"), Some("ocean"));
    let salt = ocean.variable("salt").unwrap();
    assert_eq!(salt.dims(), ["time", "depth"]);
    assert_eq!(
        integers(&ocean, "salt"),
        [0, 10_000, 20_000, 30_000, 40_000, 50_000]
    );
    let deep = ocean.sel("depth", 10.0).unwrap();
    assert_eq!(integers(&deep, "salt"), [10_000, 30_000, 50_000]);
    assert_eq!(ocean.left_out()[0].name, "pairs");
    let error = OpenOptions::new()
        .group("model/sea")
        .open(store("groups.nc"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("no group `model/sea`; groups are model, model/ocean"),
        "{error}"
    );
}

#[test]
fn groups_of_zarr_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zarr");
    nomina_io::zarr::create_group(&path).unwrap();
    let mut inner = DynDataset::new();
    let x = DynTensor::from_vec(vec![1_i64, 2], &[2], ["x"]).unwrap();
    inner
        .insert(nomina_data::Variable::new("a", x).unwrap())
        .unwrap();
    inner.write_zarr(path.join("inner")).unwrap();
    let read = OpenOptions::new().group("inner").open(&path).unwrap();
    assert_eq!(integers(&read, "a"), [1, 2]);
    assert_eq!(DynDataset::open(&path).unwrap().variables().count(), 0);
}
