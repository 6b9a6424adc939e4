//! Files with random changes cause no panic, and use no more memory than the file accounts for.
//!
//! `NOMINA_FILES=count,seed` sets the number of files for each format, and the seed.

#[allow(dead_code)]
#[path = "../../tests/programs/bytes.rs"]
mod bytes;
#[path = "../../tests/counting/mod.rs"]
mod counting;
#[cfg(feature = "png")]
mod png_file;
#[cfg(feature = "pth")]
#[path = "hostile/pth.rs"]
mod pytorch;
#[cfg(feature = "zarr")]
#[path = "hostile/zarr.rs"]
mod zarr;

use std::fs;
use std::path::Path;

use bytes::Bytes;
use nomina::prelude::*;

/// The memory of error texts, empty tensors and the like, beyond what a file accounts for.
const FLAT: usize = 24 << 10;

/// Like [`FLAT`], for formats that inflate, which need a window and tables.
#[cfg(feature = "npz")]
const INFLATING: usize = 128 << 10;

/// A format under attack.
struct Format {
    name: &'static str,
    /// Valid files.
    seeds: Vec<Vec<u8>>,
    /// Words of such files, to be inserted at wrong places.
    words: &'static [&'static str],
    /// The memory that no file accounts for.
    flat: usize,
    /// Corrects the stored length of the header.
    framed: fn(&mut Vec<u8>),
    /// Reads a whole file. Returns the bytes of the elements that were copied.
    read: Box<dyn Fn(&Path) -> Result<usize> + std::panic::RefUnwindSafe>,
}

/// The replacements of a digit.
const NUMBERS: [&str; 10] = [
    "0",
    "1",
    "2",
    "4",
    "7",
    "10",
    "99",
    "65536",
    "4294967296",
    "18446744073709551615",
];

/// Returns a folder in memory if possible, since files are written by the thousand.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Reads all elements.
fn looked_at(tensor: &DynTensor) -> usize {
    let raw = tensor.contiguous().unwrap();
    let bytes = raw.raw().as_bytes().unwrap();
    std::hint::black_box(bytes.iter().fold(0_u8, |all, byte| all ^ byte));
    bytes.len()
}

/// Returns a seed with one or several changes.
fn mutated(random: &mut Bytes<'_>, format: &Format) -> Vec<u8> {
    let mut bytes = format.seeds[random.below(format.seeds.len())].clone();
    let changes = 1 + if random.once_in(2) {
        random.below(4)
    } else {
        0
    };
    for _ in 0..changes {
        let at = random.below(bytes.len() + 1);
        let some = random.below(9);
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => {
                let noise: Vec<u8> = (0..some).map(|_| random.word() as u8).collect();
                bytes.splice(at..at, noise);
            }
            2 => {
                bytes.drain(at..(at + some).min(bytes.len()));
            }
            3 => {
                let from = random.below(bytes.len() + 1);
                let until = (from + random.below(80)).min(bytes.len());
                let copy = bytes[from..until].to_vec();
                bytes.splice(at..at, copy);
            }
            4 | 5 => {
                let word = random.pick(format.words).as_bytes();
                // Often replaces exactly the same number of bytes.
                let over = if random.once_in(2) {
                    random.below(word.len() + 3)
                } else {
                    word.len()
                };
                bytes.splice(at..(at + over).min(bytes.len()), word.iter().copied());
            }
            // Replaces a digit with another one, or with several.
            6 | 7 => {
                let digits = (0..bytes.len()).filter(|&i| bytes[i].is_ascii_digit());
                let digits: Vec<usize> = digits.take(400).collect();
                if let Some(&at) = digits.get(random.below(digits.len())) {
                    bytes.splice(at..=at, random.pick(&NUMBERS).bytes());
                }
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
        }
    }
    if !random.once_in(4) {
        (format.framed)(&mut bytes);
    }
    bytes
}

