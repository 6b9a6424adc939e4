//! The table of a device's memory blocks in use.

use std::collections::BTreeMap;

/// The blocks in use, by address, and how many bytes they have.
#[derive(Debug, Default)]
pub(super) struct LiveBlocks {
    blocks: BTreeMap<usize, usize>,
    in_use: usize,
    peak: usize,
}

impl LiveBlocks {
    pub(super) fn insert(&mut self, address: usize, bytes: usize) {
        self.blocks.insert(address, bytes);
        self.in_use += bytes;
        self.peak = self.peak.max(self.in_use);
    }

    pub(super) fn remove(&mut self, address: usize) {
        self.in_use -= self.blocks.remove(&address).unwrap_or(0);
    }

    /// Returns the block that contains an address: its first byte and its length.
    pub(super) fn find(&self, address: usize) -> Option<(usize, usize)> {
        let (&first, &len) = self.blocks.range(..=address).next_back()?;
        (address < first + len).then_some((first, len))
    }

    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> + '_ {
        self.blocks.keys().copied()
    }

    /// Returns the bytes in use.
    pub(super) fn in_use(&self) -> usize {
        self.in_use
    }

    /// Returns the most bytes that were in use at once.
    pub(super) fn peak(&self) -> usize {
        self.peak
    }
}
