//! What operators cost: how often each was called with which result, how long it computed, what it allocated.
//!
//! All operators meet at one place, the device's backend, which is asked for by an operator's name. What is asked for there is
//! timed while somebody looks on; the short ways of small tensors, which ask for no backend, are closed meanwhile. Names are
//! not known there: a tensor that is given its names says them of the buffer that was allocated last for it.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use nomina_core::Names;

thread_local! {
    /// Whether `profile` runs on this thread.
    static ON: Cell<bool> = const { Cell::new(false) };
    /// Without a destructor, so that values of other thread-local variables may compute when they are dropped.
    static STATE: RefCell<ManuallyDrop<State>> = const { RefCell::new(ManuallyDrop::new(State::new())) };
    /// Empties [`STATE`] when the thread ends.
    static EMPTIES: Empties = const { Empties };
}

struct Empties;

impl Drop for Empties {
    fn drop(&mut self) {
        drop(replace(State::new()));
    }
}

/// Replaces what was seen on this thread.
fn replace(state: State) -> State {
    ManuallyDrop::into_inner(STATE.replace(ManuallyDrop::new(state)))
}

/// How many computations wait for the names of their results.
const WAITING: usize = 64;

/// Whether anybody looks on.
#[inline(always)]
#[must_use]
pub fn is_on() -> bool {
    ON.get() || is_traced()
}

#[cfg(feature = "tracing")]
#[inline(always)]
fn is_traced() -> bool {
    tracing::level_enabled!(tracing::Level::DEBUG)
}

#[cfg(not(feature = "tracing"))]
#[inline(always)]
fn is_traced() -> bool {
    false
}

/// What was seen on a thread.
struct State {
    /// How many [`Span`]s are open.
    depth: usize,
    waiting: Vec<Computed>,
    table: BTreeMap<(&'static str, String), Row>,
}

/// What an operator computed.
struct Computed {
    op: &'static str,
    time: Duration,
    bytes: usize,
    /// Where its buffers begin.
    buffers: Vec<usize>,
    /// Whether it did more than ask for buffers.
    computed: bool,
    dims: Option<String>,
    #[cfg(feature = "tracing")]
    span: Option<tracing::Span>,
}

impl State {
    const fn new() -> Self {
        Self {
            depth: 0,
            waiting: Vec::new(),
            table: BTreeMap::new(),
        }
    }

    /// What an operator is at, unless that has ended or `goes_on` says that this is another call.
    fn last(&mut self, op: &'static str, goes_on: impl Fn(&Computed) -> bool) -> &mut Computed {
        let same = |last: &Computed| last.op == op && last.dims.is_none() && goes_on(last);
        if !self.waiting.last().is_some_and(same) {
            if self.waiting.len() == WAITING {
                self.settle(1);
            }
            self.waiting.push(Computed {
                op,
                time: Duration::ZERO,
                bytes: 0,
                buffers: Vec::new(),
                computed: false,
                dims: None,
                #[cfg(feature = "tracing")]
                span: None,
            });
        }
        let last = self.waiting.len() - 1;
        &mut self.waiting[last]
    }

    /// Puts the first so many into the table.
    fn settle(&mut self, count: usize) {
        for computed in self.waiting.drain(..count) {
            let dims = computed.dims.unwrap_or_default();
            #[cfg(feature = "tracing")]
            if let Some(span) = computed.span {
                span.record("dims", dims.as_str());
            }
            if !ON.get() {
                continue;
            }
            let row = self.table.entry((computed.op, dims)).or_default();
            row.calls += 1;
            row.time += computed.time;
            row.bytes += computed.bytes;
        }
    }
}

/// The time of one operator on the device's backend, until it is dropped.
pub(crate) struct Span(Option<Started>);

struct Started {
    at: Instant,
    #[cfg(feature = "tracing")]
    _entered: tracing::span::EnteredSpan,
}

impl Span {
    #[inline]
    pub(crate) fn new(op: &'static str) -> Self {
        Self(if is_on() { started(op) } else { None })
    }
}

impl Drop for Span {
    #[inline]
    fn drop(&mut self) {
        if let Some(started) = self.0.take() {
            ended(started);
        }
    }
}

/// Begins to count, unless another operator is at it, whose part this is.
#[cold]
fn started(op: &'static str) -> Option<Started> {
    // While the thread ends, nothing is left for later: `profile` takes what it has seen.
    if EMPTIES.try_with(|_| ()).is_err() && !ON.get() {
        return None;
    }
    STATE.with_borrow_mut(|state| {
        if state.depth > 0 {
            return None;
        }
        state.depth = 1;
        let last = state.last(op, |_| true);
        last.computed = true;
        Some(Started {
            #[cfg(feature = "tracing")]
            _entered: last
                .span
                .get_or_insert_with(|| {
                    tracing::debug_span!("operator", op, dims = tracing::field::Empty)
                })
                .clone()
                .entered(),
            at: Instant::now(),
        })
    })
}

#[cold]
fn ended(started: Started) {
    let time = started.at.elapsed();
    STATE.with_borrow_mut(|state| {
        state.depth = 0;
        if let Some(last) = state.waiting.last_mut() {
            last.time += time;
        }
    });
}

/// Says that an operator got a buffer, which is for what it computes next.
#[cold]
pub(crate) fn allocated(op: &'static str, bytes: usize, at: usize) {
    STATE.with_borrow_mut(|state| {
        let within = state.depth > 0;
        let last = match state.waiting.last_mut() {
            Some(last) if within => last,
            _ => state.last(op, |last| !last.computed),
        };
        last.bytes += bytes;
        last.buffers.push(at);
    });
}

/// Says which dims the result has whose buffer begins at an address. The names of one that has none may still come.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn named(names: &Names, shape: &[usize], at: usize) {
    STATE.with_borrow_mut(|state| {
        let made = |computed: &Computed| computed.buffers.contains(&at);
        // One that was given away, and written into.
        let given = |computed: &Computed| computed.computed && computed.buffers.is_empty();
        let last = state.waiting.iter().rposition(made);
        let last = last.or_else(|| state.waiting.iter().rposition(given));
        let Some(last) = last else { return };
        state.waiting[last].dims = Some(dims(names, shape));
        if shape.is_empty() || names.iter().any(Option::is_some) {
            state.settle(last + 1);
        }
    });
}

