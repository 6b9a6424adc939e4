//! Communication between devices by NCCL, which is loaded for the first communicator.

use std::ffi::CStr;
use std::sync::{Mutex, OnceLock};

use cudarc::nccl::sys::{self, ncclDataType_t as Type, ncclRedOp_t as How, ncclResult_t as Status};
use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result};

use super::context::Cuda;
use super::per_device::lock;

/// The bytes of the identifier by which the ranks of a communicator find each other.
pub(crate) const ID: usize = 128;

/// The functions of the library that we call.
const NEEDED: &[&str] = &[
    "ncclAllGather",
    "ncclAllReduce",
    "ncclBroadcast",
    "ncclCommDestroy",
    "ncclCommInitRank",
    "ncclGetErrorString",
    "ncclGetUniqueId",
    "ncclGroupEnd",
    "ncclGroupStart",
    "ncclRecv",
    "ncclReduceScatter",
    "ncclSend",
];

/// Checks that the library is installed and has all functions that we call.
fn present(op: &'static str) -> Result<()> {
    static THERE: OnceLock<bool> = OnceLock::new();
    // SAFETY: loads a library by name, which is allowed at any time; symbols are only looked up.
    let there = *THERE.get_or_init(|| unsafe {
        let there = |name: &&str| sys::culib().get::<*const ()>(name.as_bytes()).is_ok();
        sys::is_culib_present() && NEEDED.iter().all(there)
    });
    if there {
        return Ok(());
    }
    Err(
        Error::new(ErrorKind::Device, op, "NCCL (libnccl) was not found").hint(
            "install it with the Python package `nvidia-nccl-cu13` or `nvidia-nccl-cu12`, and add its folder to \
             LD_LIBRARY_PATH",
        ),
    )
}

/// Converts a status of the library.
fn done(op: &'static str, doing: &str, status: Status) -> Result<()> {
    if status == Status::ncclSuccess {
        return Ok(());
    }
    // SAFETY: the library returns a static text for every number.
    let said = unsafe { CStr::from_ptr(sys::ncclGetErrorString(status)) };
    let what = format!("{doing}: NCCL says: {}", said.to_string_lossy());
    Err(Error::new(ErrorKind::Device, op, what)
        .hint("each rank needs a GPU of its own; `NCCL_DEBUG=INFO` prints more"))
}

/// Returns a new identifier by which the ranks of a communicator find each other.
pub(crate) fn unique_id(op: &'static str) -> Result<[u8; ID]> {
    present(op)?;
    let mut id = sys::ncclUniqueId { internal: [0; ID] };
    // SAFETY: the library is there, and the pointer is to an identifier.
    done(op, "asking for a number of ranks", unsafe {
        sys::ncclGetUniqueId(&raw mut id)
    })?;
    Ok(id.internal.map(i8::cast_unsigned))
}

/// The library's type, the number of its values in an element, and its operation.
pub(crate) type NcclReduction = (Type, usize, How);

/// Returns the reduction that computes an operator. `None` if the library does not have the type, or computes something
/// else: its extremes ignore NaN.
pub(crate) fn reduction(combine: Op, dtype: DType) -> Option<NcclReduction> {
    let (of, parts) = match dtype {
        DType::I8 => (Type::ncclInt8, 1),
        DType::U8 | DType::Bool => (Type::ncclUint8, 1),
        DType::I32 => (Type::ncclInt32, 1),
        DType::I64 => (Type::ncclInt64, 1),
        DType::F16 => (Type::ncclFloat16, 1),
        DType::BF16 => (Type::ncclBfloat16, 1),
        DType::F32 => (Type::ncclFloat32, 1),
        DType::F64 => (Type::ncclFloat64, 1),
        DType::C64 => (Type::ncclFloat32, 2),
        DType::C128 => (Type::ncclFloat64, 2),
        DType::I16 => return None,
    };
    let how = match combine {
        Op::LogicalOr if dtype == DType::Bool => How::ncclMax,
        Op::LogicalAnd if dtype == DType::Bool => How::ncclMin,
        _ if dtype == DType::Bool => return None,
        Op::Add => How::ncclSum,
        Op::Mul if parts == 1 => How::ncclProd,
        Op::Maximum if dtype.is_integral() => How::ncclMax,
        Op::Minimum if dtype.is_integral() => How::ncclMin,
        _ => return None,
    };
    Some((of, parts, how))
}

/// The handle of one rank. Calls are asynchronous, in the order of the device's stream.
#[derive(Debug)]
pub(crate) struct Handle {
    cuda: &'static Cuda,
    comm: Mutex<sys::ncclComm_t>,
}

