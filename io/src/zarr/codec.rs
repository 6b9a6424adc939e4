//! Codecs: the conversion between the elements of a chunk and the bytes of a file.
//!
//! Chunks are read as streams, and only the requested box is kept, so that lengths stored in a file cost no memory.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};

use flate2::Compression;
use flate2::read::{MultiGzDecoder, ZlibDecoder};
use flate2::write::{GzEncoder, ZlibEncoder};
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::blosc::Blosc;

/// A source of consecutive bytes.
pub(super) trait Stream: Read {
    /// Skips this many bytes.
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        let skipped = io::copy(&mut Read::take(&mut *self, bytes), &mut io::sink())?;
        if skipped == bytes {
            Ok(())
        } else {
            Err(ErrorKind::UnexpectedEof.into())
        }
    }
}

impl Stream for &[u8] {}
impl<R: Read + ?Sized> Stream for BufReader<Box<R>> {}

/// Uncompressed bytes of a file, which can be skipped by seeking.
impl Stream for BufReader<&File> {
    fn skip(&mut self, bytes: u64) -> io::Result<()> {
        self.seek_relative(bytes.try_into().map_err(io::Error::other)?)
    }
}

/// The layout of an array's elements.
#[derive(Clone, Debug)]
pub(super) struct Elements {
    /// The bytes of an element.
    pub(super) size: usize,
    /// The bytes of a real number; a complex element has two.
    pub(super) number: usize,
    /// The fill value of elements that were never written.
    pub(super) fill: Vec<u8>,
}

impl Elements {
    /// Returns an array filled with the fill value.
    pub(super) fn filled(&self, sizes: &[usize]) -> io::Result<Vec<u8>> {
        let len = sizes
            .iter()
            .try_fold(self.size, |all, &size| all.checked_mul(size));
        let mut all = Vec::new();
        all.try_reserve_exact(len.unwrap_or(usize::MAX))
            .map_err(|_| ErrorKind::OutOfMemory)?;
        let len = len.unwrap_or_default();
        if self.fill.iter().all(|&byte| byte == 0) {
            all.resize(len, 0);
        }
        while all.len() < len {
            all.extend_from_slice(&self.fill);
        }
        Ok(all)
    }

    pub(super) fn swap_bytes(&self, bytes: &mut [u8]) {
        bytes
            .chunks_exact_mut(self.number)
            .for_each(<[u8]>::reverse);
    }
}

/// The location of a chunk's bytes.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a File,
    pub(super) start: u64,
    pub(super) len: u64,
}

/// A codec from bytes to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BytesCodec {
    Crc32c,
    Gzip { level: u32 },
    Zlib { level: u32 },
    Zstd,
    Blosc(Blosc),
}

/// The maximum window of a zstd frame: the size that its specification requires decoders to support. Levels above 19
/// use larger windows.
const WINDOW: u64 = 8 << 20;

/// Returns the error for corrupt bytes.
pub(super) fn corrupt(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

impl BytesCodec {
    /// Returns the decoded stream; the array has `len` bytes.
    pub(super) fn unpack<'a>(
        self,
        mut from: Box<dyn Read + 'a>,
        len: u64,
    ) -> io::Result<Box<dyn Read + 'a>> {
        Ok(match self {
            Self::Crc32c => Box::new(Crc32cReader::new(from)),
            Self::Gzip { .. } => Box::new(MultiGzDecoder::new(from)),
            Self::Zlib { .. } => Box::new(ZlibDecoder::new(from)),
            Self::Blosc(_) => Blosc::unpack(from, len)?,
            Self::Zstd => {
                // The decoded data is not much longer than the array, so no larger window is needed.
                let most = len.saturating_mul(2).saturating_add(1 << 10);
                let most = most.min(WINDOW).next_power_of_two();
                let mut begin = [0; 6];
                from.read_exact(&mut begin)?;
                if begin[4] & SINGLE_SEGMENT == 0 {
                    begin[5] = begin[5].min((most.ilog2() as u8 - 10) << 3);
                }
                let mut decoder = FrameDecoder::new();
                decoder.set_max_window_size(most);
                let from = io::Cursor::new(begin).chain(from);
                let decoder = StreamingDecoder::new_with_decoder(from, decoder);
                Box::new(decoder.map_err(|error| corrupt(format!("zstd: {error}")))?)
            }
        })
    }

    pub(super) fn pack(self, bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::Blosc(blosc) => blosc.pack(&bytes),
            Self::Crc32c => {
                let sum = crc32c::crc32c(&bytes);
                let mut bytes = bytes;
                bytes.extend(sum.to_le_bytes());
                Ok(bytes)
            }
            Self::Gzip { level } => {
                let mut packed = GzEncoder::new(Vec::new(), Compression::new(level));
                packed.write_all(&bytes)?;
                packed.finish()
            }
            Self::Zlib { level } => {
                let mut packed = ZlibEncoder::new(Vec::new(), Compression::new(level));
                packed.write_all(&bytes)?;
                packed.finish()
            }
            Self::Zstd => {
                let mut packed = compress_to_vec(&bytes[..], CompressionLevel::Fastest);
                // The crate stores no content size, which some readers of zarr require.
                if packed[4] & !CHECKSUM == 0 {
                    packed[4] |= LENGTH_OF_8;
                    packed.splice(6..6, (bytes.len() as u64).to_le_bytes());
                }
                Ok(packed)
            }
        }
    }
}

