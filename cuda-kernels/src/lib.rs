//! Compiled CUDA kernels of [nomina](https://docs.rs/nomina), and the format of the file that holds them.
//!
//! The CUDA backend compiles a kernel when a program first needs it, and keeps it in a cache on disk. This package fills
//! the gap before that: with `nomina`'s feature `cuda-kernels`, kernels that the cache lacks are looked up in [`EMBEDDED`].
//! Programs do not use this crate themselves. It needs no CUDA to build.
//!
//! ```
//! use nomina_cuda_kernels::{Pack, write};
//! use ruzstd::encoding::{CompressionLevel, compress_to_vec};
//!
//! let modules = [(7, b"code".to_vec()), (3, b"more".to_vec())];
//! let file = write(&modules, |block| Ok(compress_to_vec(block, CompressionLevel::Fastest)))?;
//! let pack = Pack::open(&file).unwrap();
//! assert_eq!(pack.get(3).as_deref(), Some(&b"more"[..]));
//! assert_eq!((pack.get(4), pack.torn()), (None, 0));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | | |
//! |---|---|
//! | [`EMBEDDED`] | the pack of this package |
//! | [`Pack`] | a pack that is read in place: [`get`](Pack::get) returns a module by its name |
//! | [`write()`] | writes a pack of named modules |
//!
//! # Format
//!
//! A pack is a table of names, followed by modules in compressed blocks. Numbers are little-endian:
//!
//! | bytes | |
//! |---|---|
//! | 8 | `nominaP1` |
//! | 8 | checksum of the counts and the table |
//! | 4, 4 | counts of blocks and of modules |
//! | 16 per block | its size in the file, its unpacked size, checksum of the packed bytes (8) |
//! | 28 per module | name (16), block, offset and size in the unpacked block; sorted by name |
//! | | the blocks, each a Zstandard frame |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

use std::io::{self, Read};

use ruzstd::decoding::StreamingDecoder;

/// The pack published with the package. Empty in a checkout where `cargo xtask cuda-kernels` has not been run.
pub static EMBEDDED: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/kernels.pack"));

const MAGIC: &[u8; 8] = b"nominaP1";
const HEAD: usize = 24;
const BLOCK: usize = 16;
const MODULE: usize = 28;

/// The unpacked size at which a block ends. Kept small, because a whole block is unpacked to read one module.
const FULL: usize = 256 << 10;
/// The maximum size of a block.
const MOST: usize = 64 << 20;

/// Computes FNV-1a, which is the same on every platform. Detects corruption, not forgery.
fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
        (sum ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn short(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 8 | usize::from(*byte))
}

/// A block in the file.
#[derive(Clone, Copy, Debug)]
struct Block<'a> {
    packed: &'a [u8],
    unpacked: usize,
    checksum: &'a [u8],
}

impl Block<'_> {
    fn is_whole(&self) -> bool {
        checksum(self.packed).to_le_bytes() == self.checksum
    }

    /// Unpacks the block, if its checksum matches.
    fn unpack(&self) -> Option<Vec<u8>> {
        if !self.is_whole() {
            return None;
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.unpacked).ok()?;
        let decoder = StreamingDecoder::new(self.packed).ok()?;
        decoder
            .take(self.unpacked as u64)
            .read_to_end(&mut bytes)
            .ok()?;
        (bytes.len() == self.unpacked).then_some(bytes)
    }
}

/// A pack that is read in place.
#[derive(Clone, Debug)]
pub struct Pack<'a> {
    blocks: Vec<Block<'a>>,
    modules: &'a [[u8; MODULE]],
}

