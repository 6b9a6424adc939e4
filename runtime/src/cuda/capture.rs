//! Regions that are captured: what is kept for them, and what may not happen in one.
//!
//! While a thread captures, its launches are written down and not started, and other threads wait where they would use
//! the device. Memory that a region asks for comes from blocks of its own. All that may be read or written when the
//! region is started again stays reserved as long as the graph lives: its own blocks, and every block that was in use.

use std::cell::Cell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use cudarc::driver::result::{self, DriverError};
use cudarc::driver::sys::{self, CUresult};
use nomina_core::{Error, ErrorKind, Result};

use super::context::{Cuda, lock};
use super::failure::failed;
use super::flag::Tell;
use super::memory::refused;

const OP: &str = "cuda::graph";

/// What is called of the driver for graphs alone; the youngest came with CUDA 11.4.
const NEEDED: [&str; 6] = [
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
];

thread_local! {
    /// How many passes through gates the thread has.
    static PASSES: Cell<usize> = const { Cell::new(0) };
}

/// What tells the calling thread from others.
fn me() -> usize {
    PASSES.with(|own| std::ptr::from_ref(own).addr())
}

/// Keeps other threads from a device while one captures.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The thread that captures; 0 for none.
    owner: AtomicUsize,
    /// How many threads use the device.
    inside: AtomicUsize,
    closed: Mutex<()>,
    opened: Condvar,
}

/// A way through the gate. Those within another of the same thread cost nothing.
#[derive(Debug)]
pub(super) struct Pass<'a>(Option<&'a Gate>);

impl Gate {
    pub(super) fn enter(&self) -> Pass<'_> {
        let before = PASSES.get();
        PASSES.set(before + 1);
        if before > 0 {
            return Pass(None);
        }
        loop {
            self.inside.fetch_add(1, Ordering::SeqCst);
            let owner = self.owner.load(Ordering::SeqCst);
            if owner == 0 || owner == me() {
                return Pass(Some(self));
            }
            self.inside.fetch_sub(1, Ordering::SeqCst);
            let mut closed = lock(&self.closed);
            while self.owner.load(Ordering::SeqCst) != 0 {
                let waited = self.opened.wait(closed);
                closed = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
            }
        }
    }

    /// Whether the calling thread captures.
    fn is_mine(&self) -> bool {
        self.owner.load(Ordering::SeqCst) == me()
    }

    /// Closes it for all other threads, once those inside have left.
    fn close(&self) {
        let change = || {
            let (success, failure) = (Ordering::SeqCst, Ordering::SeqCst);
            self.owner.compare_exchange(0, me(), success, failure)
        };
        while change().is_err() {
            // Another region ends first.
            std::thread::yield_now();
        }
        while self.inside.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }

    fn open(&self) {
        let _closed = lock(&self.closed);
        self.owner.store(0, Ordering::SeqCst);
        self.opened.notify_all();
    }
}

impl Drop for Pass<'_> {
    fn drop(&mut self) {
        PASSES.set(PASSES.get() - 1);
        if let Some(gate) = self.0 {
            gate.inside.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// A region that is captured.
#[derive(Debug)]
pub(super) struct Region {
    /// What was asked of it that it may not do: the operator and what.
    refused: Option<(&'static str, &'static str)>,
    /// Its blocks by address, and their lengths.
    blocks: BTreeMap<usize, usize>,
    /// Those of them that nobody owns: what comes later in the region may use them again.
    free: Vec<usize>,
    /// Blocks from before whose owners were dropped meanwhile.
    left: Vec<usize>,
    /// What its kernels may find wrong.
    raises: Vec<Raises>,
    /// Memory is asked for here, where nothing is captured.
    side: sys::CUstream,
}

// SAFETY: a stream may be used by any thread.
unsafe impl Send for Region {}

/// A flag of a kernel in a region.
pub(super) struct Raises {
    pub(super) flag: u32,
    pub(super) tell: Tell,
}

impl fmt::Debug for Raises {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "flag {}", self.flag)
    }
}

impl Region {
    /// One of its kernels may find something wrong.
    pub(super) fn may_raise(&mut self, raises: Option<Raises>) {
        self.raises.extend(raises);
    }

    /// Its shortest free block that is long enough, or one from the driver.
    fn reserve(&mut self, cuda: &Cuda, room: usize) -> Result<u64, DriverError> {
        let fits = self.free.iter().enumerate().filter_map(|(at, address)| {
            let len = self.blocks[address];
            (len >= room).then_some((len, at))
        });
        if let Some((_, at)) = fits.min() {
            return Ok(self.free.swap_remove(at) as u64);
        }
        // SAFETY: the device's context is bound. What the block holds is read by nobody before it is written; the wait is
        // for this block alone, since nothing else is asked of that stream.
        let address = unsafe {
            match cuda.pool {
                Some(_) => {
                    let address = result::malloc_async(self.side, room)?;
                    result::stream::synchronize(self.side)?;
                    address
                }
                None => result::malloc_sync(room)?,
            }
        };
        self.blocks.insert(address as usize, room);
        Ok(address)
    }
}

