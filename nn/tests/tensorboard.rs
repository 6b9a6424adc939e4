//! Logs in TensorBoard's format, read again by a parser of records and messages that is independent of the writer.

use std::collections::BTreeMap;
use std::fs;

use nomina::prelude::*;
use nomina_nn::tensorboard::EventLog;

dims! { N }

/// CRC-32C bit by bit (reflected polynomial 0x82f63b78), with the format's mask.
fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0x82f6_3b78
            } else {
                crc >> 1
            };
        }
    }
    let crc = !crc;
    crc.rotate_right(15).wrapping_add(0xa282_ead8)
}

/// Returns the events of a file after checking lengths and checksums.
fn records(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let length = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let number = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        assert_eq!(number(8), checksum(&bytes[..8]));
        let event = &bytes[12..12 + length];
        assert_eq!(number(12 + length), checksum(event));
        found.push(event.to_vec());
        bytes = &bytes[16 + length..];
    }
    found
}

/// A field of a message.
#[derive(Clone, Debug, PartialEq)]
enum Field {
    Number(u64),
    Bits64(u64),
    Bits32(u32),
    Bytes(Vec<u8>),
}

impl Field {
    fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }
    fn fields(&self) -> BTreeMap<u64, Self> {
        fields(self.bytes())
    }
    fn text(&self) -> &str {
        str::from_utf8(self.bytes()).unwrap()
    }
    fn double(&self) -> f64 {
        match self {
            Self::Bits64(bits) => f64::from_bits(*bits),
            other => panic!("{other:?}"),
        }
    }
    fn doubles(&self) -> Vec<f64> {
        let each = self.bytes().chunks_exact(8);
        each.map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap()))
            .collect()
    }
}

/// Parses a message, no field of which is repeated.
fn fields(mut bytes: &[u8]) -> BTreeMap<u64, Field> {
    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = bytes[0];
            *bytes = &bytes[1..];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        value
    }
    fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
        let (first, rest) = bytes.split_at(count);
        *bytes = rest;
        first
    }
    let mut found = BTreeMap::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Bits64(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let length = varint(&mut bytes) as usize;
                Field::Bytes(take(&mut bytes, length).to_vec())
            }
            5 => Field::Bits32(u32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap())),
            wire => panic!("wire type {wire}"),
        };
        assert_eq!(found.insert(key >> 3, field), None);
    }
    found
}

#[test]
fn events_are_read_as_they_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("runs/first");
    let mut log = EventLog::create(&folder).unwrap();
    let tag = "loss/".to_owned() + &"x".repeat(200);
    log.scalar(&tag, 0.1, 0).unwrap();
    log.scalar("loss", 0.25_f32, 1 << 40).unwrap();
    let values = [-2.0, 0.0, 1e-30, 0.5, 0.5, 3.0, f64::NAN, f64::INFINITY];
    log.histogram(
        "h",
        &Tensor::<(N,), f64>::from_vec(values.to_vec(), [8]).unwrap(),
        3,
    )
    .unwrap();
    log.histogram("empty", &Tensor::<(N,)>::zeros([0]), 3)
        .unwrap();
    log.text("about", "*what* was trained: ü", 4).unwrap();
    // A header is all that is looked at.
    let png = [
        &b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"[..],
        &[0, 0, 1, 4, 0, 0, 0, 7, 8, 2, 0, 0, 0],
    ]
    .concat();
    log.png("picture", &png, 5).unwrap();
    assert!(log.png("picture", b"GIF89a", 5).is_err());
    let path = log.path().to_owned();
    drop(log);

    let name = path.file_name().unwrap().to_str().unwrap();
    assert!(name.starts_with("events.out.tfevents."), "{name}");
    let events = records(&fs::read(&path).unwrap());
    let events: Vec<_> = events.iter().map(|event| fields(event)).collect();
    assert_eq!(events.len(), 7);
    assert_eq!(events[0][&3].text(), "brain.Event:2");
    let times: Vec<f64> = events.iter().map(|event| event[&1].double()).collect();
    assert!(times.is_sorted() && times[0] > 1.7e9);
    let value = |at: usize| -> BTreeMap<u64, Field> { events[at][&5].fields()[&1].fields() };

    assert_eq!(
        (value(1)[&1].text(), &value(1)[&2]),
        (&tag[..], &Field::Bits32(0.1_f32.to_bits()))
    );
    assert_eq!(
        (value(2)[&1].text(), &value(2)[&2]),
        ("loss", &Field::Bits32(0.25_f32.to_bits()))
    );
    assert_eq!(
        (&events[1][&2], &events[2][&2]),
        (&Field::Number(0), &Field::Number(1 << 40))
    );

    let histogram = value(3)[&5].fields();
    let numbers = [1, 2, 3, 4, 5].map(|field| histogram[&field].double());
    assert_eq!(
        numbers,
        [-2.0, 3.0, 6.0, 2.0 + 1e-30, 4.0 + 0.25 + 0.25 + 9.0]
    );
    let (limits, counts) = (histogram[&6].doubles(), histogram[&7].doubles());
    assert!(limits.is_sorted() && limits.len() == counts.len());
    assert_eq!((counts[0], counts.iter().sum::<f64>()), (0.0, 6.0));
    // Each bucket holds the numbers from the limit before up to its own.
    for (at, pair) in limits.windows(2).enumerate() {
        let within = values
            .iter()
            .filter(|&&value| pair[0] <= value && value < pair[1]);
        assert_eq!(counts[at + 1], within.count() as f64, "{pair:?}");
    }
    assert_eq!(value(4)[&5].fields()[&3].double(), 0.0);

    let text = value(5);
    assert_eq!(text[&8].fields()[&8].text(), "*what* was trained: ü");
    assert_eq!(text[&9].fields()[&1].fields()[&1].text(), "text");
    let image = value(6)[&4].fields();
    let sizes = [1, 2, 3].map(|field| image[&field].clone());
    assert_eq!(sizes, [7, 260, 3].map(Field::Number));
    assert_eq!(image[&4].bytes(), png);
}

#[test]
fn each_log_has_a_file_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let logs: Vec<EventLog> = (0..3)
        .map(|_| EventLog::create(folder.path()).unwrap())
        .collect();
    // The first event is there before anything is flushed.
    for log in &logs {
        assert_eq!(records(&fs::read(log.path()).unwrap()).len(), 1);
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let error = EventLog::create(&file).unwrap_err();
    assert_eq!(
        (error.kind(), error.op()),
        (nomina::ErrorKind::File, "EventLog")
    );
}