impl<'a> Pack<'a> {
    /// Parses the table. Blocks are read when one of their modules is requested.
    ///
    /// # Errors
    /// If the bytes are not a complete pack: a description of the problem.
    pub fn open(file: &'a [u8]) -> Result<Self, &'static str> {
        let torn = "it is torn";
        let (head, rest) = file
            .split_at_checked(HEAD)
            .ok_or("it is no pack of kernels")?;
        if !head.starts_with(MAGIC) {
            return Err("it is no pack of kernels");
        }
        let (blocks, modules) = (short(&head[16..20]), short(&head[20..]));
        let table = blocks.checked_mul(BLOCK).zip(modules.checked_mul(MODULE));
        let table = table.and_then(|(blocks, modules)| blocks.checked_add(modules));
        let (table, mut rest) = table
            .and_then(|len| rest.split_at_checked(len))
            .ok_or(torn)?;
        if checksum(&file[16..HEAD + table.len()]).to_le_bytes() != head[8..16] {
            return Err(torn);
        }
        let (of_blocks, of_modules) = table.split_at(blocks * BLOCK);
        let mut blocks = Vec::new();
        for block in of_blocks.as_chunks::<BLOCK>().0 {
            let (packed, more) = rest.split_at_checked(short(&block[..4])).ok_or(torn)?;
            let unpacked = short(&block[4..8]);
            if unpacked > MOST {
                return Err("a block is too long");
            }
            blocks.push(Block {
                packed,
                unpacked,
                checksum: &block[8..],
            });
            rest = more;
        }
        match rest {
            [] => Ok(Self {
                blocks,
                modules: of_modules.as_chunks().0,
            }),
            _ => Err(torn),
        }
    }

    /// Returns the number of modules.
    #[must_use]
    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Returns whether the pack has no modules.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    /// Returns the number of corrupt blocks, whose modules cannot be read.
    #[must_use]
    pub fn torn(&self) -> usize {
        self.blocks.iter().filter(|block| !block.is_whole()).count()
    }

    /// Returns the module with this name, if it exists and is intact.
    #[must_use]
    pub fn get(&self, name: u128) -> Option<Vec<u8>> {
        let named = |module: &[u8; MODULE]| name_of(module).cmp(&name);
        let module = &self.modules[self.modules.binary_search_by(named).ok()?];
        let [block, from, len] = [16, 20, 24].map(|at| short(&module[at..at + 4]));
        let mut bytes = self.blocks.get(block)?.unpack()?;
        bytes.truncate(from.checked_add(len).filter(|end| *end <= bytes.len())?);
        Some(bytes.split_off(from))
    }
}

fn name_of(module: &[u8; MODULE]) -> u128 {
    module[..16]
        .iter()
        .rev()
        .fold(0, |sum, byte| sum << 8 | u128::from(*byte))
}

/// Writes a pack of named modules, in the given order; similar modules should be adjacent. `compress` returns a
/// Zstandard frame for each block.
///
/// # Errors
/// The errors of `compress`, and an error if modules are too many or too long for the format.
pub fn write(
    modules: &[(u128, Vec<u8>)],
    mut compress: impl FnMut(&[u8]) -> io::Result<Vec<u8>>,
) -> io::Result<Vec<u8>> {
    let number = |count: usize| {
        let number = u32::try_from(count).ok().filter(|_| count <= MOST);
        let number =
            number.ok_or_else(|| io::Error::other(format!("{count} is too many for a pack")));
        number.map(u32::to_le_bytes)
    };
    let (mut of_blocks, mut of_modules, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    let mut block = Vec::new();
    for (at, (name, code)) in modules.iter().enumerate() {
        let place = [of_blocks.len() / BLOCK, block.len(), code.len()].map(number);
        let [index, from, len] = place;
        of_modules.push((*name, [index?, from?, len?].concat()));
        block.extend_from_slice(code);
        if block.len() >= FULL || at + 1 == modules.len() {
            let packed = compress(&block)?;
            of_blocks.extend_from_slice(&number(packed.len())?);
            of_blocks.extend_from_slice(&number(block.len())?);
            of_blocks.extend_from_slice(&checksum(&packed).to_le_bytes());
            blocks.extend_from_slice(&packed);
            block.clear();
        }
    }
    of_modules.sort();
    let mut table = [number(of_blocks.len() / BLOCK)?, number(of_modules.len())?].concat();
    table.extend(of_blocks);
    for (name, place) in of_modules {
        table.extend_from_slice(&name.to_le_bytes());
        table.extend(place);
    }
    let sum = checksum(&table).to_le_bytes();
    Ok([&MAGIC[..], &sum, &table, &blocks].concat())
}

#[cfg(test)]
mod tests;
