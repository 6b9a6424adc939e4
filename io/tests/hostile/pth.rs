//! Changed files of PyTorch.

use nomina_io::pth::Pth;
use nomina_io::{ForeignDType, pth};

use super::*;

/// The memory of the archive's reader and of values, beyond what a file accounts for.
const READING: usize = 128 << 10;

/// Words of pickles: instructions, globals, lengths.
const WORDS: &[&str] = &[
    "(",
    ".",
    "0",
    "1",
    "2",
    "N",
    "Q",
    "R",
    "a",
    "b",
    "d",
    "e",
    "l",
    "s",
    "t",
    "u",
    "]",
    "}",
    ")",
    "K\u{1}",
    "K\u{7f}",
    "M\u{7f}\u{7f}",
    "J\u{7f}\u{7f}\u{7f}\u{7f}",
    "X\u{7f}\u{7f}\u{7f}\u{7f}",
    "X\u{4}\0\0\0path",
    "h\0",
    "h\u{8}",
    "h\u{c}",
    "q\u{c}",
    "r\u{7f}\u{7f}\u{7f}\u{7f}",
    "ctorch\nDoubleStorage\n",
    "ctorch\nBoolStorage\n",
    "ctorch.storage\nUntypedStorage\n",
    "ctorch\nuint64\n",
    "cos\nsystem\n",
    "ccollections\nOrderedDict\n",
    "ctorch._utils\n_rebuild_tensor_v3\n",
    "big",
    "little",
    "storage",
    "data/1",
    "archive/",
    "PK\u{3}\u{4}",
    "PK\u{6}\u{6}",
    "\u{8}\u{8}\u{8}",
    "\0\0\0\0",
    "\u{7f}\u{7f}\u{7f}\u{7f}",
];

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        let mut crc = crc ^ u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                (crc >> 1) ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
        crc
    };
    !bytes.iter().fold(!0, step)
}

/// Packs the files of an archive again, so that changed contents have right lengths, places and checksums.
fn pack(bytes: &mut Vec<u8>) {
    let starts: Vec<usize> = (0..bytes.len().saturating_sub(30))
        .filter(|&at| bytes[at..].starts_with(b"PK\x03\x04"))
        .collect();
    let ends = (0..bytes.len()).find(|&at| bytes[at..].starts_with(b"PK\x01\x02"));
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (i, &start) in starts.iter().enumerate() {
        let end = starts.get(i + 1).copied().or(ends).unwrap_or(bytes.len());
        let lengths = u32_at(bytes, start + 26).unwrap_or(0) as usize;
        let (name_len, extra_len) = (lengths & 0xffff, lengths >> 16);
        let (Some(name), Some(mut data)) = (
            bytes.get(start + 30..start + 30 + name_len),
            bytes.get(start + 30 + name_len + extra_len..end.max(start)),
        ) else {
            continue;
        };
        // Its data descriptor.
        if let Some(at) = data.len().checked_sub(16)
            && data[at..].starts_with(b"PK\x07\x08")
        {
            data = &data[..at];
        }
        let at = out.len() as u32;
        let padding =
            (out.len() + 30 + name.len()).next_multiple_of(64) - (out.len() + 30 + name.len());
        let sizes = [checksum(data), data.len() as u32, data.len() as u32];
        let sizes: Vec<u8> = sizes.iter().flat_map(|size| size.to_le_bytes()).collect();
        let name_len = (name.len() as u16).to_le_bytes();
        out.extend(b"PK\x03\x04\0\0\0\x08\0\0\0\0\0\0");
        out.extend(&sizes);
        out.extend(name_len);
        out.extend((padding as u16).to_le_bytes());
        out.extend(name);
        out.resize(out.len() + padding, 0);
        out.extend(data);
        directory.extend(b"PK\x01\x02\0\0\0\0\0\x08\0\0\0\0\0\0");
        directory.extend(&sizes);
        directory.extend(name_len);
        directory.extend([0; 12]);
        directory.extend(at.to_le_bytes());
        directory.extend(name);
    }
    let count = (starts.len() as u16).to_le_bytes();
    let start = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend(count);
    out.extend(count);
    out.extend((directory.len() as u32).to_le_bytes());
    out.extend(start.to_le_bytes());
    out.extend([0; 2]);
    *bytes = out;
}

/// Opens all tensors, and reads the elements of those that are no larger than the file.
fn read(path: &Path) -> Result<usize> {
    let len = fs::metadata(path).unwrap().len() as usize;
    let mut file = Pth::open(path)?;
    for from in [
        ForeignDType::F8E4M3,
        ForeignDType::F8E5M2,
        ForeignDType::U16,
        ForeignDType::U32,
        ForeignDType::U64,
    ] {
        file = file.read_as(from, DType::F64);
    }
    let _: std::collections::BTreeMap<String, pth::Value> = file.values()?;
    let tensors = file.tensors()?;
    // Expanded tensors may have any number of elements.
    let small = tensors.iter().filter(|(_, tensor)| tensor.numel() <= len);
    let largest = small.map(|(_, tensor)| looked_at(tensor)).max();
    let foreign = tensors
        .iter()
        .filter(|(_, tensor)| tensor.dtype() == DType::F64);
    let foreign: usize = foreign.map(|(_, tensor)| tensor.raw().nbytes()).sum();
    Ok(largest.unwrap_or(0) + foreign)
}

