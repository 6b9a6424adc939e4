//! The MPI calls that jobs consist of.
//!
//! A message is started here and awaited as a future, so that the jobs of several axes run concurrently in one thread.
//! All of this runs only in the thread that holds the turn, which polls the futures: two threads are never
//! inside MPI at once. An MPI error ends the program.

use std::ffi::{c_int, c_void};
use std::future::Future;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::task::{Context, Poll};

use mpi::ffi;
use nomina_runtime::Raw;

use crate::calls::{byte_type, require_success, to_c_int};
use crate::strided::Datatype;
use crate::turn::fail;

/// A communicator. It lives until the program ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comm(pub(crate) ffi::MPI_Comm);

// SAFETY: a handle that any thread may use, in turn.
unsafe impl Send for Comm {}
// SAFETY: as above.
unsafe impl Sync for Comm {}

/// A range of bytes that outlives the messages that use it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    ptr: *mut u8,
    len: usize,
}

// SAFETY: the creator guarantees that the memory lives, and that nothing else uses it meanwhile.
unsafe impl Send for Span {}
// SAFETY: as above.
unsafe impl Sync for Span {}

impl Span {
    /// # Safety
    /// The bytes must live as long as this and its parts are used. Meanwhile nothing else may write to them, and
    /// nothing else may read them while they are written through it.
    pub(crate) unsafe fn new(ptr: *mut u8, len: usize) -> Self {
        Self { ptr, len }
    }

    pub(crate) fn len(self) -> usize {
        self.len
    }

    /// Returns `len` bytes from `start` on.
    pub(crate) fn part(self, start: usize, len: usize) -> Self {
        assert!(start.checked_add(len).is_some_and(|end| end <= self.len));
        let ptr = self.ptr.wrapping_add(start);
        Self { ptr, len }
    }

    /// # Safety
    /// No message writes to the bytes, and they are not borrowed exclusively.
    pub(crate) unsafe fn bytes<'a>(self) -> &'a [u8] {
        // SAFETY: the bytes live, by `new`; the caller guarantees the rest.
        unsafe { std::slice::from_raw_parts(self.ptr, self.len) }
    }

    /// # Safety
    /// No message reads or writes the bytes, and they are not borrowed.
    pub(crate) unsafe fn bytes_mut<'a>(self) -> &'a mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.ptr, self.len) }
    }

    /// Copies all bytes to another span, which may be this one.
    ///
    /// # Safety
    /// No message reads or writes `other`, or writes `self`.
    pub(crate) unsafe fn copy_to(self, other: Self) {
        assert_eq!(self.len, other.len);
        // SAFETY: both live, by `new`.
        unsafe { self.ptr.copy_to(other.ptr, self.len) };
    }
}

/// The data of a message.
#[derive(Clone, Debug)]
pub(crate) enum Outgoing {
    /// Contiguous bytes.
    Bytes(Span),
    /// A strided tensor, sent in one message.
    Strided(Raw),
}

impl Outgoing {
    /// Returns the part that one message carries; a strided tensor is never divided.
    pub(crate) fn part(&self, start: usize, len: usize) -> Self {
        match self {
            Self::Bytes(span) => Self::Bytes(span.part(start, len)),
            Self::Strided(raw) => {
                assert!(start == 0 && len == raw.nbytes());
                self.clone()
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Bytes(span) => span.len(),
            Self::Strided(raw) => raw.nbytes(),
        }
    }
}

/// Messages in flight; the future is ready when all are done.
#[derive(Debug, Default)]
pub(crate) struct Messages {
    requests: Vec<ffi::MPI_Request>,
    /// The bytes that each must receive, if known.
    expected: Vec<Option<usize>>,
    statuses: Vec<ffi::MPI_Status>,
}

// SAFETY: handles that any thread may use, in turn.
unsafe impl Send for Messages {}

/// The number of completed messages and jobs, by which waiting threads see progress.
pub(crate) static COMPLETED: AtomicU64 = AtomicU64::new(0);

impl Messages {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    fn push(&mut self, request: ffi::MPI_Request, expected: Option<usize>) {
        self.requests.push(request);
        self.expected.push(expected);
        // SAFETY: a struct of integers.
        self.statuses.push(unsafe { std::mem::zeroed() });
    }

    /// Starts to send to a rank; no bytes need no message.
    pub(crate) fn send(&mut self, comm: Comm, to: usize, tag: c_int, data: &Outgoing) {
        if data.len() > 0 {
            self.start_to_send(comm, to, tag, data);
        }
    }

    /// Like [`send`](Self::send), but also sends a message of no bytes.
    pub(crate) fn send_some(&mut self, comm: Comm, to: usize, tag: c_int, data: Span) {
        self.start_to_send(comm, to, tag, &Outgoing::Bytes(data));
    }

