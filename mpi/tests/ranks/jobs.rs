//! Jobs with known results.

use std::sync::Arc;

use nomina::DType;
use nomina_mesh::{Combine, Job, Ranks};
use nomina_runtime::Raw;

use crate::elements::{Element, Lie, check, combined, piece, values};
use crate::of_dtype;

const COMBINES: [Combine; 6] = [
    Combine::Add,
    Combine::Mul,
    Combine::Max,
    Combine::Min,
    Combine::Any,
    Combine::All,
];

const LIES: [Lie; 4] = [Lie::Dense, Lie::Turned, Lie::Sparse, Lie::Part];

/// Runs and counts the jobs on one axis.
pub struct Checks<'a> {
    axis: &'a dyn Ranks,
    pub done: usize,
    salt: usize,
}

impl<'a> Checks<'a> {
    pub fn new(axis: &'a dyn Ranks) -> Self {
        let (done, salt) = (0, 0);
        Self { axis, done, salt }
    }

    fn run(&mut self, job: Job) -> Vec<Raw> {
        self.done += 1;
        self.axis.start(job).unwrap().wait().unwrap()
    }

    /// Returns this rank's piece for rank `to`. The whole axis uses the same salt.
    fn own(&self, dtype: DType, shape: &[usize], to: usize, lie: Lie) -> Raw {
        piece(
            dtype,
            shape,
            self.whose(self.axis.rank(), to),
            self.salt,
            lie,
        )
    }

    /// Returns a number that identifies the sender and the receiver of a piece.
    fn whose(&self, from: usize, to: usize) -> usize {
        from * self.axis.size() + to
    }

    fn known<T: Element>(&self, count: usize, from: usize, to: usize) -> Vec<T> {
        values(count, self.whose(from, to), self.salt)
    }

    /// Runs each job once for each dtype, with each of its operators.
    pub fn every_dtype(&mut self) {
        for (i, dtype) in DType::ALL.into_iter().enumerate() {
            let lie = LIES[i % 4];
            for combine in COMBINES {
                self.salt += 1;
                of_dtype!(dtype, T => self.all_reduce::<T>(&[3, 5], combine, LIES[self.salt % 4]));
            }
            of_dtype!(dtype, T => {
                self.reduce_scatter::<T>(&[7, 4], Combine::Add, lie);
                self.scan::<T>(&[2, 4], Combine::Add, lie);
                self.all_gather::<T>(&[6, 3], lie);
                self.all_to_all::<T>(&[5, 2], lie);
                self.shift::<T>(&[2, 3], 1, lie);
                self.broadcast::<T>(&[4, 3], i, lie);
            });
        }
        assert!(self.run(Job::Barrier).is_empty());
    }

    /// Runs jobs of no elements, one element, about as many elements as ranks, and more than fit in a message.
    pub fn sizes(&mut self) {
        let size = self.axis.size();
        let many = 300_000 / size;
        let counts = [0, 1, size - 1, size, size + 1, 1000, many];
        for (i, count) in counts.into_iter().enumerate() {
            self.salt += 1;
            for lie in [Lie::Dense, Lie::Sparse] {
                self.all_reduce::<f32>(&[count], Combine::Add, lie);
                self.reduce_scatter::<i32>(&[count], Combine::Max, lie);
                self.scan::<f64>(&[count], Combine::Add, lie);
                self.all_gather::<half::bf16>(&[count], lie);
                self.all_to_all::<bool>(&[count], lie);
                self.shift::<i64>(&[count], i as isize - 3, lie);
                self.broadcast::<u8>(&[count], i, lie);
            }
        }
        self.all_reduce::<bool>(&[many * 2], Combine::Any, Lie::Turned);
        self.all_reduce::<half::f16>(&[many, 2], Combine::Add, Lie::Turned);
        self.all_reduce::<f64>(&[], Combine::Min, Lie::Dense);
    }

    /// Gives away an unshared piece, and checks that shared pieces do not change.
    fn all_reduce<T: Element>(&mut self, shape: &[usize], combine: Combine, lie: Lie) {
        let (count, size) = (shape.iter().product(), self.axis.size());
        let Some(wanted) = combined((0..size).chain(None), combine, |rank| {
            self.known::<T>(count, rank, 0)
        }) else {
            return;
        };
        // An axis of one rank computes nothing, and so does not refuse the operator.
        if T::of(0).combine(T::of(1), combine).is_none() {
            return;
        }
        let own = self.own(T::DTYPE, shape, 0, lie);
        let kept = (lie == Lie::Part).then(|| own.clone());
        let found = self.run(Job::AllReduce {
            piece: own,
            combine,
        });
        let what = format!(
            "all_reduce, {combine:?}, {} of {shape:?}, {lie:?}",
            T::DTYPE
        );
        check(&found[0], shape, &wanted, &what);
        if let Some(kept) = kept {
            let own = self.known::<T>(count, self.axis.rank(), 0);
            check(&kept, shape, &own, &format!("{what}: the piece"));
        }
    }

