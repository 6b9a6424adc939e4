//! Compiles a program into loops over blocks.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Result, Scalar};

use super::walk::{BlockIndex, Feed, Reads, WalkOperands};
use crate::SmallVec;
use crate::dispatch::arithmetic;
use crate::job::{FusedJob, Known, Node, scalar};
use crate::memory::refused;

use crate::cpu::cast::Cast;
use crate::cpu::parallel::Shared;
use crate::cpu::pointwise::{DenseLoop, kernel};

/// One loop over a block.
pub(super) enum BlockLoop {
    Loop {
        run: DenseLoop,
        out: BlockIndex,
        from: [BlockIndex; 4],
    },
    Cast {
        cast: Cast,
        out: BlockIndex,
        from: BlockIndex,
        /// The element sizes before and after the cast.
        sizes: [isize; 2],
    },
}

/// A number converted to one of the dtypes that loops read.
pub(super) struct NumberBlock {
    pub(super) value: Scalar,
    pub(super) dtype: DType,
    pub(super) slot: BlockIndex,
    pub(super) cast: Cast,
}

/// Programs of at most this many nodes need no reserved capacity; their lists are always short.
const SHORT: usize = 16;

#[derive(Default)]
pub(super) struct Compiled {
    pub(super) steps: SmallVec<[BlockLoop; 8]>,
    pub(super) feeds: SmallVec<[Feed; 4]>,
    pub(super) constants: SmallVec<[NumberBlock; 4]>,
    /// The element size of each block: the largest of the values that share it.
    pub(super) slots: SmallVec<[usize; 16]>,
    /// Blocks that are stored after the last step: the slot, the destination, the element size.
    pub(super) stored: SmallVec<[(BlockIndex, Shared, usize); 2]>,
    /// Blocks that are no longer read.
    free: SmallVec<[BlockIndex; 8]>,
}

impl Compiled {
    /// Compiles the program of a job.
    pub(super) fn build(&mut self, job: &FusedJob<'_>, operands: &WalkOperands) -> Result<()> {
        if job.program.len() > SHORT {
            self.make_room(job)?;
        }
        let last = job.program.len() - 1;
        // The last step that reads each value.
        let mut until: SmallVec<[usize; 16]> = SmallVec::from_elem(0, job.program.len());
        let live = |&(at, _): &(usize, &Node<'_>)| job.live[at];
        for (at, node) in job.program.iter().enumerate().filter(live) {
            match *node {
                Node::Apply(_, args) => args.iter().for_each(|&arg| until[arg] = at),
                Node::To(_, of) => until[of] = at,
                Node::Tensor(_) | Node::Scalar(_) => {}
            }
        }
        let mut places: SmallVec<[BlockIndex; 16]> = SmallVec::from_elem(0, job.program.len());
        for (at, node) in job.program.iter().enumerate().filter(live) {
            let Known::Tensor { dtype, compute } = &job.known[at] else {
                continue;
            };
            let (args, out): (&[usize], BlockIndex) = match *node {
                Node::Tensor(_) | Node::Scalar(_) => continue,
                Node::To(_, ref of) => {
                    let (from, own) = match (job.program[*of], &job.known[*of]) {
                        (Node::Apply(..) | Node::To(..), Known::Tensor { dtype, .. }) => {
                            (places[*of], *dtype)
                        }
                        _ => (
                            self.read(job, operands, &places, *of, *dtype, None).slot,
                            *dtype,
                        ),
                    };
                    let out = self.place(at == last, *dtype);
                    self.cast(own, *dtype, from, out);
                    (std::slice::from_ref(of), out)
                }
                Node::Apply(op, args) => {
                    let out = self.apply(
                        job,
                        operands,
                        &places,
                        op,
                        args,
                        *compute,
                        *dtype,
                        at == last,
                    )?;
                    (args, out)
                }
            };
            places[at] = out;
            for (_, to) in job.also.iter().filter(|(step, _)| *step == at) {
                self.stored.push((out, Shared(to.ptr), to.dtype.size()));
                until[at] = usize::MAX;
            }
            for (i, &arg) in args.iter().enumerate() {
                let own = matches!(job.program[arg], Node::Apply(..) | Node::To(..));
                if own && until[arg] == at && !args[..i].contains(&arg) {
                    self.free.push(places[arg]);
                }
            }
        }
        Ok(())
    }

    /// Reserves capacity for the largest possible result of a long program, so that lists never grow.
    #[cold]
    fn make_room(&mut self, job: &FusedJob<'_>) -> Result<()> {
        let most = |node: &Node<'_>| match node {
            Node::Apply(_, args) => args.len() + 2,
            Node::To(..) => 2,
            Node::Tensor(_) | Node::Scalar(_) => 0,
        };
        let most = job.program.iter().map(most).sum();
        let room = self.steps.try_reserve(most);
        let room = room.and_then(|()| self.feeds.try_reserve(most));
        let room = room.and_then(|()| self.constants.try_reserve(most));
        room.map_err(|_| refused(job.op, size_of::<BlockLoop>().saturating_mul(most)))
    }

