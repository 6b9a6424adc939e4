//! The capture of a region of work as a graph, and its replay. `region.rs` holds the state of a capture.

use std::ptr::null_mut;
use std::sync::Mutex;

use cudarc::driver::result;
use cudarc::driver::sys::{self, CUresult};
use nomina_core::{Error, ErrorKind, Result};

use super::board::FlagUse;
use super::context::Cuda;
use super::failure::{failed, out_of_memory};
use super::per_device::lock;
use super::region::{OP, Refusal, Region};

/// The driver functions that only graphs call; the newest came with CUDA 11.4.
const NEEDED: [&str; 6] = [
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
];

/// A captured graph.
#[derive(Debug)]
pub(crate) struct Captured {
    cuda: &'static Cuda,
    exec: sys::CUgraphExec,
    /// Held during a replay: one at a time.
    starting: Mutex<()>,
    /// The addresses of the blocks that a replay uses.
    used: Vec<usize>,
    flags: Vec<FlagUse>,
}

// SAFETY: any thread may start a graph, one at a time.
unsafe impl Send for Captured {}
// SAFETY: as above; the lock `starting` ensures that.
unsafe impl Sync for Captured {}

fn refusal(what: &'static str) -> Error {
    Refusal { op: OP, what }.error()
}

/// Captures the work that a closure starts, then starts it once.
pub(crate) fn graph<R>(
    ordinal: usize,
    region: impl FnOnce() -> Result<R>,
) -> Result<(Captured, R)> {
    let cuda = Cuda::get(OP, ordinal)?;
    if cuda.gate.is_mine() {
        return Err(refusal("captures"));
    }
    let capturing = Capturing::begin(cuda)?;
    let found = region();
    let refused = cuda.in_region(|region| region.refused).flatten();
    let captured = capturing.end();
    match (found, refused, captured) {
        (Ok(found), None, Ok(captured)) => Ok((captured, found)),
        (Ok(_), None, Err(error)) | (Err(error), ..) => Err(error),
        (Ok(_), Some(refused), _) => Err(refused.error()),
    }
}

/// A capture in progress; it ends also if the closure panics.
struct Capturing(Option<&'static Cuda>);

impl Drop for Capturing {
    fn drop(&mut self) {
        if let Some(cuda) = self.0.take() {
            // The closure panicked, so there is no caller for an error.
            let _ = cuda.captured();
        }
    }
}

impl Capturing {
    fn begin(cuda: &'static Cuda) -> Result<Self> {
        for name in NEEDED {
            // SAFETY: the driver is there, and the symbol is only looked up.
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
            None => Err(refusal("ends twice")),
        }
    }
}

impl Cuda {
    /// Begins a capture. The gate is closed.
    fn begin(&self) -> Result<()> {
        let said = |error| failed(OP, "beginning a capture", error);
        let _bound = self.bind(OP)?;
        let side = result::stream::create(result::stream::StreamKind::NonBlocking);
        let side = side.map_err(said)?;
        // Relaxed: other threads of the process may use other streams meanwhile.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_RELAXED;
        // SAFETY: the stream is never destroyed.
        let begun = unsafe { sys::cuStreamBeginCapture_v2(self.stream, mode) }.result();
        if let Err(error) = begun {
            // SAFETY: created above, and not used yet.
            let _ = unsafe { result::stream::destroy(side) };
            return Err(said(error));
        }
        *lock(&self.region) = Some(Region::new(side));
        Ok(())
    }

    /// Ends a capture, and starts the graph once, so that its results are computed.
    fn captured(&'static self) -> Result<Captured> {
        let bound = self.bind(OP).inspect_err(|_| {
            // The capture is lost; other threads must not wait for its end.
            lock(&self.region).take();
            self.gate.open();
        })?;
        let mut graph = null_mut();
        // SAFETY: the stream captures, and the pointer is to a graph.
        let ended = unsafe { sys::cuStreamEndCapture(self.stream, &raw mut graph) }.result();
        let region = lock(&self.region).take();
        let Some(region) = region else {
            self.gate.open();
            return Err(refusal("was not begun"));
        };
        // SAFETY: only the region used this stream, and it has ended.
        let _ = unsafe { result::stream::destroy(region.side) };
        let used = self.held.hold(&region, &self.live);
        let mut exec = null_mut();
        let made = ended.and_then(|()| {
            // SAFETY: the graph was returned above, and the pointer is to an executable graph. The graph itself is not
            // needed after that.
            unsafe {
                let made = sys::cuGraphInstantiateWithFlags(&raw mut exec, graph, 0).result();
                let _ = sys::cuGraphDestroy(graph);
                made
            }
        });
        if made.is_err() {
            // Nothing will write these blocks, whose tensors may be read.
            for (&address, &bytes) in &region.blocks {
                // SAFETY: a block of the region, which `used` holds.
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
            flags: region.flags,
        };
        made.map_err(|error| failed(OP, "ending a capture", error))?;
        captured.replay()?;
        Ok(captured)
    }
}

impl Captured {
    /// Starts the graph after all work that was started before.
    pub(crate) fn replay(&self) -> Result<()> {
        let cuda = self.cuda;
        cuda.outside(OP, "starts another graph")?;
        let _bound = cuda.bind(OP)?;
        let _one = lock(&self.starting);
        // SAFETY: the memory that the graph uses is held.
        unsafe { sys::cuGraphLaunch(self.exec, cuda.stream) }
            .result()
            .map_err(|error| match error.0 {
                CUresult::CUDA_ERROR_OUT_OF_MEMORY => out_of_memory(OP, 0),
                _ => failed(OP, "starting a graph", error),
            })?;
        cuda.board.replayed(&self.flags);
        Ok(())
    }
}

impl Drop for Captured {
    fn drop(&mut self) {
        let cuda = self.cuda;
        let Ok(_bound) = cuda.bind("drop") else {
            return;
        };
        // A running graph uses its blocks. A drop has no caller for errors, here and below.
        let _ = cuda.wait("drop");
        if !self.exec.is_null() {
            // SAFETY: created by the capture, and destroyed only here.
            let _ = unsafe { sys::cuGraphExecDestroy(self.exec) };
        }
        cuda.board.release(std::mem::take(&mut self.flags));
        for address in cuda.held.release(&self.used) {
            // SAFETY: the block has no owner, and no graph uses it.
            unsafe { cuda.free(address) };
        }
    }
}