// SAFETY: any thread may use a communicator, one at a time: it is behind a lock.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// Creates a handle, and waits for all ranks.
    pub(crate) fn new(
        op: &'static str,
        id: [u8; ID],
        [rank, size]: [usize; 2],
        ordinal: usize,
    ) -> Result<Self> {
        present(op)?;
        let cuda = Cuda::get(op, ordinal)?;
        let numbers = i32::try_from(size).ok().zip(i32::try_from(rank).ok());
        let Some((size, rank)) = numbers.filter(|(size, rank)| rank < size) else {
            let what = format!("rank {rank} of {size}");
            return Err(Error::new(ErrorKind::Argument, op, what));
        };
        let id = sys::ncclUniqueId {
            internal: id.map(u8::cast_signed),
        };
        let mut comm = std::ptr::null_mut();
        let _bound = cuda.bind(op)?;
        // SAFETY: the library is there, and the pointer is to a handle.
        done(op, "starting the ranks", unsafe {
            sys::ncclCommInitRank(&raw mut comm, size, id, rank)
        })?;
        Ok(Self {
            cuda,
            comm: Mutex::new(comm),
        })
    }

    /// Calls the library with the communicator and the device's stream. If there are no elements, no rank calls it.
    fn call(
        &self,
        op: &'static str,
        doing: &str,
        count: usize,
        call: impl FnOnce(sys::ncclComm_t, sys::cudaStream_t) -> Status,
    ) -> Result<()> {
        self.cuda
            .outside(op, "exchanges elements with other devices")?;
        if count == 0 {
            return Ok(());
        }
        let _bound = self.cuda.bind(op)?;
        let comm = lock(&self.comm);
        done(op, doing, call(*comm, self.cuda.stream.cast()))
    }

    /// Reduces `count` elements of each rank, and gives the result to all.
    ///
    /// # Safety
    /// `from` and `to` have `count` elements on the device.
    pub(crate) unsafe fn all_reduce(
        &self,
        op: &'static str,
        (of, parts, how): NcclReduction,
        [from, to]: [*mut u8; 2],
        count: usize,
    ) -> Result<()> {
        // SAFETY: the caller's promise; an element has this number of values of the library's type. Ranks that call
        // another function only make this one wait.
        self.call(op, "an all-reduce", count, |comm, stream| unsafe {
            sys::ncclAllReduce(from.cast(), to.cast(), count * parts, of, how, comm, stream)
        })
    }

    /// Reduces `count` elements for each rank over all ranks, and gives each rank its own.
    ///
    /// # Safety
    /// On the device, `to` has `count` elements, and `from` has `count` elements for each rank.
    pub(crate) unsafe fn reduce_scatter(
        &self,
        op: &'static str,
        (of, parts, how): NcclReduction,
        [from, to]: [*mut u8; 2],
        count: usize,
    ) -> Result<()> {
        // SAFETY: as in `all_reduce`.
        self.call(op, "a reduce-scatter", count, |comm, stream| unsafe {
            sys::ncclReduceScatter(from.cast(), to.cast(), count * parts, of, how, comm, stream)
        })
    }

    /// Gathers the bytes of each rank on all ranks.
    ///
    /// # Safety
    /// On the device, `from` has this number of bytes, and `to` has it for each rank.
    pub(crate) unsafe fn all_gather(
        &self,
        op: &'static str,
        [from, to]: [*mut u8; 2],
        bytes: usize,
    ) -> Result<()> {
        // SAFETY: as in `all_reduce`.
        self.call(op, "an all-gather", bytes, |comm, stream| unsafe {
            sys::ncclAllGather(from.cast(), to.cast(), bytes, Type::ncclUint8, comm, stream)
        })
    }

    /// Broadcasts the bytes of one rank to all.
    ///
    /// # Safety
    /// `from` and `to` have this number of bytes on the device.
    pub(crate) unsafe fn broadcast(
        &self,
        op: &'static str,
        [from, to]: [*mut u8; 2],
        bytes: usize,
        root: i32,
    ) -> Result<()> {
        // SAFETY: as in `all_reduce`.
        self.call(op, "a broadcast", bytes, |comm, stream| unsafe {
            sys::ncclBroadcast(
                from.cast(),
                to.cast(),
                bytes,
                Type::ncclUint8,
                root,
                comm,
                stream,
            )
        })
    }

    /// Sends and receives at once. Each part has a peer, an address and its bytes.
    ///
    /// # Safety
    /// All parts are on the device.
    pub(crate) unsafe fn exchange(
        &self,
        op: &'static str,
        sends: &[(usize, *mut u8, usize)],
        receives: &[(usize, *mut u8, usize)],
    ) -> Result<()> {
        // A group without parts is not called.
        let count = sends.len() + receives.len();
        // SAFETY: the caller's promise; the group ends also if a part fails.
        self.call(op, "an exchange", count, |comm, stream| unsafe {
            let byte = Type::ncclUint8;
            let mut all = vec![sys::ncclGroupStart()];
            if all[0] != Status::ncclSuccess {
                return all[0];
            }
            all.extend(sends.iter().map(|&(peer, at, bytes)| {
                sys::ncclSend(
                    at.cast_const().cast(),
                    bytes,
                    byte,
                    peer as i32,
                    comm,
                    stream,
                )
            }));
            all.extend(receives.iter().map(|&(peer, at, bytes)| {
                sys::ncclRecv(at.cast(), bytes, byte, peer as i32, comm, stream)
            }));
            all.push(sys::ncclGroupEnd());
            let failed = all
                .into_iter()
                .find(|&status| status != Status::ncclSuccess);
            failed.unwrap_or(Status::ncclSuccess)
        })
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A drop has no caller for errors.
        let Ok(_bound) = self.cuda.bind("nccl") else {
            return;
        };
        // SAFETY: the handle is not used any more; the library waits for work that was started.
        let _ = unsafe { sys::ncclCommDestroy(*lock(&self.comm)) };
    }
}