#[test]
fn changed_files_of_pytorch_do_no_harm() {
    let seeds: [&[u8]; 6] = [
        include_bytes!("../data/pth/state.pth"),
        include_bytes!("../data/pth/checkpoint.pt"),
        include_bytes!("../data/pth/protocol4.pt"),
        include_bytes!("../data/pth/layouts.pt"),
        include_bytes!("../data/pth/foreign.pt"),
        include_bytes!("../data/pth/big_endian.pt"),
    ];
    attack(&Format {
        name: "pth",
        flat: READING,
        seeds: seeds.map(<[u8]>::to_vec).to_vec(),
        words: WORDS,
        framed: pack,
        read: Box::new(read),
    });
}

/// Returns the error of a file with this pickle, and the memory that it took.
fn pickled(pickle: &[u8]) -> (usize, usize, String) {
    let folder = in_memory();
    let path = folder.path().join("file");
    let name = b"archive/data.pkl";
    let mut bytes = b"PK\x03\x04".to_vec();
    bytes.extend([0; 22]);
    bytes.extend([name.len() as u8, 0, 0, 0]);
    bytes.extend(name);
    bytes.extend(pickle);
    pack(&mut bytes);
    fs::write(&path, &bytes).unwrap();
    let (peak, opened) = counting::peak(|| Pth::open(&path).and_then(|file| file.values()));
    let error = opened.map_or_else(|error| error.to_string(), |_| "none".to_owned());
    eprintln!("{peak} bytes for {}: {error}", bytes.len());
    (peak, bytes.len(), error)
}

/// A pickle of nothing but values takes memory by its length, however they are nested.
#[test]
fn a_pickle_takes_memory_by_its_length() {
    let many = |part: &str, end: &str| {
        let mut pickle = b"\x80\x02".to_vec();
        pickle.extend(part.repeat(100_000).bytes());
        pickle.extend(end.bytes());
        pickle
    };
    for (part, end) in [
        ("N", "."),
        ("]", "."),
        ("]q\0", "."),
        ("(", "."),
        ("N\u{1}", "."),
        ("(NNNN", "t."),
    ] {
        let (peak, len, error) = pickled(&many(part, end));
        assert!(peak <= 14 * len + READING, "{part}: {peak} bytes for {len}");
        assert!(error == "none" || error.contains("byte"), "{error}");
    }
    // A list of two times the last list, and so on: 2^60 paths.
    let mut doubled = b"\x80\x02]q\0".to_vec();
    for i in 0..60 {
        doubled.extend([b']', b'q', i + 1, b'(', b'h', i, b'h', i, b'e']);
    }
    doubled.push(b'.');
    let (peak, len, error) = pickled(&doubled);
    assert!(
        error.contains("containers that refer to each other"),
        "{error}"
    );
    assert!(peak <= 14 * len + READING);
    // A list in itself.
    let (_, _, error) = pickled(b"\x80\x02]q\0h\0a.");
    assert!(error.contains("containers"), "{error}");
    // A dict below itself by a long key.
    let mut long = b"\x80\x02}q\0X\0\x80\0\0".to_vec();
    long.resize(long.len() + 0x8000, b'k');
    long.extend(b"h\0s.");
    let (peak, len, error) = pickled(&long);
    assert!(error.contains("a path of more than"), "{error}");
    assert!(peak <= 14 * len + READING);
}

#[test]
fn pickles_call_nothing() {
    for (pickle, expected) in [
        (
            &b"\x80\x02cos\nsystem\nX\x02\0\0\0ls\x85R."[..],
            "`os.system`",
        ),
        (
            b"\x80\x04\x8c\x05posix\x8c\x06system\x93.",
            "`posix.system`",
        ),
        (b"\x80\x02cbuiltins\neval\n.", "`builtins.eval`"),
        (b"\x80\x02ctorch\nload\n.", "`torch.load`"),
        (
            b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n)R.",
            "0 arguments",
        ),
        (b"\x80\x02i__main__\nModel\n.", "instruction 0x69"),
        (b"\x80\x06N.", "protocol 6"),
        (b"\x80\x01N.", "protocol 1"),
        (b"(lp0\n.", "not a pickle of protocol 2 to 5"),
        (b"\x80\x02", "ends too early"),
        (b"\x80\x02.", "a value is missing"),
        (b"\x80\x02N(0N.", "none"),
        (b"\x80\x02X\xff\xff\xff\xffN.", "ends too early"),
        (b"\x80\x02h\x01.", "no value of number 1"),
        (b"\x80\x02Nr\xff\xff\xff\xff.", "too large"),
    ] {
        let (_, _, error) = pickled(pickle);
        assert!(error.contains(expected), "{error}, not {expected}");
    }
}
