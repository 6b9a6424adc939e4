//! Images written byte by byte, in forms that encoders do not produce.

#![allow(dead_code)]

/// Returns the checksum of a chunk.
pub fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |mut crc, &byte| {
        crc ^= u32::from(byte);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg());
        }
        crc
    })
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend((data.len() as u32).to_be_bytes());
    let from = file.len();
    file.extend(kind);
    file.extend(data);
    let crc = crc(&file[from..]);
    file.extend(crc.to_be_bytes());
}

/// Returns an uncompressed file of rows, which begin with their filter byte. `depth` is bits per sample, `color` the
/// colour type.
pub fn file(
    [width, height]: [u32; 2],
    [depth, color, interlaced]: [u8; 3],
    rows: &[u8],
) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let mut header = [width.to_be_bytes(), height.to_be_bytes()].concat();
    header.extend([depth, color, 0, 0, interlaced]);
    chunk(&mut file, b"IHDR", &header);
    let len = rows.len() as u16;
    let mut data = vec![0x78, 1, 1];
    data.extend(len.to_le_bytes());
    data.extend((!len).to_le_bytes());
    data.extend(rows);
    let (a, b) = rows.iter().fold((1_u32, 0_u32), |(a, b), &byte| {
        let a = (a + u32::from(byte)) % 65521;
        (a, (b + a) % 65521)
    });
    data.extend((b << 16 | a).to_be_bytes());
    chunk(&mut file, b"IDAT", &data);
    chunk(&mut file, b"IEND", &[]);
    file
}

/// Returns 64 pixels in rows of 8, with this many samples each, as the seven passes of an interlaced file.
pub fn interlaced(pixels: &[u8], samples: usize) -> Vec<u8> {
    let passes = [
        (0, 0, 8, 8),
        (0, 4, 8, 8),
        (4, 0, 8, 4),
        (0, 2, 4, 4),
        (2, 0, 4, 2),
        (0, 1, 2, 2),
        (1, 0, 2, 1),
    ];
    let mut rows = Vec::new();
    for (top, left, down, right) in passes {
        for row in (top..8).step_by(down) {
            rows.push(0);
            for column in (left..8).step_by(right) {
                let at = (8 * row + column) * samples;
                rows.extend(&pixels[at..at + samples]);
            }
        }
    }
    rows
}
