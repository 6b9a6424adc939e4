//! Regions of work that are captured as a graph, and the memory blocks that graphs use.
//!
//! While a thread captures a region, its launches are recorded and not started, and other threads wait at the gate. The
//! region gets memory from blocks of its own. All memory that a replay may read or write stays reserved as long as the
//! graph lives: the region's own blocks, and every block that was in use during the capture.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys;
use nomina_core::{Error, ErrorKind};

use super::board::FlagUse;
use super::live_blocks::LiveBlocks;
use super::per_device::lock;

/// The operator named by errors of captures.
pub(super) const OP: &str = "cuda::graph";

/// A step that no region may contain: the operator, and a phrase that says what it does.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) op: &'static str,
    pub(super) what: &'static str,
}

impl Refusal {
    pub(super) fn error(self) -> Error {
        let what = format!("it {}, which `{OP}` does not allow", self.what);
        Error::new(ErrorKind::Device, self.op, what).hint(
            "move it out of the region; run the region once before the capture, to load its kernels",
        )
    }
}

/// A region that is being captured.
#[derive(Debug)]
pub(super) struct Region {
    /// The first step that it may not contain.
    pub(super) refused: Option<Refusal>,
    /// Its blocks: addresses and lengths.
    pub(super) blocks: BTreeMap<usize, usize>,
    /// Its blocks without an owner, which later steps of the region may use again.
    free: Vec<usize>,
    /// Blocks allocated before the region whose owners were dropped during the capture.
    dropped: Vec<usize>,
    /// The flags that its kernels may raise.
    pub(super) flags: Vec<FlagUse>,
    /// A stream that is not captured, on which memory is allocated.
    pub(super) side: sys::CUstream,
}

// SAFETY: any thread may use a stream.
unsafe impl Send for Region {}

impl Region {
    pub(super) fn new(side: sys::CUstream) -> Self {
        Self {
            refused: None,
            blocks: BTreeMap::new(),
            free: Vec::new(),
            dropped: Vec::new(),
            flags: Vec::new(),
            side,
        }
    }

    /// Adds a flag that one of its kernels may raise.
    pub(super) fn may_raise(&mut self, flag: Option<FlagUse>) {
        self.flags.extend(flag);
    }

    /// Returns its shortest free block that is long enough, or allocates one. `pooled` says whether the device has a
    /// memory pool; the device's context is bound.
    pub(super) fn reserve(&mut self, pooled: bool, room: usize) -> Result<u64, DriverError> {
        let fits = self.free.iter().enumerate().filter_map(|(at, address)| {
            let len = self.blocks[address];
            (len >= room).then_some((len, at))
        });
        if let Some((_, at)) = fits.min() {
            return Ok(self.free.swap_remove(at) as u64);
        }
        // SAFETY: the device's context is bound. The block is written before it is read. The wait is for this block
        // alone, since nothing else uses the stream.
        let address = unsafe {
            if pooled {
                let address = result::malloc_async(self.side, room)?;
                result::stream::synchronize(self.side)?;
                address
            } else {
                result::malloc_sync(room)?
            }
        };
        self.blocks.insert(address as usize, room);
        Ok(address)
    }

    /// Takes over a block whose owner was dropped.
    pub(super) fn take_over(&mut self, address: usize) {
        if self.blocks.contains_key(&address) {
            self.free.push(address);
        } else {
            self.dropped.push(address);
        }
    }
}

/// The blocks that graphs use.
#[derive(Debug, Default)]
pub(super) struct HeldBlocks {
    by_address: Mutex<HashMap<usize, BlockUse>>,
    /// The number of graphs.
    graphs: AtomicUsize,
}

/// The use of a block by graphs.
#[derive(Debug, Default)]
struct BlockUse {
    graphs: usize,
    /// The owner was dropped: the last graph frees the block.
    dropped: bool,
    /// A replay writes it: its owner must not write in place.
    lent: bool,
}

impl HeldBlocks {
    /// Returns whether a graph uses a block whose owner is dropped; the last graph then frees it.
    pub(super) fn keeps(&self, address: usize) -> bool {
        if self.graphs.load(Ordering::SeqCst) == 0 {
            return false;
        }
        let mut held = lock(&self.by_address);
        held.get_mut(&address)
            .map(|used| used.dropped = true)
            .is_some()
    }

    /// Returns whether the replay of a graph writes a block.
    pub(super) fn is_lent(&self, address: usize) -> bool {
        self.graphs.load(Ordering::SeqCst) != 0
            && lock(&self.by_address)
                .get(&address)
                .is_some_and(|used| used.lent)
    }

    /// Holds all blocks that a replay of a region may use, for one more graph, and returns their addresses.
    pub(super) fn hold(&self, region: &Region, live: &Mutex<LiveBlocks>) -> Vec<usize> {
        let mut held = lock(&self.by_address);
        self.graphs.fetch_add(1, Ordering::SeqCst);
        let mut used: Vec<usize> = lock(live).addresses().collect();
        for address in &used {
            let lent = region.blocks.contains_key(address);
            let by = held.entry(*address).or_default();
            by.graphs += 1;
            by.lent |= lent;
        }
        for &address in region.free.iter().chain(&region.dropped) {
            let by = held.entry(address).or_default();
            by.graphs += 1;
            by.dropped = true;
            used.push(address);
        }
        used
    }

    /// Releases the blocks of a graph that is dropped, and returns those to be freed: they have no owner and no graph.
    pub(super) fn release(&self, used: &[usize]) -> Vec<usize> {
        let mut held = lock(&self.by_address);
        let mut unowned = Vec::new();
        for address in used {
            let Some(by) = held.get_mut(address) else {
                continue;
            };
            by.graphs -= 1;
            if by.graphs == 0 {
                unowned.extend(by.dropped.then_some(*address));
                held.remove(address);
            }
        }
        self.graphs.fetch_sub(1, Ordering::SeqCst);
        unowned
    }
}