    /// Returns the sizes of a rank's piece: the first dim grows along the axis, and is 0 on one rank.
    fn uneven(&self, shape: &[usize], rank: usize) -> Vec<usize> {
        let mut shape = shape.to_vec();
        shape[0] = if rank == 1 { 0 } else { shape[0] + rank };
        shape
    }

    fn pieces(&self, dtype: DType, shape: &[usize], lie: Lie) -> Vec<Raw> {
        let one = |to| self.own(dtype, &self.uneven(shape, to), to, lie);
        (0..self.axis.size()).map(one).collect()
    }

    fn reduce_scatter<T: Element>(&mut self, shape: &[usize], combine: Combine, lie: Lie) {
        let (rank, size) = (self.axis.rank(), self.axis.size());
        let pieces = self.pieces(T::DTYPE, shape, lie);
        let shape = self.uneven(shape, rank);
        let count = shape.iter().product();
        let wanted = combined(0..size, combine, |from| self.known::<T>(count, from, rank));
        let found = self.run(Job::ReduceScatter { pieces, combine });
        let what = format!("reduce_scatter of {shape:?}, {lie:?}");
        check(&found[0], &shape, &wanted.unwrap(), &what);
    }

    fn scan<T: Element>(&mut self, shape: &[usize], combine: Combine, lie: Lie) {
        let (rank, count) = (self.axis.rank(), shape.iter().product());
        let piece = self.own(T::DTYPE, shape, 0, lie);
        let found = self.run(Job::Scan { piece, combine });
        let wanted = combined(0..rank, combine, |from| self.known::<T>(count, from, 0));
        assert_eq!(found.len(), usize::from(rank > 0));
        if let (Some(found), Some(wanted)) = (found.first(), wanted) {
            check(
                found,
                shape,
                &wanted,
                &format!("scan of {shape:?}, {lie:?}"),
            );
        }
    }

    fn all_gather<T: Element>(&mut self, shape: &[usize], lie: Lie) {
        let size = self.axis.size();
        let shapes: Vec<_> = (0..size).map(|rank| self.uneven(shape, rank)).collect();
        let piece = self.own(T::DTYPE, &shapes[self.axis.rank()], 0, lie);
        let found = self.run(Job::AllGather {
            piece,
            shapes: shapes.clone(),
        });
        assert_eq!(found.len(), size);
        for (from, (found, shape)) in found.iter().zip(&shapes).enumerate() {
            let wanted = self.known::<T>(shape.iter().product(), from, 0);
            check(
                found,
                shape,
                &wanted,
                &format!("all_gather of {shape:?}, {lie:?}"),
            );
        }
    }

    fn all_to_all<T: Element>(&mut self, shape: &[usize], lie: Lie) {
        let (rank, size) = (self.axis.rank(), self.axis.size());
        let pieces = self.pieces(T::DTYPE, shape, lie);
        let shape = self.uneven(shape, rank);
        let shapes = vec![shape.clone(); size];
        let found = self.run(Job::AllToAll { pieces, shapes });
        assert_eq!(found.len(), size);
        for (from, found) in found.iter().enumerate() {
            let wanted = self.known::<T>(shape.iter().product(), from, rank);
            check(
                found,
                &shape,
                &wanted,
                &format!("all_to_all of {shape:?}, {lie:?}"),
            );
        }
    }

    fn shift<T: Element>(&mut self, shape: &[usize], by: isize, lie: Lie) {
        let (rank, size) = (self.axis.rank(), self.axis.size());
        let from = (rank as isize - by).rem_euclid(size as isize) as usize;
        let piece = self.own(T::DTYPE, &self.uneven(shape, rank), 0, lie);
        let shape = self.uneven(shape, from);
        let found = self.run(Job::Shift {
            piece,
            by,
            shape: shape.clone(),
        });
        let wanted = self.known::<T>(shape.iter().product(), from, 0);
        check(
            &found[0],
            &shape,
            &wanted,
            &format!("shift of {shape:?}, {lie:?}"),
        );
    }

