//! zarr arrays with changed metadata or chunks.

use nomina_io::zarr::Zarr;

use super::*;

/// Separates the metadata of an array from its first chunk, in one file.
const BEHIND: &[u8] = b"\0chunk\0";

/// The memory of zstd's window and tables, and of data between codecs.
const UNPACKING: usize = 2 << 20;

/// Words of the metadata of an array.
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
    "\"start\"",
    "[2,0,1]",
    "\"/\"",
    "\".\"",
    "\"configuration\":{",
    "\"name\":",
    "\"fill_value\":",
    "\"dimension_names\":[null,",
    "18446744073709551615",
    "4294967296",
];

/// Reads an array, and writes a part of it.
fn read_and_write(path: &Path) -> Result<usize> {
    let all = fs::read(path).unwrap();
    let mut parts = all.windows(BEHIND.len());
    let end = parts.position(|part| part == BEHIND).unwrap_or(all.len());
    let folder = path.with_file_name("file.zarr");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("c/0/0")).unwrap();
    fs::write(folder.join("zarr.json"), &all[..end]).unwrap();
    let chunk = all.get(end + BEHIND.len()..).unwrap_or_default();
    for key in ["c/0/0/0", "0.0.0"] {
        fs::write(folder.join(key), chunk).unwrap();
    }
    let array = Zarr::<DynTensor>::open(&folder)?;
    // Limits the box, since the caller chooses how much is read, and whole chunks are written.
    let few = |sizes: &[usize]| {
        let mut sizes = sizes.iter();
        let count = sizes.try_fold(1_usize, |all, &size| all.checked_mul(size));
        count.is_some_and(|count| count <= 1 << 12)
    };
    if !few(&array.shape()) {
        return Ok(0);
    }
    let mut copied = looked_at(&array.read()?);
    let first = array.names().iter().flatten().next().cloned();
    if let Some(first) = first.filter(|_| few(array.chunks())) {
        let chunk: usize = array.chunks().iter().product();
        copied += 2 * chunk * array.dtype().size();
        if let Ok(part) = array.narrow(first.as_str(), 1..) {
            part.write(&part.read()?)?;
        }
    }
    Ok(copied)
}

#[test]
fn changed_zarr_arrays_do_no_harm() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/python.zarr");
    let mut seeds = Vec::new();
    for name in [
        "bool",
        "complex64",
        "gzipped",
        "index_first",
        "plain",
        "sharded",
        "summed",
        "turned",
    ] {
        let file = |key: &str| fs::read(root.join(name).join(key));
        let chunk = file("c/0/0/0").or_else(|_| file("0.0.0")).unwrap();
        let text = String::from_utf8(file("zarr.json").unwrap()).unwrap();
        // Without whitespace, which only makes it longer.
        let text: String = text.split_whitespace().collect();
        seeds.push([text.as_bytes(), BEHIND, &chunk[..]].concat());
    }
    attack(&Format {
        name: "zarr",
        flat: UNPACKING,
        seeds,
        words: OF_ZARR,
        framed: |_| (),
        read: Box::new(read_and_write),
    });
}

/// A chunk is a stream, of which only the requested box is kept.
#[test]
fn a_small_box_of_a_large_chunk_takes_little_memory() {
    let folder = in_memory();
    let path = folder.path().join("file");
    let names = names!["N", "C"];
    let sizes = [1 << 12, 1 << 12];
    let array = Zarr::<DynTensor>::create(&path, DType::F32, &names, &sizes, &sizes).unwrap();
    let ones = DynTensor::ones(&sizes, ["N", "C"]).unwrap();
    array.write(&ones).unwrap();
    let middle = array.narrow("N", 2000..2001).unwrap();
    let middle = middle.narrow("C", 5..9).unwrap();
    let (peak, read) = counting::peak(|| middle.read().unwrap());
    assert_eq!(read.to_vec::<f32>().unwrap(), [1.0; 4]);
    let stored = fs::metadata(path.join("c/0/0")).unwrap().len();
    eprintln!("{peak} bytes for a box of a chunk of 64 MiB, {stored} bytes on disk");
    assert!(peak < 1 << 18, "{peak} bytes");
}
