//! The codecs of a chunk. The last codec of a chain may be a shard, whose inner chunks have a chain again.

use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom};

use super::array_box::{ArrayBox, row_major};
use super::codec::{BytesCodec, Elements, LengthLimited, Source, corrupt};

/// The codecs of a chunk, in the order of writing.
#[derive(Clone, Debug)]
pub(super) struct CodecChain {
    /// The dim orders of the transpositions, one after the other.
    pub(super) transposed: Vec<Vec<usize>>,
    pub(super) array: ArrayCodec,
    pub(super) bytes: Vec<BytesCodec>,
}

#[derive(Clone, Debug)]
pub(super) enum ArrayCodec {
    /// Consecutive elements, in big-endian order if `big`.
    Bytes { big: bool },
    /// A shard: a chunk of chunks.
    Shards(Box<Shards>),
}

/// The codec `sharding_indexed`.
#[derive(Clone, Debug)]
pub(super) struct Shards {
    /// The sizes of the inner chunks.
    pub(super) chunk: Vec<usize>,
    pub(super) chain: CodecChain,
    /// Whether a checksum follows the index.
    pub(super) summed: bool,
    pub(super) at_end: bool,
}

/// The bytes of an index entry: offset and length of an inner chunk.
const ENTRY: usize = 16;

/// The offset and the length of a chunk that was never written.
const NONE: u64 = u64::MAX;

impl CodecChain {
    /// Reads a box of a chunk of these sizes.
    pub(super) fn read(
        &self,
        elements: &Elements,
        source: Source<'_>,
        chunk: &[usize],
        part: &ArrayBox,
        out: &mut [u8],
    ) -> io::Result<()> {
        let (mut chunk, mut part) = (chunk.to_vec(), part.clone());
        for order in &self.transposed {
            chunk = order.iter().map(|&dim| chunk[dim]).collect();
            part = part.permuted(order);
        }
        let big = match &self.array {
            ArrayCodec::Bytes { big } => *big,
            ArrayCodec::Shards(shards) => return shards.read(elements, source, &chunk, &part, out),
        };
        // The chunk's sizes were checked, so nothing overflows.
        let len = chunk.iter().product::<usize>() as u64 * elements.size as u64;
        let mut file = BufReader::new(source.file);
        file.seek(SeekFrom::Start(source.start))?;
        if self.bytes.is_empty() {
            if source.len != len {
                return Err(corrupt(format!("{} bytes of {len}", source.len)));
            }
            part.read(&chunk, elements.size, &mut file, out)?;
        } else {
            let mut stream: Box<dyn Read> = Box::new(file.take(source.len));
            for packed in self.bytes.iter().rev() {
                stream = packed.unpack(stream, len)?;
            }
            let mut stream = BufReader::new(Box::new(LengthLimited { stream, left: len }));
            part.read(&chunk, elements.size, &mut stream, out)?;
            // Checksums are at the end of the stream.
            io::copy(&mut stream, &mut io::sink())?;
            let LengthLimited { stream, left } = &mut **stream.get_mut();
            if *left > 0 || stream.read(&mut [0])? > 0 {
                return Err(corrupt(format!("the size is not {len} bytes")));
            }
        }
        if big {
            self.swap_part(elements, &part, out);
        }
        Ok(())
    }

    /// Reverses the byte order of the elements that were read.
    fn swap_part(&self, elements: &Elements, part: &ArrayBox, out: &mut [u8]) {
        let size = elements.size;
        part.each(|to| elements.swap_bytes(&mut out[to * size..(to + 1) * size]));
    }

    /// Encodes a chunk from row-major elements.
    pub(super) fn write(
        &self,
        elements: &Elements,
        chunk: &[usize],
        mut bytes: Vec<u8>,
    ) -> io::Result<Vec<u8>> {
        let mut chunk = chunk.to_vec();
        for order in &self.transposed {
            let permuted_chunk: Vec<usize> = order.iter().map(|&dim| chunk[dim]).collect();
            let stored = row_major(&permuted_chunk);
            let mut strides = vec![0; chunk.len()];
            for (&dim, &stride) in order.iter().zip(&stored) {
                strides[dim] = stride;
            }
            let mut out = elements.filled(&permuted_chunk)?;
            let part = ArrayBox::whole(&chunk, 0, strides);
            part.read(&chunk, elements.size, &mut &bytes[..], &mut out)?;
            (chunk, bytes) = (permuted_chunk, out);
        }
        match &self.array {
            ArrayCodec::Bytes { big: true } => elements.swap_bytes(&mut bytes),
            ArrayCodec::Bytes { big: false } => (),
            ArrayCodec::Shards(shards) => bytes = shards.write(elements, &chunk, &bytes)?,
        }
        let all = self.bytes.iter();
        all.copied()
            .try_fold(bytes, |bytes, packed| packed.pack(bytes))
    }
}