    #[expect(clippy::too_many_arguments, reason = "one step, all of it")]
    fn apply(
        &mut self,
        job: &FusedJob<'_>,
        operands: &WalkOperands,
        places: &[BlockIndex],
        op: Op,
        args: &[usize],
        compute: DType,
        result: DType,
        last: bool,
    ) -> Result<BlockIndex> {
        let kernel = kernel(op, arithmetic(compute)).ok_or_else(|| {
            let what = format!("{compute} is not computed on the host");
            Error::new(ErrorKind::DType, op.name(), what).hint("convert with `to` first")
        })?;
        if kernel.arity != args.len() {
            let what = format!("{} operands, not {}", args.len(), kernel.arity);
            return Err(Error::new(ErrorKind::Argument, op.name(), what)
                .hint("call it with the operands of its signature"));
        }
        let mut from = [0; 4];
        let mut read = SmallVec::<[Read; 4]>::new();
        for (i, &arg) in args.iter().enumerate() {
            let by = Some((op, compute));
            let value = self.read(job, operands, places, arg, kernel.inputs[i], by);
            from[i] = value.slot;
            read.push(value);
        }
        let direct = kernel.output == result;
        let out = self.place(last && direct, kernel.output);
        let run = kernel.pick();
        self.steps.push(BlockLoop::Loop { run, out, from });
        read.into_iter().for_each(|value| self.release(value));
        if direct {
            return Ok(out);
        }
        let rounded = self.place(last, result);
        self.cast(kernel.output, result, out, rounded);
        self.free.push(out);
        Ok(rounded)
    }

    /// Returns a value as a block of `dtype`.
    fn read(
        &mut self,
        job: &FusedJob<'_>,
        operands: &WalkOperands,
        places: &[BlockIndex],
        at: usize,
        dtype: DType,
        by: Option<(Op, DType)>,
    ) -> Read {
        let lasting = |slot| Read {
            slot,
            passing: false,
        };
        match (job.program[at], &job.known[at]) {
            (Node::Tensor(operand), _) => {
                let known = |feed: &&Feed| feed.operand == operand && feed.dtype == dtype;
                if let Some(feed) = self.feeds.iter().find(known) {
                    return lasting(feed.slot);
                }
                let own = job.inputs[operand].0.dtype;
                let reads = Reads::select(&operands.each[operand], own == dtype, operands.short);
                // Operands that are read in place need no block.
                self.slots
                    .push(if reads.copies() { dtype.size() } else { 0 });
                let home = self.slots.len();
                if reads == Reads::Rows {
                    self.slots.push(0);
                }
                let slot = self.slots.len();
                self.feeds.push(Feed {
                    operand,
                    slot,
                    home,
                    cast: Cast::new(own, dtype),
                    size: dtype.size() as isize,
                    reads,
                    dtype,
                });
                lasting(slot)
            }
            (_, Known::Scalar(value)) => {
                let value = by.map_or(*value, |(op, compute)| scalar(op, *value, compute));
                let slot = self.fresh(dtype);
                let cast = Cast::new(dtype, dtype);
                self.constants.push(NumberBlock {
                    value,
                    dtype,
                    slot,
                    cast,
                });
                lasting(slot)
            }
            (_, Known::Tensor { dtype: own, .. }) if *own == dtype => lasting(places[at]),
            (_, Known::Tensor { dtype: own, .. }) => {
                let slot = self.place(false, dtype);
                self.cast(*own, dtype, places[at], slot);
                Read {
                    slot,
                    passing: true,
                }
            }
        }
    }

    fn cast(&mut self, from: DType, to: DType, source: BlockIndex, out: BlockIndex) {
        self.steps.push(BlockLoop::Cast {
            cast: Cast::new(from, to),
            out,
            from: source,
            sizes: [from.size() as isize, to.size() as isize],
        });
    }

    /// Returns a block for a new value: the result itself, a free block, or a new one.
    fn place(&mut self, last: bool, dtype: DType) -> BlockIndex {
        if last {
            return 0;
        }
        match self.free.pop() {
            Some(slot) => {
                let size = &mut self.slots[slot - 1];
                *size = (*size).max(dtype.size());
                slot
            }
            None => self.fresh(dtype),
        }
    }

    fn fresh(&mut self, dtype: DType) -> BlockIndex {
        self.slots.push(dtype.size());
        self.slots.len()
    }

    fn release(&mut self, value: Read) {
        if value.passing {
            self.free.push(value.slot);
        }
    }
}

struct Read {
    slot: BlockIndex,
    /// Whether only one step reads the block.
    passing: bool,
}
