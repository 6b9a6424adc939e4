//! Sorting of one line.

use super::key::{KeyBits, KeyKind};
use super::packed::{PackedKey, needs_spare, pack, sort};
use super::top;
use crate::job::Task;
use crate::memory::NoMemory;
use crate::memory::scratch::room;

/// Buffers that are reused from line to line.
pub(super) struct LineScratch<B, P> {
    packed: Vec<P>,
    spare: Vec<P>,
    keys: Vec<B>,
}

impl<B, P> LineScratch<B, P> {
    /// Allocates buffers for lines of `len` elements with keys of `width` bits; the task never
    /// needs more.
    pub fn new(task: Task, width: u32, len: usize) -> Result<Self, NoMemory> {
        let packs = !matches!(task, Task::Extreme { .. });
        let sorts = matches!(task, Task::Sort { .. } | Task::Top { .. } | Task::Mode);
        let spare = sorts && needs_spare(len, width);
        Ok(Self {
            packed: room([usize::from(packs), len])?,
            spare: room([usize::from(spare), len])?,
            keys: room([usize::from(matches!(task, Task::Top { .. })), len])?,
        })
    }
}

/// The destination of results: elements with their positions in the line. Either may be empty if it
/// is not needed.
pub(super) struct Found<'a, B> {
    pub values: &'a mut [B],
    pub positions: &'a mut [i64],
}

impl<B: KeyBits> Found<'_, B> {
    #[inline(always)]
    pub fn set(&mut self, index: usize, line: &[B], at: usize) {
        if let Some(value) = self.values.get_mut(index) {
            *value = line[at];
        }
        if let Some(position) = self.positions.get_mut(index) {
            *position = at as i64;
        }
    }

    fn put_all<P: PackedKey>(&mut self, line: &[B], packed: &[P]) {
        for (value, p) in self.values.iter_mut().zip(packed) {
            *value = line[p.at()];
        }
        for (position, p) in self.positions.iter_mut().zip(packed) {
            *position = p.at() as i64;
        }
    }
}

/// Performs the task on a nonempty line; `count` results are requested.
pub(super) fn sort_line<B: KeyBits, P: PackedKey>(
    task: Task,
    kind: KeyKind,
    line: &[B],
    count: usize,
    mut found: Found<'_, B>,
    room: &mut LineScratch<B, P>,
) {
    let LineScratch {
        packed,
        spare,
        keys,
    } = room;
    match task {
        Task::Sort { descending } => {
            pack(line, kind, descending, packed);
            sort(packed, B::WIDTH, spare);
            found.put_all(line, packed);
        }
        Task::Top { largest } => {
            if top::is_few(count, line.len()) {
                top::candidates(line, kind, largest, count, keys, packed);
            } else {
                pack(line, kind, largest, packed);
            }
            if 0 < count && count < packed.len() {
                packed.select_nth_unstable(count - 1);
                packed.truncate(count);
                // The selection has reordered equal keys, so a stable sort by key alone would not
                // restore their order.
                packed.sort_unstable();
            } else {
                packed.truncate(count);
                sort(packed, B::WIDTH, spare);
            }
            found.put_all(line, packed);
        }
        Task::Nth(n) => {
            pack(line, kind, false, packed);
            found.set(0, line, packed.select_nth_unstable(n).1.at());
        }
        Task::Median { ignore_nan } => found.set(0, line, median(line, kind, ignore_nan, packed)),
        Task::Mode => {
            pack(line, kind, false, packed);
            sort(packed, B::WIDTH, spare);
            found.set(0, line, mode(line, kind, packed));
        }
        Task::Extreme { greatest } => {
            let mut best = 0;
            for at in 0..line.len() {
                if replaces(line, kind, greatest, best, at) {
                    best = at;
                }
                found.set(at, line, best);
            }
        }
    }
}

/// Returns the position of the lower median.
fn median<B: KeyBits, P: PackedKey>(
    line: &[B],
    kind: KeyKind,
    ignore_nan: bool,
    packed: &mut Vec<P>,
) -> usize {
    let nan = |x: &&B| x.is_nan(kind);
    let numbers = if ignore_nan {
        line.len() - line.iter().filter(nan).count()
    } else {
        if let Some(at) = line.iter().position(|x| x.is_nan(kind)) {
            return at;
        }
        line.len()
    };
    pack(line, kind, false, packed);
    // NaNs are last; if there is nothing else, the first one is taken.
    packed
        .select_nth_unstable(numbers.saturating_sub(1) / 2)
        .1
        .at()
}

/// Returns the last position of the most frequent element, the smallest if several are equally
/// frequent. NaN does not equal NaN.
fn mode<B: KeyBits, P: PackedKey>(line: &[B], kind: KeyKind, sorted: &[P]) -> usize {
    let (mut best, mut most) = (sorted[0].at(), 0);
    let mut start = 0;
    while start < sorted.len() {
        let first = sorted[start];
        let len = if line[first.at()].is_nan(kind) {
            1
        } else {
            let same = |p: &&P| p.key() == first.key();
            sorted[start..].iter().take_while(same).count()
        };
        if len > most {
            (best, most) = (sorted[start + len - 1].at(), len);
        }
        start += len;
    }
    best
}

/// Returns whether the element at `at` replaces the best so far. Equal elements do; NaN replaces
/// everything, and only NaN replaces NaN.
#[inline(always)]
fn replaces<B: KeyBits>(line: &[B], kind: KeyKind, greatest: bool, best: usize, at: usize) -> bool {
    let (old, new) = (line[best], line[at]);
    match (old.is_nan(kind), new.is_nan(kind)) {
        (_, true) => true,
        (true, false) => false,
        _ if greatest => new.key(kind) >= old.key(kind),
        _ => new.key(kind) <= old.key(kind),
    }
}