/// Bits of a frame's fifth byte.
const SINGLE_SEGMENT: u8 = 0x20;
const CHECKSUM: u8 = 0x04;
const LENGTH_OF_8: u8 = 0xc0;

/// A stream of at most `left` more bytes.
pub(super) struct LengthLimited<'a> {
    pub(super) stream: Box<dyn Read + 'a>,
    pub(super) left: u64,
}

impl Read for LengthLimited<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let most = self.left.min(out.len() as u64) as usize;
        let read = self.stream.read(&mut out[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// A stream whose last four bytes are the checksum of the others. The last bytes are held back, and compared at the
/// end.
struct Crc32cReader<'a> {
    from: Box<dyn Read + 'a>,
    held: Box<[u8; 1 << 12]>,
    len: usize,
    sum: u32,
}

const SUM: usize = 4;

impl<'a> Crc32cReader<'a> {
    fn new(from: Box<dyn Read + 'a>) -> Self {
        Self {
            from,
            held: Box::new([0; 1 << 12]),
            len: 0,
            sum: 0,
        }
    }
}

impl Read for Crc32cReader<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        while self.len <= SUM {
            let read = match self.from.read(&mut self.held[self.len..]) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                return if self.held[..self.len] == self.sum.to_le_bytes() {
                    Ok(0)
                } else {
                    Err(corrupt("wrong crc32c"))
                };
            }
            self.len += read;
        }
        let some = out.len().min(self.len - SUM);
        out[..some].copy_from_slice(&self.held[..some]);
        self.sum = crc32c::crc32c_append(self.sum, &out[..some]);
        self.held.copy_within(some..self.len, 0);
        self.len -= some;
        Ok(some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_its_sum_compared() {
        let bytes: Vec<u8> = (0..300_000_u32)
            .map(|i| (i / 7 % 97 * i % 11) as u8)
            .collect();
        let all = [
            BytesCodec::Crc32c,
            BytesCodec::Gzip { level: 1 },
            BytesCodec::Zlib { level: 1 },
            BytesCodec::Zstd,
        ];
        for packed in all {
            for len in [0, 1, 5, 4_096, 300_000] {
                let some = bytes[..len].to_vec();
                let stored = packed.pack(some.clone()).unwrap();
                let unpacked = |stored: &[u8]| {
                    let mut out = Vec::new();
                    let stream =
                        packed.unpack(Box::new(io::Cursor::new(stored.to_vec())), len as u64);
                    stream?.read_to_end(&mut out).map(|_| out)
                };
                assert_eq!(unpacked(&stored).unwrap(), some, "{packed:?}");
                if len > 0 && packed != BytesCodec::Zstd {
                    let mut stored = stored.clone();
                    let last = stored.len() - 5;
                    stored[last] ^= 1;
                    assert!(unpacked(&stored).is_err(), "{packed:?}");
                }
                assert!(unpacked(&stored[..stored.len() - 1]).is_err(), "{packed:?}");
            }
        }
    }

    #[test]
    fn a_window_that_nothing_needs_takes_no_memory() {
        let mut stored = BytesCodec::Zstd.pack(vec![7; 100]).unwrap();
        // One terabyte.
        stored[5] = 30 << 3;
        let mut out = Vec::new();
        let stream = BytesCodec::Zstd.unpack(Box::new(&stored[..]), 100);
        stream.unwrap().read_to_end(&mut out).unwrap();
        assert_eq!(out, [7; 100]);
        // A single segment: all of it at once, and more than the array has.
        stored[4] |= SINGLE_SEGMENT;
        stored.remove(5);
        stored[5..13].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        assert!(BytesCodec::Zstd.unpack(Box::new(&stored[..]), 100).is_err());
    }
}
