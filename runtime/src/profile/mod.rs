//! The costs of operators: the number of calls with each kind of result, their time, and their allocations.
//!
//! All operators pass one place, the request for the device's backend, which names the operator. The requested work is
//! timed while a profile is active; fast paths of small tensors that need no backend are disabled meanwhile. Dim names
//! are not known there: when a tensor gets its names, they are assigned to the computation that last allocated its
//! buffer.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::{self, Formatter};
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use nomina_core::Names;

thread_local! {
    /// Whether `profile` runs on this thread.
    static ON: Cell<bool> = const { Cell::new(false) };
    /// The state of this thread. Without a destructor, so that values of other thread-local variables may compute when
    /// they are dropped.
    static STATE: RefCell<ManuallyDrop<Observations>> = const { RefCell::new(ManuallyDrop::new(Observations::new())) };
    /// Empties [`STATE`] when the thread ends.
    static EMPTIES: Empties = const { Empties };
}

struct Empties;

impl Drop for Empties {
    fn drop(&mut self) {
        drop(replace(Observations::new()));
    }
}

/// Replaces the state of this thread.
fn replace(state: Observations) -> Observations {
    ManuallyDrop::into_inner(STATE.replace(ManuallyDrop::new(state)))
}

/// The maximal number of computations that wait for the names of their results.
const WAITING: usize = 64;

/// Returns whether operators are profiled or traced.
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

/// The observations on a thread.
struct Observations {
    /// The number of open [`Span`]s.
    depth: usize,
    waiting: Vec<ComputedOp>,
    table: BTreeMap<(&'static str, String), Row>,
}

/// The computation of an operator.
struct ComputedOp {
    op: &'static str,
    time: Duration,
    bytes: usize,
    /// The addresses of its buffers.
    buffers: Vec<usize>,
    /// Whether it did more than allocate buffers.
    computed: bool,
    dims: Option<String>,
    #[cfg(feature = "tracing")]
    span: Option<tracing::Span>,
}

impl Observations {
    const fn new() -> Self {
        Self {
            depth: 0,
            waiting: Vec::new(),
            table: BTreeMap::new(),
        }
    }

    /// Returns the current computation of an operator, or a new one if that has ended or `goes_on` returns false.
    fn last(&mut self, op: &'static str, goes_on: impl Fn(&ComputedOp) -> bool) -> &mut ComputedOp {
        let same = |last: &ComputedOp| last.op == op && last.dims.is_none() && goes_on(last);
        if !self.waiting.last().is_some_and(same) {
            if self.waiting.len() == WAITING {
                self.settle(1);
            }
            self.waiting.push(ComputedOp {
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

    /// Moves the first `count` computations to the table.
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

/// The timing of one operator on the device's backend, until it is dropped.
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

/// Starts timing, unless another operator is running that this one is part of.
#[cold]
fn started(op: &'static str) -> Option<Started> {
    // While the thread ends, only `profile` may collect observations: nothing would be left to empty the state.
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

/// Records the allocation of a buffer for the operator's next computation.
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

/// Records the dims of the result whose buffer is at an address. If they have no names, names may still follow.
#[doc(hidden)]
#[cold]
#[inline(never)]
pub fn named(names: &Names, shape: &[usize], at: usize) {
    STATE.with_borrow_mut(|state| {
        let made = |computed: &ComputedOp| computed.buffers.contains(&at);
        // A computation that wrote into a given buffer.
        let given = |computed: &ComputedOp| computed.computed && computed.buffers.is_empty();
        let last = state.waiting.iter().rposition(made);
        let last = last.or_else(|| state.waiting.iter().rposition(given));
        let Some(last) = last else { return };
        state.waiting[last].dims = Some(dims(names, shape));
        if shape.is_empty() || names.iter().any(Option::is_some) {
            state.settle(last + 1);
        }
    });
}

/// Records the dims of the tensor that the last operators wrote to.
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

/// Formats dims like `N=2, C=3`.
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
    /// Names and sizes of the result, `(N=2, C=3)`; empty if it has no names, for example for intermediate results.
    pub dims: String,
    /// The number of calls.
    pub calls: usize,
    /// The total time of all calls.
    pub time: Duration,
    /// The number of bytes allocated for results.
    pub bytes: usize,
}

/// The costs of a closure's operators, from [`profile`]: printed as a table.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    rows: Vec<Row>,
}

impl Profile {
    /// Returns the rows, the slowest first.
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

/// Calls a closure, and returns the costs of its operators: those called on this thread, although other threads may
/// share their work.
///
/// A row is an operator with the dims of its result; a composed operator appears as its parts. Views and other calls
/// that compute nothing have no row, and neither do sparse tensors. Work on a device is timed until it is started.
/// While the closure runs, small tensors take longer than usual.
///
/// Within another `profile`, the observations of the inner one are hidden from the outer one.
pub fn profile<V>(closure: impl FnOnce() -> V) -> (V, Profile) {
    /// Restores the previous state, also if the closure panics.
    struct Before(bool, Observations);
    impl Drop for Before {
        fn drop(&mut self) {
            ON.set(self.0);
            self.1 = replace(std::mem::replace(&mut self.1, Observations::new()));
        }
    }
    let before = Before(ON.replace(true), replace(Observations::new()));
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