    fn broadcast<T: Element>(&mut self, shape: &[usize], root: usize, lie: Lie) {
        let root = root % self.axis.size();
        let piece = self.own(T::DTYPE, shape, 0, lie);
        let found = self.run(Job::Broadcast { piece, root });
        let wanted = self.known::<T>(shape.iter().product(), root, 0);
        check(
            &found[0],
            shape,
            &wanted,
            &format!("broadcast of {shape:?}, {lie:?}"),
        );
    }

    /// Checks the count of sent bytes, for small and large pieces.
    pub fn bytes(&mut self) {
        let (rank, size) = (self.axis.rank(), self.axis.size());
        if size == 1 {
            assert_eq!(self.axis.sent(), 0, "there is nobody to send to");
            return;
        }
        let others = size - 1;
        let shape = |count: usize, rank: usize| vec![count + rank];
        for count in [10, 100_001] {
            let piece = |whose: usize| piece(DType::F64, &shape(count, whose), rank, 0, Lie::Dense);
            let (same, own) = (piece(0), piece(rank));
            let pieces: Vec<Raw> = (0..size).map(piece).collect();
            let shapes: Vec<_> = (0..size).map(|rank| shape(count, rank)).collect();
            let to_others: usize = (0..size)
                .filter(|&to| to != rank)
                .map(|to| count + to)
                .sum();
            // The first ranks combine one element more if there is a remainder.
            let share = count / size + usize::from(rank < count % size);
            let (add, combine) = (Combine::Add, Combine::Add);
            let (from, by) = ((rank + size - 1) % size, 1);
            let jobs = [
                (
                    Job::AllReduce {
                        piece: same.clone(),
                        combine,
                    },
                    count - share + share * others,
                ),
                (
                    Job::ReduceScatter {
                        pieces: pieces.clone(),
                        combine,
                    },
                    to_others,
                ),
                (
                    Job::AllGather {
                        piece: own.clone(),
                        shapes: shapes.clone(),
                    },
                    (count + rank) * others,
                ),
                (
                    Job::AllToAll {
                        pieces,
                        shapes: vec![shape(count, rank); size],
                    },
                    to_others,
                ),
                (
                    Job::Shift {
                        piece: own.clone(),
                        by,
                        shape: shape(count, from),
                    },
                    count + rank,
                ),
                (
                    Job::Shift {
                        piece: same.clone(),
                        by: 0,
                        shape: shape(count, 0),
                    },
                    0,
                ),
                (
                    Job::Broadcast {
                        piece: same.clone(),
                        root: 1,
                    },
                    if rank == 1 { count * others } else { 0 },
                ),
                (
                    Job::Scan {
                        piece: same.clone(),
                        combine: add,
                    },
                    (others - rank) * count,
                ),
                (Job::Barrier, 0),
            ];
            for (job, elements) in jobs {
                let (name, before) = (job.name(), self.axis.sent());
                self.run(job);
                let sent = self.axis.sent() - before;
                assert_eq!(
                    sent,
                    elements as u64 * 8,
                    "{name} of {count} on rank {rank}"
                );
            }
        }
    }
}

/// Runs jobs of two axes concurrently: waited for in another order, and started by two threads in two orders.
pub fn side_by_side(axes: &[Arc<dyn Ranks>]) -> usize {
    let start = |axis: usize, count: usize| {
        let piece = piece(DType::F32, &[count], axes[axis].rank(), count, Lie::Dense);
        let combine = Combine::Add;
        axes[axis].start(Job::AllReduce { piece, combine }).unwrap()
    };
    let finish = |ticket: nomina_mesh::Ticket, count: usize| {
        let found = ticket.wait_for_one().unwrap();
        let wanted = combined(0..2, Combine::Add, |rank| values::<f32>(count, rank, count));
        check(&found, &[count], &wanted.unwrap(), "side by side");
    };
    let counts = [5, 50_000, 700, 90_000, 3];
    let tickets: Vec<_> = counts
        .map(|count| (start(0, count), start(1, count), count))
        .into();
    for (first, second, count) in tickets.into_iter().rev() {
        finish(second, count);
        finish(first, count);
    }
    // Ranks start the jobs in different orders: each axis has its own thread.
    std::thread::scope(|scope| {
        for axis in [0, 1] {
            scope.spawn(move || counts.map(|count| finish(start(axis, count), count)));
        }
    });
    counts.len() * 4
}