/// Blocks that graphs use.
#[derive(Debug, Default)]
pub(super) struct Held {
    by_address: Mutex<HashMap<usize, Use>>,
    /// How many graphs there are.
    graphs: AtomicUsize,
}

#[derive(Debug, Default)]
struct Use {
    graphs: usize,
    /// Nobody owns the block any more, so that the last graph frees it.
    dropped: bool,
    /// A graph writes it anew each time: nobody else may write there.
    lent: bool,
}

impl Held {
    /// Whether graphs keep a block that is dropped: the last of them frees it then.
    pub(super) fn keeps(&self, address: usize) -> bool {
        if self.graphs.load(Ordering::SeqCst) == 0 {
            return false;
        }
        let mut held = lock(&self.by_address);
        held.get_mut(&address)
            .map(|used| used.dropped = true)
            .is_some()
    }

    pub(super) fn is_lent(&self, address: usize) -> bool {
        self.graphs.load(Ordering::SeqCst) != 0
            && lock(&self.by_address)
                .get(&address)
                .is_some_and(|used| used.lent)
    }
}

fn refusal((op, what): (&'static str, &'static str)) -> Error {
    let what = format!("it {what}, which no region of `{OP}` may");
    Error::new(ErrorKind::Device, op, what).hint(
        "take it out of the region; run the region once before it is captured, so that its kernels are loaded",
    )
}

impl Cuda {
    /// Does something to the region that the calling thread captures; `None` where it captures none.
    pub(super) fn in_region<R>(&self, act: impl FnOnce(&mut Region) -> R) -> Option<R> {
        if !self.gate.is_mine() {
            return None;
        }
        lock(&self.region).as_mut().map(act)
    }

    /// An error where the calling thread captures a region; it is then the region's too.
    pub(super) fn outside(&self, op: &'static str, what: &'static str) -> Result<()> {
        let refuse = |region: &mut Region| {
            region.refused.get_or_insert((op, what));
            refusal((op, what))
        };
        self.in_region(refuse).map_or(Ok(()), Err)
    }

    /// A block of the region that the calling thread captures.
    pub(super) fn of_region(&self, room: usize) -> Option<Result<u64, DriverError>> {
        self.in_region(|region| region.reserve(self, room))
    }

    /// Gives a block that nobody owns any more to the region that the calling thread captures.
    pub(super) fn left_to_region(&self, address: usize) -> bool {
        let left = |region: &mut Region| match region.blocks.contains_key(&address) {
            true => region.free.push(address),
            false => region.left.push(address),
        };
        self.in_region(left).is_some()
    }
}

/// What was captured.
#[derive(Debug)]
pub(crate) struct Captured {
    cuda: &'static Cuda,
    exec: sys::CUgraphExec,
    /// One start at a time.
    starting: Mutex<()>,
    used: Vec<usize>,
    raises: Vec<Raises>,
}

// SAFETY: a graph may be started by any thread, one at a time.
unsafe impl Send for Captured {}
// SAFETY: as above, behind a lock.
unsafe impl Sync for Captured {}

/// Captures what a closure starts, then starts it once.
pub(crate) fn graph<R>(
    ordinal: usize,
    region: impl FnOnce() -> Result<R>,
) -> Result<(Captured, R)> {
    let cuda = Cuda::get(OP, ordinal)?;
    if cuda.gate.is_mine() {
        return Err(refusal((OP, "captures")));
    }
    let capturing = Capturing::begin(cuda)?;
    let found = region();
    let refused = cuda.in_region(|region| region.refused).flatten();
    let captured = capturing.end();
    match (found, refused, captured) {
        (Ok(found), None, Ok(captured)) => Ok((captured, found)),
        (Ok(_), None, Err(error)) | (Err(error), ..) => Err(error),
        (Ok(_), Some(refused), _) => Err(refusal(refused)),
    }
}