/// Says which dims the tensor has that the operators just seen wrote to.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn written(names: &Names, shape: &[usize]) {
    STATE.with_borrow_mut(|state| {
        let Some(last) = state.waiting.last_mut() else {
            return;
        };
        last.dims.get_or_insert_with(|| dims(names, shape));
        let all = state.waiting.len();
        state.settle(all);
    });
}

/// `N=2, C=3`
fn dims(names: &Names, shape: &[usize]) -> String {
    let each = shape
        .iter()
        .enumerate()
        .map(|(i, size)| match names.get(i) {
            Some(Some(name)) => format!("{name}={size}"),
            _ => format!("_={size}"),
        });
    format!("({})", each.collect::<Vec<_>>().join(", "))
}

/// One operator with one list of dims.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Row {
    /// The operator.
    pub op: &'static str,
    /// Names and sizes of the result, `(N=2, C=3)`; empty where there is none with names, as of what was computed on the way.
    pub dims: String,
    /// How often.
    pub calls: usize,
    /// How long, all calls together.
    pub time: Duration,
    /// How many bytes were allocated for results.
    pub bytes: usize,
}

/// What the operators of a closure cost, by [`profile`]: a table when it is printed.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    rows: Vec<Row>,
}

impl Profile {
    /// The rows, the longest first.
    #[must_use]
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let width = |part: fn(&Row) -> &str, least: usize| {
            self.rows
                .iter()
                .map(|row| part(row).len())
                .fold(least, usize::max)
        };
        let (op, dims) = (width(|row| row.op, 8), width(|row| &row.dims, 4));
        writeln!(
            f,
            "{:<op$}  {:<dims$}  {:>8}  {:>12}  {:>14}",
            "operator", "dims", "calls", "time", "bytes"
        )?;
        let mut line = |name: &str, of: &str, calls, time: Duration, bytes| {
            let time = format!("{:.3} ms", time.as_secs_f64() * 1e3);
            writeln!(
                f,
                "{name:<op$}  {of:<dims$}  {calls:>8}  {time:>12}  {bytes:>14}"
            )
        };
        let mut all = Row::default();
        for row in &self.rows {
            line(row.op, &row.dims, row.calls, row.time, row.bytes)?;
            all.calls += row.calls;
            all.time += row.time;
            all.bytes += row.bytes;
        }
        line("all", "", all.calls, all.time, all.bytes)
    }
}

/// Calls a closure, and says what its operators cost: those of this thread, whose work may be shared with others.
///
/// A row is an operator with the dims of its result; an operator that is made of others shows as those. Views and other calls
/// that compute nothing are in no row, and neither are sparse tensors. Work on a device is timed until it is started. While the
/// closure runs, small tensors take longer than otherwise.
///
/// Within another `profile`, what the inner one sees is hidden from the outer one.
pub fn profile<V>(closure: impl FnOnce() -> V) -> (V, Profile) {
    /// Puts back what was there before, also when the closure panics.
    struct Before(bool, State);
    impl Drop for Before {
        fn drop(&mut self) {
            ON.set(self.0);
            self.1 = replace(std::mem::replace(&mut self.1, State::new()));
        }
    }
    let before = Before(ON.replace(true), replace(State::new()));
    let value = closure();
    let table = STATE.with_borrow_mut(|state| {
        let all = state.waiting.len();
        state.settle(all);
        std::mem::take(&mut state.table)
    });
    drop(before);
    let rows = table
        .into_iter()
        .map(|((op, dims), row)| Row { op, dims, ..row });
    let mut rows: Vec<Row> = rows.collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    (value, Profile { rows })
}