    fn start_to_send(&mut self, comm: Comm, to: usize, tag: c_int, data: &Outgoing) {
        let mut request = MaybeUninit::uninit();
        let out = request.as_mut_ptr();
        let code = match data {
            // SAFETY: the bytes live, and nothing writes to them until the message is sent, by `Span::new`.
            Outgoing::Bytes(span) => unsafe {
                let from = span.ptr.cast::<c_void>();
                ffi::MPI_Isend(
                    from,
                    to_c_int(span.len),
                    byte_type(),
                    to_c_int(to),
                    tag,
                    comm.0,
                    out,
                )
            },
            Outgoing::Strided(raw) => {
                let datatype = Datatype::new(raw);
                // SAFETY: the datatype covers only the tensor's elements; the job holds the tensor until the message is
                // sent. MPI keeps the datatype as long as it needs it.
                unsafe {
                    let from = raw.as_ptr().cast::<c_void>();
                    ffi::MPI_Isend(from, 1, datatype.0, to_c_int(to), tag, comm.0, out)
                }
            }
        };
        require_success("MPI_Isend", code);
        // SAFETY: MPI has written it.
        self.push(unsafe { request.assume_init() }, None);
    }

    /// Starts to receive exactly `into.len()` bytes from a rank; no bytes need no message.
    pub(crate) fn receive(&mut self, comm: Comm, from: usize, tag: c_int, into: Span) {
        if into.len > 0 {
            self.start_to_receive(comm, from, tag, into, Some(into.len));
        }
    }

    /// Starts to receive one message from a rank, of at most `into.len()` bytes.
    pub(crate) fn receive_some(&mut self, comm: Comm, from: usize, tag: c_int, into: Span) {
        self.start_to_receive(comm, from, tag, into, None);
    }

    fn start_to_receive(
        &mut self,
        comm: Comm,
        from: usize,
        tag: c_int,
        into: Span,
        expected: Option<usize>,
    ) {
        let mut request = MaybeUninit::uninit();
        // SAFETY: the bytes live, and nothing uses them until the message has arrived, by `Span::new`.
        let code = unsafe {
            let (dest, out) = (into.ptr.cast::<c_void>(), request.as_mut_ptr());
            ffi::MPI_Irecv(
                dest,
                to_c_int(into.len),
                byte_type(),
                to_c_int(from),
                tag,
                comm.0,
                out,
            )
        };
        require_success("MPI_Irecv", code);
        // SAFETY: MPI has written it.
        self.push(unsafe { request.assume_init() }, expected);
    }

    /// Starts to broadcast the root's bytes: from `Ok` on the root, into `Err` on the other ranks.
    pub(crate) fn broadcast(&mut self, comm: Comm, root: usize, data: Result<&Outgoing, Span>) {
        if data.map_or_else(Span::len, Outgoing::len) == 0 {
            return;
        }
        let mut request = MaybeUninit::uninit();
        let out = request.as_mut_ptr();
        let bytes = |ptr: *mut u8, len: usize| {
            // SAFETY: as for `send` and `receive`.
            unsafe {
                ffi::MPI_Ibcast(
                    ptr.cast(),
                    to_c_int(len),
                    byte_type(),
                    to_c_int(root),
                    comm.0,
                    out,
                )
            }
        };
        let code = match data {
            Ok(Outgoing::Bytes(span)) => bytes(span.ptr, span.len),
            Err(span) => bytes(span.ptr, span.len),
            Ok(Outgoing::Strided(raw)) => {
                let datatype = Datatype::new(raw);
                // SAFETY: as for `send`; the root's buffer is only read.
                unsafe {
                    let from = raw.as_ptr().cast_mut().cast::<c_void>();
                    ffi::MPI_Ibcast(from, 1, datatype.0, to_c_int(root), comm.0, out)
                }
            }
        };
        require_success("MPI_Ibcast", code);
        // SAFETY: MPI has written it.
        self.push(unsafe { request.assume_init() }, None);
    }

    /// Returns whether all messages are done.
    fn test(&mut self) -> bool {
        let mut all = 0;
        // SAFETY: the lists have the same length.
        let code = unsafe {
            let statuses = self.statuses.as_mut_ptr();
            let (count, requests) = (to_c_int(self.requests.len()), self.requests.as_mut_ptr());
            ffi::MPI_Testall(count, requests, &raw mut all, statuses)
        };
        if code != ffi::MPI_SUCCESS as c_int {
            let failed = |status: &&ffi::MPI_Status| status.MPI_ERROR != ffi::MPI_SUCCESS as c_int;
            let found = self.statuses.iter().find(failed);
            require_success("a message", found.map_or(code, |status| status.MPI_ERROR));
        }
        all != 0
    }

    /// Ends the program if a message was shorter than expected; MPI itself refuses longer ones.
    fn check_lengths(&self) {
        for (expected, status) in self.expected.iter().zip(&self.statuses) {
            let &Some(expected) = expected else { continue };
            let mut received = 0;
            // SAFETY: the message is done, and MPI has written its status.
            let code = unsafe { ffi::MPI_Get_count(status, byte_type(), &raw mut received) };
            require_success("MPI_Get_count", code);
            if usize::try_from(received) != Ok(expected) {
                let what = format!(
                    "{received} bytes came from rank {} of an axis, {expected} were expected: ranks make other calls",
                    status.MPI_SOURCE
                );
                fail(&what);
            }
        }
    }
}

impl Future for Messages {
    type Output = ();

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.requests.is_empty() {
            return Poll::Ready(());
        }
        if !this.test() {
            return Poll::Pending;
        }
        this.check_lengths();
        this.requests.clear();
        COMPLETED.fetch_add(1, Relaxed);
        Poll::Ready(())
    }
}