fn attack(format: &Format) {
    let asked = std::env::var("NOMINA_FILES").unwrap_or_default();
    let mut asked = asked.split(',').filter(|text| !text.is_empty());
    let mut number = |default| {
        asked
            .next()
            .map_or(default, |text| text.parse().expect("count,seed"))
    };
    let (count, seed): (u64, u64) = (number(20_000), number(1));
    let folder = in_memory();
    let path = folder.path().join("file");
    // Process-wide allocations of the first call are not the file's.
    for bytes in &format.seeds {
        fs::write(&path, bytes).unwrap();
        (format.read)(&path).expect("a seed");
    }
    let (mut opened, mut worst) = (0_u64, 0.0_f64);
    for i in 0..count {
        let mut random = Bytes::Random(seed.wrapping_add(i).wrapping_mul(0x9e37_79b9));
        let bytes = mutated(&mut random, format);
        fs::write(&path, &bytes).unwrap();
        let run = || counting::peak(|| (format.read)(&path));
        let Ok((peak, read)) = std::panic::catch_unwind(run) else {
            let kept = std::env::temp_dir().join(format!("nomina-{}-{i}", format.name));
            fs::write(&kept, &bytes).unwrap();
            panic!("file {i} of seed {seed} is in {}", kept.display());
        };
        let copied = read.as_ref().map_or(0, |&copied| copied);
        opened += u64::from(read.is_ok());
        assert!(
            peak <= 2 * (bytes.len() + copied) + format.flat,
            "file {i} of seed {seed}: {peak} bytes of memory for {}",
            bytes.len()
        );
        worst = worst.max(peak.saturating_sub(format.flat) as f64 / bytes.len().max(1) as f64);
        if let Err(error) = read {
            assert!(error.to_string().contains("file"), "{error}");
        }
    }
    eprintln!(
        "{}: {count} files, of which {opened} opened; at most {} bytes and {worst:.2} times the file",
        format.name, format.flat
    );
    assert!(opened > 0 && opened < count, "{opened} of {count} opened");
}

#[cfg(feature = "safetensors")]
#[test]
fn changed_safetensors_files_do_no_harm() {
    use nomina_io::safetensors::{SafeTensors, save, save_with};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    let tensor = |shape: &[usize], dtype| {
        DynTensor::options()
            .dtype(dtype)
            .ones(shape, [Some("N"), None])
            .unwrap()
    };
    let mut seeds = Vec::new();
    save(
        &path,
        [
            ("w", tensor(&[20, 30], DType::F32)),
            ("b", tensor(&[4, 1], DType::Bool)),
        ],
    )
    .unwrap();
    seeds.push(fs::read(&path).unwrap());
    let all = DType::ALL.into_iter().filter(|dtype| *dtype != DType::C128);
    let all = all.map(|dtype| (dtype.torch_name(), tensor(&[1, 2], dtype)));
    save_with(&path, all, [("format", "pt")]).unwrap();
    seeds.push(fs::read(&path).unwrap());
    save(&path, [("", DynTensor::zeros(&[0, 3], ()).unwrap())]).unwrap();
    seeds.push(fs::read(&path).unwrap());
    attack(&Format {
        name: "safetensors",
        flat: FLAT,
        seeds,
        words: &[
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
            "\\u0000",
            "-1",
            "1e999",
            "0.5",
            "F64",
            "BOOL",
            "C64",
            "F4",
            "U64",
            "\"shape\":[",
            "\"data_offsets\":[0,",
            "__metadata__",
            "nomina.dims",
            "{\"w\":[\"N\"]}",
            "\"N\"",
            "[18446744073709551615,2]",
            "[4611686018427387904]",
            "dtype",
            " ",
        ],
        framed: |bytes| {
            // The header ends with its last brace.
            let Some(end) = bytes.iter().rposition(|&byte| byte == b'}') else {
                return;
            };
            if let (Some(count), Some(until)) = (bytes.get_mut(..8), (end + 1).checked_sub(8)) {
                count.copy_from_slice(&(until as u64).to_le_bytes());
            }
        },
        read: Box::new(|path| {
            let file = SafeTensors::open(path)?;
            let all = file.keys().map(|key| Ok(looked_at(&file.tensor(key)?)));
            all.sum()
        }),
    });
}

