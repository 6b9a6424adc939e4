//! The codec `blosc`, by the crate `blusc`: a feature.

use std::io::{self, Read};

use super::array_json::Configuration;

/// How a new chunk is compressed. Old chunks say it themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "blosc"), allow(dead_code))]
pub(super) struct Blosc {
    level: u8,
    /// The bytes of an element, by which bytes are shuffled.
    size: usize,
    /// 0 for none, 1 for bytes, 2 for bits.
    shuffle: u8,
    /// The number of the compressor.
    compressor: u8,
}

/// The compressors by their numbers.
const COMPRESSORS: [&str; 6] = ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"];

impl Blosc {
    /// Resolves the configuration for elements of `size` bytes.
    pub(super) fn new(from: &Configuration, size: usize) -> Result<Self, String> {
        if cfg!(not(feature = "blosc")) {
            return Err("enable the feature `blosc` of nomina-io or nomina-data".to_owned());
        }
        let name = from.cname.as_deref().unwrap_or("lz4");
        let compressor = COMPRESSORS.iter().position(|own| *own == name);
        let shuffle = match from.shuffle.as_deref() {
            None | Some("noshuffle") => 0,
            Some("shuffle") => 1,
            Some("bitshuffle") => 2,
            Some(other) => return Err(format!("unknown shuffle `{other}`")),
        };
        Ok(Self {
            level: from.clevel.unwrap_or(5).clamp(0, 9) as u8,
            size: from.typesize.unwrap_or(size).clamp(1, 255),
            shuffle,
            compressor: compressor.ok_or_else(|| format!("unknown compressor `{name}`"))? as u8,
        })
    }
}

#[cfg(feature = "blosc")]
impl Blosc {
    /// Decodes a chunk at once; it has at most `len` bytes and what checksums add.
    pub(super) fn unpack<'a>(
        mut from: Box<dyn Read + 'a>,
        len: u64,
    ) -> io::Result<Box<dyn Read + 'a>> {
        let corrupt = |what: String| io::Error::new(io::ErrorKind::InvalidData, what);
        let damaged = || corrupt("blosc: the chunk is damaged".to_owned());
        let most = len.saturating_add(64);
        let mut packed = Vec::new();
        let limit = most.saturating_add(most / 8).saturating_add(1 << 12);
        from.by_ref().take(limit).read_to_end(&mut packed)?;
        let (bytes, stored, _) = blusc::blosc2_cbuffer_sizes(&packed);
        if packed.len() < blusc::BLOSC_MIN_HEADER_LENGTH || stored != packed.len() {
            return Err(corrupt(format!(
                "blosc: {} bytes of {stored}",
                packed.len()
            )));
        }
        if bytes as u64 > most {
            return Err(corrupt(format!("the size is not {len} bytes")));
        }
        let decode = || {
            let mut out = Vec::new();
            out.try_reserve_exact(bytes)
                .map_err(|_| io::ErrorKind::OutOfMemory)?;
            out.resize(bytes, 0);
            let done = blusc::blosc2_decompress(&packed, &mut out);
            if usize::try_from(done) == Ok(bytes) {
                Ok(out)
            } else {
                Err(damaged())
            }
        };
        // The crate indexes with numbers of the file, unchecked: a damaged one is a panic there, and an error here.
        let decoded = std::panic::catch_unwind(std::panic::AssertUnwindSafe(decode));
        let decoded = decoded.unwrap_or_else(|_| Err(damaged()))?;
        Ok(Box::new(io::Cursor::new(decoded)))
    }

    pub(super) fn pack(self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut packed = vec![0; bytes.len() + blusc::BLOSC_MIN_HEADER_LENGTH];
        let (level, shuffle) = (self.level.into(), self.shuffle.into());
        let done = blusc::internal::compress(
            level,
            shuffle,
            self.size,
            bytes,
            &mut packed,
            self.compressor,
        );
        packed.truncate(done.map_err(|error| io::Error::other(format!("blosc: {error}")))?);
        Ok(packed)
    }
}

#[cfg(not(feature = "blosc"))]
impl Blosc {
    pub(super) fn unpack<'a>(_: Box<dyn Read + 'a>, _: u64) -> io::Result<Box<dyn Read + 'a>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn pack(self, _: &[u8]) -> io::Result<Vec<u8>> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(feature = "blosc")]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_decoded_and_damage_is_an_error() {
        let bytes: Vec<u8> = (0..40_000_u32)
            .flat_map(|i| (i / 3).to_le_bytes())
            .collect();
        for compressor in 0..6 {
            for shuffle in 0..3 {
                let blosc = Blosc {
                    level: 5,
                    size: 4,
                    shuffle,
                    compressor,
                };
                let stored = blosc.pack(&bytes).unwrap();
                let unpack = |stored: &[u8]| {
                    let mut out = Vec::new();
                    let from = Box::new(io::Cursor::new(stored.to_vec()));
                    Blosc::unpack(from, bytes.len() as u64)?
                        .read_to_end(&mut out)
                        .map(|_| out)
                };
                assert!(unpack(&stored).unwrap() == bytes, "{blosc:?}");
                assert!(unpack(&stored[..stored.len() - 1]).is_err(), "{blosc:?}");
                // No number of the header or the starts of blocks may bring anything else than an error.
                for at in 0..60.min(stored.len()) {
                    let mut stored = stored.clone();
                    stored[at] ^= 0xa5;
                    let _ = unpack(&stored);
                }
            }
        }
    }
}
