//! Repetition of random draws.
//!
//! While a computation is recorded, each draw of its thread is noted with the state of its generator, whichever it is.
//! When the computation is repeated, its draws get these states in the same order, and no generator advances.

use std::cell::{Cell, RefCell};
use std::mem::ManuallyDrop;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Stream;
use crate::config::thread_number;

/// The draws of a computation.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecordedDraws {
    /// The generators' states, in the order of the draws.
    states: Vec<Stream>,
    /// The numbers of other threads that drew meanwhile, perhaps for this computation.
    pub(crate) elsewhere: Vec<u32>,
}

/// The handling of draws on this thread.
enum Mode {
    Records(Vec<Stream>),
    Repeats(ReplayedDraws),
}

struct ReplayedDraws {
    states: std::vec::IntoIter<Stream>,
    /// Whether more states were requested than recorded.
    is_beyond: bool,
}

thread_local! {
    /// The modes of this thread; empty, and without a buffer, if nothing is recorded or repeated. Without a destructor,
    /// so that values of other thread-local variables may draw when they are dropped.
    static MODES: RefCell<ManuallyDrop<Vec<Mode>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
    /// The number of modes.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// A computation that is being recorded on any thread.
struct Recording {
    thread: u32,
    /// The other threads that drew since it began.
    elsewhere: Vec<u32>,
}

/// The computations that are being recorded; those of one thread are in the order in which they began.
static RECORDINGS: Mutex<Vec<Recording>> = Mutex::new(Vec::new());
/// The number of recordings.
static COUNT: AtomicUsize = AtomicUsize::new(0);

fn recordings() -> MutexGuard<'static, Vec<Recording>> {
    RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Recording {
    fn begin() {
        recordings().push(Self {
            thread: thread_number(),
            elsewhere: Vec::new(),
        });
        COUNT.fetch_add(1, Ordering::SeqCst);
    }

    /// Ends the latest recording of this thread.
    fn end() -> Vec<u32> {
        COUNT.fetch_sub(1, Ordering::SeqCst);
        let own = thread_number();
        let mut all = recordings();
        let place = all.iter().rposition(|recording| recording.thread == own);
        place.map_or_else(Vec::new, |place| all.remove(place).elsewhere)
    }
}

/// Pushes a mode, and removes it when dropped, also after a panic.
struct Scope;

impl Scope {
    fn new(mode: Mode) -> Self {
        MODES.with_borrow_mut(|modes| modes.push(mode));
        DEPTH.set(DEPTH.get() + 1);
        Self
    }

    fn end(self) -> Option<Mode> {
        std::mem::forget(self);
        Self::pop()
    }

    fn pop() -> Option<Mode> {
        DEPTH.set(DEPTH.get() - 1);
        MODES.with_borrow_mut(|modes| {
            let mode = modes.pop();
            if modes.is_empty() {
                drop(std::mem::take(&mut **modes));
            }
            mode
        })
    }
}

impl Drop for Scope {
    fn drop(&mut self) {
        Self::pop();
    }
}

/// Calls `f`, and returns its draws with its result.
pub(crate) fn recorded<R>(f: impl FnOnce() -> R) -> (R, RecordedDraws) {
    struct EndReplay;
    impl Drop for EndReplay {
        fn drop(&mut self) {
            Recording::end();
        }
    }
    Recording::begin();
    let ends = EndReplay;
    let scope = Scope::new(Mode::Records(Vec::new()));
    let result = f();
    let states = match scope.end() {
        Some(Mode::Records(states)) => states,
        _ => Vec::new(),
    };
    std::mem::forget(ends);
    let elsewhere = Recording::end();
    (result, RecordedDraws { states, elsewhere })
}

/// Calls `f` with the draws that were recorded in `drawn`. Also returns whether it drew the same number of times.
pub(crate) fn repeated<R>(drawn: &RecordedDraws, f: impl FnOnce() -> R) -> (R, bool) {
    let scope = Scope::new(Mode::Repeats(ReplayedDraws {
        states: drawn.states.clone().into_iter(),
        is_beyond: false,
    }));
    let result = f();
    let is_same = match scope.end() {
        Some(Mode::Repeats(repeats)) => !repeats.is_beyond && repeats.states.len() == 0,
        _ => false,
    };
    (result, is_same)
}

/// Returns whether this thread repeats a computation: generators keep their states meanwhile.
pub(super) fn is_repeating() -> bool {
    let repeats = |mode: &Mode| matches!(mode, Mode::Repeats(_));
    DEPTH.get() > 0 && MODES.with_borrow(|modes| modes.iter().any(repeats))
}

/// Returns the state that replaces a generator's own, if this thread repeats a computation.
#[inline]
pub(super) fn next() -> Option<Stream> {
    if DEPTH.get() == 0 { None } else { recalled() }
}

#[cold]
fn recalled() -> Option<Stream> {
    MODES.with_borrow_mut(|modes| {
        let modes = &mut modes[..];
        let place = modes
            .iter()
            .rposition(|mode| matches!(mode, Mode::Repeats(_)));
        let (below, above) = modes.split_at_mut(place? + 1);
        let Some(Mode::Repeats(repeats)) = below.last_mut() else {
            return None;
        };
        let state = repeats.states.next();
        repeats.is_beyond |= state.is_none();
        let state = state.unwrap_or(Stream {
            seed: 0,
            position: 0,
        });
        note_in(above, state);
        Some(state)
    })
}

/// Notes a generator's state, if this thread records.
#[inline]
pub(super) fn note(state: Stream) {
    if DEPTH.get() > 0 {
        MODES.with_borrow_mut(|modes| note_in(modes, state));
    }
}

fn note_in(modes: &mut [Mode], state: Stream) {
    for mode in modes {
        if let Mode::Records(states) = mode {
            states.push(state);
        }
    }
}

/// Tells other threads that record about a draw of this thread.
#[inline]
pub(super) fn tell() {
    if COUNT.load(Ordering::Relaxed) > 0 {
        tell_recordings();
    }
}

#[cold]
fn tell_recordings() {
    let own = thread_number();
    for recording in &mut *recordings() {
        if recording.thread != own && !recording.elsewhere.contains(&own) {
            recording.elsewhere.push(own);
        }
    }
}