impl Shards {
    /// Returns the number of inner chunks along each dim of a shard, whose sizes are multiples of theirs.
    fn count(&self, shard: &[usize]) -> Vec<usize> {
        let pairs = shard.iter().zip(&self.chunk);
        pairs.map(|(shard, chunk)| shard / chunk).collect()
    }

    /// Returns the bytes of the index.
    fn index_len(&self, shard: &[usize]) -> usize {
        let sum = if self.summed { 4 } else { 0 };
        let all = self.count(shard).into_iter();
        all.fold(ENTRY, usize::saturating_mul).saturating_add(sum)
    }

    fn index(&self, source: Source<'_>, shard: &[usize]) -> io::Result<Vec<u8>> {
        let len = self.index_len(shard);
        if source.len < len as u64 {
            return Err(corrupt(format!(
                "a shard of {} bytes has no index of {len}",
                source.len
            )));
        }
        let start = if self.at_end {
            source.start + source.len - len as u64
        } else {
            source.start
        };
        let (mut file, mut index) = (source.file, Vec::new());
        file.seek(SeekFrom::Start(start))?;
        index
            .try_reserve_exact(len)
            .map_err(|_| ErrorKind::OutOfMemory)?;
        file.take(len as u64).read_to_end(&mut index)?;
        if index.len() < len {
            return Err(ErrorKind::UnexpectedEof.into());
        }
        if self.summed {
            let sum = index.split_off(len - 4);
            if crc32c::crc32c(&index).to_le_bytes() != sum[..] {
                return Err(corrupt("crc32c: wrong index checksum"));
            }
        }
        Ok(index)
    }

    pub(super) fn read(
        &self,
        elements: &Elements,
        source: Source<'_>,
        shard: &[usize],
        part: &ArrayBox,
        out: &mut [u8],
    ) -> io::Result<()> {
        let index = self.index(source, shard)?;
        let strides = row_major(&self.count(shard));
        part.each_chunk(&self.chunk, |at, part| {
            let entry: usize = at.iter().zip(&strides).map(|(at, by)| at * by).sum();
            let number = |from: usize| {
                let bytes = index[from..].first_chunk().copied();
                bytes.map_or(NONE, u64::from_le_bytes)
            };
            let (start, len) = (number(entry * ENTRY), number(entry * ENTRY + 8));
            if (start, len) == (NONE, NONE) {
                return Ok(());
            }
            if start.checked_add(len).is_none_or(|end| end > source.len) {
                return Err(corrupt("a chunk is outside of its shard"));
            }
            let source = Source {
                file: source.file,
                start: source.start + start,
                len,
            };
            self.chain.read(elements, source, &self.chunk, &part, out)
        })
    }

    /// Encodes a shard: its inner chunks, except those that contain only the fill value, and the index.
    pub(super) fn write(
        &self,
        elements: &Elements,
        shard: &[usize],
        bytes: &[u8],
    ) -> io::Result<Vec<u8>> {
        let len = self.index_len(shard);
        let mut index = Vec::new();
        let mut chunks = Vec::new();
        let first = if self.at_end { 0 } else { len as u64 };
        let whole = ArrayBox::whole(shard, 0, row_major(shard));
        whole.each_chunk(&self.chunk, |at, _| {
            let begins = at.iter().zip(&self.chunk).map(|(at, size)| at * size);
            let from = ArrayBox {
                from: begins.collect(),
                size: self.chunk.clone(),
                to: 0,
                strides: row_major(&self.chunk),
            };
            let mut one = elements.filled(&self.chunk)?;
            from.read(shard, elements.size, &mut &bytes[..], &mut one)?;
            let is_fill = one
                .chunks_exact(elements.size)
                .all(|one| one == elements.fill);
            if is_fill {
                index.extend([0xff; ENTRY]);
                return Ok::<(), io::Error>(());
            }
            let packed = self.chain.write(elements, &self.chunk, one)?;
            index.extend((first + chunks.len() as u64).to_le_bytes());
            index.extend((packed.len() as u64).to_le_bytes());
            chunks.extend(packed);
            Ok(())
        })?;
        if self.summed {
            index.extend(crc32c::crc32c(&index).to_le_bytes());
        }
        Ok(if self.at_end {
            [chunks, index].concat()
        } else {
            [index, chunks].concat()
        })
    }
}