/// The capture of a region, which ends also where the closure panics.
struct Capturing(Option<&'static Cuda>);

impl Drop for Capturing {
    fn drop(&mut self) {
        if let Some(cuda) = self.0.take() {
            // There is nobody to tell.
            let _ = cuda.captured();
        }
    }
}

impl Capturing {
    fn begin(cuda: &'static Cuda) -> Result<Self> {
        for name in NEEDED {
            // SAFETY: the driver is there, and the symbol is only looked for.
            if unsafe { sys::culib().get::<*const ()>(name.as_bytes()) }.is_err() {
                let what = format!("the CUDA driver is too old: it has no `{name}`");
                return Err(Error::new(ErrorKind::Device, OP, what)
                    .hint("install NVIDIA's driver (CUDA 12 or later)"));
            }
        }
        cuda.gate.close();
        let begun = cuda.begin();
        if begun.is_err() {
            cuda.gate.open();
        }
        begun.map(|()| Self(Some(cuda)))
    }

    fn end(mut self) -> Result<Captured> {
        match self.0.take() {
            Some(cuda) => cuda.captured(),
            None => Err(refusal((OP, "ends twice"))),
        }
    }
}

impl Cuda {
    fn begin(&self) -> Result<()> {
        let said = |error| failed(OP, "beginning a capture", error);
        let _bound = self.bind(OP)?;
        let side = result::stream::create(result::stream::StreamKind::NonBlocking);
        let side = side.map_err(said)?;
        // Other threads of the process may use other streams meanwhile.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is never destroyed.
        let begun = unsafe { sys::cuStreamBeginCapture_v2(self.stream, mode) }.result();
        if let Err(error) = begun {
            // SAFETY: made above, and nobody else's.
            let _ = unsafe { result::stream::destroy(side) };
            return Err(said(error));
        }
        *lock(&self.region) = Some(Region {
            refused: None,
            blocks: BTreeMap::new(),
            free: Vec::new(),
            left: Vec::new(),
            raises: Vec::new(),
            side,
        });
        Ok(())
    }

    /// Ends a capture, and starts what was captured, so that all that it makes is there.
    fn captured(&'static self) -> Result<Captured> {
        let bound = self.bind(OP)?;
        let mut graph = null_mut();
        // SAFETY: the stream captures, and this is a place for a graph.
        let ended = unsafe { sys::cuStreamEndCapture(self.stream, &raw mut graph) }.result();
        let region = lock(&self.region).take();
        let Some(region) = region else {
            self.gate.open();
            return Err(refusal((OP, "was not begun")));
        };
        // SAFETY: the region's alone, and nothing is asked of it any more.
        let _ = unsafe { result::stream::destroy(region.side) };
        let used = self.hold(&region);
        let mut exec = null_mut();
        let made = ended.and_then(|()| {
            // SAFETY: given just now; this is a place for what can be started. The graph is needed no longer then.
            unsafe {
                let made = sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0).result();
                let _ = sys::cuGraphDestroy(graph);
                made
            }
        });
        if made.is_err() {
            // What was to be written has to be something.
            for (&address, &bytes) in &region.blocks {
                // SAFETY: a block of the region, which is held.
                let _ = unsafe { self.clear(OP, address as *mut u8, bytes) };
            }
        }
        self.gate.open();
        drop(bound);
        let captured = Captured {
            cuda: self,
            exec,
            starting: Mutex::new(()),
            used,
            raises: region.raises,
        };
        made.map_err(|error| failed(OP, "ending a capture", error))?;
        captured.replay()?;
        Ok(captured)
    }

    /// Keeps what a region may use when it is started again.
    fn hold(&self, region: &Region) -> Vec<usize> {
        let mut held = lock(&self.held.by_address);
        self.held.graphs.fetch_add(1, Ordering::SeqCst);
        let mut used: Vec<usize> = lock(&self.live).addresses().collect();
        for address in &used {
            let lent = region.blocks.contains_key(address);
            let by = held.entry(*address).or_default();
            by.graphs += 1;
            by.lent |= lent;
        }
        for &address in region.free.iter().chain(&region.left) {
            let by = held.entry(address).or_default();
            by.graphs += 1;
            by.dropped = true;
            used.push(address);
        }
        used
    }
}

impl Captured {
    /// Starts all of it, after what was started before.
    pub(crate) fn replay(&self) -> Result<()> {
        let cuda = self.cuda;
        cuda.outside(OP, "starts another graph")?;
        let _bound = cuda.bind(OP)?;
        let _one = lock(&self.starting);
        // SAFETY: what it uses is held.
        unsafe { sys::cuGraphLaunch(self.exec, cuda.stream) }
            .result()
            .map_err(|error| match error.0 {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => refused(OP, 0),
                _ => failed(OP, "starting a graph", error),
            })?;
        cuda.board.may_raise_again(&self.raises);
        Ok(())
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let cuda = self.cuda;
        let Ok(_bound) = cuda.bind("drop") else {
            return;
        };
        // What runs reads its blocks. There is nobody to tell, here and below.
        let _ = cuda.wait("drop");
        if !self.exec.is_null() {
            // SAFETY: made by the capture, and destroyed here alone.
            let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
        }
        cuda.board.ends(std::mem::take(&mut self.raises));
        let mut held = lock(&cuda.held.by_address);
        let mut unowned = Vec::new();
        for address in self.used.drain(..) {
            let Some(by) = held.get_mut(&address) else {
                continue;
            };
            by.graphs -= 1;
            if by.graphs == 0 {
                unowned.extend(by.dropped.then_some(address));
                held.remove(&address);
            }
        }
        cuda.held.graphs.fetch_sub(1, Ordering::SeqCst);
        drop(held);
        for address in unowned {
            // SAFETY: nobody owns the block, and no graph uses it.
            unsafe { cuda.free(address) };
        }
    }
}