/// A header of nothing but tensors costs a few times its length in memory, however it is written.
#[cfg(feature = "safetensors")]
#[test]
fn a_header_takes_memory_by_its_length() {
    use nomina_io::safetensors::SafeTensors;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let tensors: Vec<String> = (0..20_000)
        .map(|i| format!(r#""{i}":{{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#))
        .collect();
    let sizes = format!(
        r#""x":{{"dtype":"U8","shape":[{}0],"data_offsets":[0,0]}}"#,
        "1,".repeat(500_000)
    );
    for (header, times) in [(tensors.join(","), 12), (sizes, 2)] {
        let header = format!("{{{header}}}");
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        fs::write(&path, &bytes).unwrap();
        let (peak, opened) = counting::peak(|| SafeTensors::open(&path).is_ok());
        eprintln!("{peak} bytes for {} (opened: {opened})", bytes.len());
        assert!(
            peak <= times * bytes.len(),
            "{peak} bytes for {}",
            bytes.len()
        );
    }
}

/// Words of the header of an array.
#[cfg(feature = "npz")]
const OF_NPY: &[&str] = &[
    "{",
    "}",
    "(",
    ")",
    "((((",
    ",",
    ":",
    "'",
    "\"",
    "True",
    "False",
    "-1",
    "'>f4'",
    "'<f8'",
    "'<c16'",
    "'|b1'",
    "'|O'",
    "'<u2'",
    "'<f2'",
    "[('a', '<f4')]",
    "(2, 3)",
    "(0, 18446744073709551615)",
    "(4611686018427387904,)",
    "()",
    "'shape'",
    "'descr'",
    "\u{1}",
    "\n",
    " ",
    "PK",
    "\u{3}\u{4}",
    "\u{1}\u{2}",
    ".npy",
];

/// Returns arrays in each order, and the archive with all of them.
#[cfg(feature = "npz")]
fn arrays() -> Vec<(String, DynTensor)> {
    let x = DynTensor::ones(&[5, 3], ["N", "C"]).unwrap();
    let as_dtype = |dtype| x.to_dtype(dtype).unwrap();
    vec![
        ("x".to_owned(), x.clone()),
        ("turned".to_owned(), x.align_to(["C", "N"]).unwrap()),
        ("truth".to_owned(), as_dtype(DType::Bool)),
        ("pairs".to_owned(), as_dtype(DType::C128)),
        ("number".to_owned(), DynTensor::scalar(3).unwrap()),
    ]
}

#[cfg(feature = "npz")]
#[test]
fn changed_npy_files_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    let seeds = arrays().into_iter().map(|(_, x)| {
        nomina_io::npy::save(&path, x).unwrap();
        fs::read(&path).unwrap()
    });
    attack(&Format {
        name: "npy",
        flat: FLAT,
        seeds: seeds.collect(),
        words: OF_NPY,
        framed: |bytes| {
            // The header ends with its last newline.
            let end = bytes.iter().rposition(|&byte| byte == b'\n');
            if let (Some(until), Some(count)) = (
                end.and_then(|end| (end + 1).checked_sub(10)),
                bytes.get_mut(8..10),
            ) {
                count.copy_from_slice(&(until as u16).to_le_bytes());
            }
        },
        read: Box::new(|path| Ok(looked_at(&nomina_io::npy::load(path)?))),
    });
}

#[cfg(feature = "npz")]
#[test]
fn changed_npz_files_do_no_harm() {
    use nomina_io::npz::{Npz, save};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    let mut seeds = Vec::new();
    for some in [1, 5] {
        save(&path, arrays().into_iter().take(some)).unwrap();
        seeds.push(fs::read(&path).unwrap());
    }
    // Compressed by numpy.
    seeds.push(include_bytes!("data/compressed.npz").to_vec());
    attack(&Format {
        name: "npz",
        flat: INFLATING,
        seeds,
        words: OF_NPY,
        framed: |_| (),
        read: Box::new(|path| {
            let file = Npz::open(path)?;
            file.keys()
                .iter()
                .map(|key| Ok(looked_at(&file.load(key)?)))
                .sum()
        }),
    });
}

/// Rows inflate to a thousand times their bytes, and a bit becomes up to four bytes: a small file may claim this many.
#[cfg(feature = "png")]
const PIXELS: usize = 4 << 20;

#[cfg(feature = "png")]
#[test]
fn changed_pictures_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("seed");
    let mut seeds = Vec::new();
    for channels in 1..=4 {
        let x = DynTensor::options().dtype(DType::U8);
        nomina_io::png::save(&path, x.ones(&[20, 30, channels], ()).unwrap()).unwrap();
        seeds.push(fs::read(&path).unwrap());
    }
    let pixels: Vec<u8> = (0..64).collect();
    let rows = png_file::interlaced(&pixels, 1);
    seeds.push(png_file::file([8, 8], [8, 0, 1], &rows));
    seeds.push(png_file::file([9, 1], [1, 0, 0], &[0, 0xa0, 0x80]));
    seeds.push(png_file::file([2, 1], [16, 0, 0], &[0, 1, 2, 255, 254]));
    attack(&Format {
        name: "png",
        flat: PIXELS,
        seeds,
        words: &[
            "IHDR",
            "IDAT",
            "IEND",
            "PLTE",
            "tRNS",
            "acTL",
            "fcTL",
            "fdAT",
            "iCCP",
            "zTXt",
            "eXIf",
            "\0\0\0\0",
            "\0\0\0\x01",
            "\x7f",
            "\0\0\x02",
            "\x10\x06\0\0\x01",
            "\x08\x03\0\0\0",
        ],
        framed: |bytes| {
            // Corrects the checksum of each chunk.
            let mut at = 8;
            while let Some(len) = bytes.get(at..at + 4) {
                let len = u32::from_be_bytes([len[0], len[1], len[2], len[3]]) as usize;
                let Some(end) = (at + 8)
                    .checked_add(len)
                    .filter(|end| end + 4 <= bytes.len())
                else {
                    return;
                };
                let crc = png_file::crc(&bytes[at + 4..end]).to_be_bytes();
                bytes[end..end + 4].copy_from_slice(&crc);
                at = end + 4;
            }
        },
        read: Box::new(|path| Ok(looked_at(&nomina_io::png::load(path)?))),
    });
}
