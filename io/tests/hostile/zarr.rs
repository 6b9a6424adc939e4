//! Arrays of zarr whose descriptions or chunks were changed.

use super::*;

/// What an error and its kin take beside what a file accounts for: descriptions name codecs of several kinds.
const INFLATING_CHUNKS: usize = 1 << 20;

/// What stands in the description of an array.
const OF_ZARR: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "[[[[",
    ",",
    ":",
    "null",
    "true",
    "\"",
    "-1",
    "0",
    "1e999",
    "0.5",
    "[0,0]",
    "[2]",
    "[]",
    "\"bool\"",
    "\"float64\"",
    "\"complex128\"",
    "\"string\"",
    "\"uint64\"",
    "\"r8\"",
    "\"NaN\"",
    "\"0x7fc00000\"",
    "\"big\"",
    "\"zstd\"",
    "\"gzip\"",
    "\"crc32c\"",
    "\"transpose\"",
    "\"bytes\"",
    "\"sharding_indexed\"",
    "\"default\"",
    "\"v2\"",
    "\"/\"",
    "\".\"",
    "\"configuration\":{",
    "\"name\":",
    "\"fill_value\":",
    "\"dimension_names\":[null,",
    "18446744073709551615",
    "4294967296",
];

/// Reads the array of `folder` with one of its files, `name`, in the place of its own.
fn read_zarr(path: &Path, like: &Path, name: &str) -> Result<usize> {
    use nomina_io::zarr::Zarr;
    let folder = path.with_file_name("file.zarr");
    fs::create_dir_all(folder.join("c/0")).unwrap();
    for file in ["zarr.json", "c/0/0"] {
        let from = if file == name {
            path.to_owned()
        } else {
            like.join(file)
        };
        fs::copy(from, folder.join(file)).unwrap();
    }
    let array = Zarr::<DynTensor>::open(&folder)?;
    // How much is read is what the caller asks for.
    let shape = array.shape();
    let few = shape
        .iter()
        .try_fold(1_usize, |all, &size| all.checked_mul(size));
    match few.is_some_and(|few| few <= 1 << 12) {
        true => Ok(looked_at(&array.read()?)),
        false => Ok(0),
    }
}

fn attack_zarr(
    dtype: DType,
    file: &'static str,
    format: impl FnOnce(std::path::PathBuf) -> Format,
) {
    use nomina_io::zarr::Zarr;
    let folder = in_memory();
    let path = folder.path().join("like");
    let x = DynTensor::arange(0, 30, 1, ["N"])
        .unwrap()
        .to_dtype(dtype)
        .unwrap();
    let x = x.unflatten("N", [("Lat", 5), ("Lon", 6)]).unwrap();
    let array = Zarr::<DynTensor>::create(&path, dtype, x.names(), x.shape(), &[5, 6]).unwrap();
    array.write(&x).unwrap();
    let mut format = format(path.clone());
    format.seeds.push(fs::read(path.join(file)).unwrap());
    attack(&format);
}

#[test]
fn changed_zarr_descriptions_do_no_harm() {
    attack_zarr(DType::F32, "zarr.json", |like| Format {
        name: "zarr.json",
        flat: INFLATING_CHUNKS,
        seeds: vec![
            include_bytes!("../data/python.zarr/sharded/zarr.json").to_vec(),
            include_bytes!("../data/python.zarr/gzipped/zarr.json").to_vec(),
        ],
        words: OF_ZARR,
        framed: |_| (),
        read: Box::new(move |path| read_zarr(path, &like, "zarr.json")),
    });
}

#[test]
fn changed_zarr_chunks_do_no_harm() {
    attack_zarr(DType::Bool, "c/0/0", |like| Format {
        name: "chunk",
        flat: INFLATING_CHUNKS,
        seeds: Vec::new(),
        words: OF_ZARR,
        framed: |_| (),
        read: Box::new(move |path| read_zarr(path, &like, "c/0/0")),
    });
}
