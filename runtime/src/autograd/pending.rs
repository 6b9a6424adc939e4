//! Sums of the gradients that arrive at a node, and the nodes that wait for theirs.

use std::collections::BTreeMap;

use nomina_core::op::Op;
use nomina_core::{DType, Result};

use crate::SmallVec;
use crate::call::{Arg, pointwise_owned, to_dtype};
use crate::dispatch::accumulator;
use crate::memory::NoMemory;
use crate::memory::scratch::{push, reserve};
use crate::raw::Raw;
use crate::raw::graph::{Chain, NodeRef, ResultGrads};

/// The number of additions in a gradient's own precision, before their sum is added to a total in `f64`.
const RUN: u32 = 16;

/// The most slots that a thread keeps for its next pass.
const KEPT_SLOTS: usize = 256;

/// The gradients that have arrived at a node so far.
pub(super) struct Pending {
    pub(super) node: NodeRef,
    pub(super) given: ResultGrads,
    /// The deferred gradient of its only result; `given` is empty then.
    pub(super) chain: Option<Box<dyn Chain>>,
    /// The outputs whose sums are wider than their gradients.
    widened: SmallVec<[WideSum; 1]>,
    /// The number of additions so far.
    additions: u32,
}

/// A sum that is accumulated in wider dtypes than its gradient's.
struct WideSum {
    output: usize,
    /// The dtype of the gradient.
    dtype: DType,
    /// The sum of earlier runs of additions.
    total: Option<Raw>,
}

/// Nodes with gradients that have arrived, by their clocks.
#[derive(Default)]
pub(super) struct Waiting {
    /// The slot of each node. Entries are small, so that a block of the map is a small allocation.
    order: BTreeMap<(u64, usize), usize>,
    slots: Vec<Option<Pending>>,
    /// Slots without a node.
    free: Vec<usize>,
}

impl Waiting {
    /// Returns the entry of a node, which is created without gradients.
    ///
    /// # Errors
    /// If there is no memory for another node.
    pub(super) fn entry(&mut self, node: &NodeRef) -> Result<&mut Pending> {
        let key = (node.clock(), node.address());
        let slot = match self.order.get(&key) {
            Some(&slot) => slot,
            None => {
                let slot = self.free_slot().map_err(|error| error.in_op("backward"))?;
                self.order.insert(key, slot);
                slot
            }
        };
        Ok(self.slots[slot].get_or_insert_with(|| Pending::new(node)))
    }

    fn free_slot(&mut self) -> Result<usize, NoMemory> {
        if let Some(slot) = self.free.pop() {
            return Ok(slot);
        }
        let slot = self.slots.len();
        push(&mut self.slots, None)?;
        // Room for all slots, so that `pop_last` need not allocate.
        if self.free.capacity() <= slot {
            reserve(&mut self.free, self.slots.capacity())?;
        }
        Ok(slot)
    }

    /// Returns itself without nodes, for another pass; `None` if it grew large.
    pub(super) fn emptied(self) -> Option<Self> {
        (self.order.is_empty() && self.slots.capacity() <= KEPT_SLOTS).then_some(self)
    }

    /// Takes the latest node.
    pub(super) fn pop_last(&mut self) -> Option<Pending> {
        let (_, slot) = self.order.pop_last()?;
        self.free.push(slot);
        self.slots[slot].take()
    }
}

impl Pending {
    pub(super) fn new(node: &NodeRef) -> Self {
        Self {
            node: NodeRef::from_node(node),
            given: ResultGrads::new(),
            chain: None,
            widened: SmallVec::new(),
            additions: 0,
        }
    }

    /// Computes the deferred gradient, if there is one.
    pub(super) fn settle(&mut self) -> Result<()> {
        if let Some(chain) = self.chain.take() {
            self.given.push(Some(chain.compute()?));
        }
        Ok(())
    }

    /// Adds a gradient of an output.
    pub(super) fn add(&mut self, output: usize, grad: Raw) -> Result<()> {
        while self.given.len() <= output {
            self.given.push(None);
        }
        self.given[output] = match self.given[output].take() {
            None => Some(grad),
            Some(before) => {
                let wide = sum_dtype(before.dtype());
                let before = self.widen(output, before, wide)?;
                let sum = add_gradients(before, &grad)?;
                if self.ends_run() {
                    self.carry(output, sum)?
                } else {
                    Some(sum)
                }
            }
        };
        Ok(())
    }

    /// Counts an addition, and returns how many there are.
    pub(super) fn count_addition(&mut self) -> u32 {
        self.additions = self.additions.saturating_add(1);
        self.additions
    }

    /// Counts an addition, and returns whether a run ends with it.
    pub(super) fn ends_run(&mut self) -> bool {
        self.count_addition().is_multiple_of(RUN)
    }

    /// Adds the sum of a run to the total. Returns the sum if its dtype is the widest already.
    pub(super) fn carry(&mut self, output: usize, sum: Raw) -> Result<Option<Raw>> {
        let wide = accumulator(sum.dtype());
        if wide == sum.dtype() {
            return Ok(Some(sum));
        }
        let dtype = sum.dtype();
        let sum = to_dtype(&sum, wide)?;
        let widened = self.widened(output, dtype);
        widened.total = Some(match widened.total.take() {
            Some(total) => add_gradients(total, &sum)?,
            None => sum,
        });
        Ok(None)
    }

    /// Returns the entry of an output, which is created with the gradient's dtype.
    fn widened(&mut self, output: usize, dtype: DType) -> &mut WideSum {
        let found = self.widened.iter().position(|known| known.output == output);
        let at = found.unwrap_or_else(|| {
            self.widened.push(WideSum {
                output,
                dtype,
                total: None,
            });
            self.widened.len() - 1
        });
        &mut self.widened[at]
    }

    /// Converts a sum to the dtype in which it is accumulated further.
    pub(super) fn widen(&mut self, output: usize, sum: Raw, wide: DType) -> Result<Raw> {
        if wide == sum.dtype() {
            return Ok(sum);
        }
        self.widened(output, sum.dtype());
        to_dtype(&sum, wide)
    }

    /// Rounds sums that were accumulated in a wider dtype.
    pub(super) fn round(&mut self) -> Result<()> {
        if self.widened.is_empty() {
            return Ok(());
        }
        self.settle()?;
        for WideSum {
            output,
            dtype,
            total,
        } in std::mem::take(&mut self.widened)
        {
            while self.given.len() <= output {
                self.given.push(None);
            }
            let sum = match (total, self.given[output].take()) {
                (Some(total), Some(rest)) => {
                    let rest = to_dtype(&rest, total.dtype())?;
                    Some(add_gradients(total, &rest)?)
                }
                (total, rest) => total.or(rest),
            };
            self.given[output] = sum.map(|sum| to_dtype(&sum, dtype)).transpose()?;
        }
        Ok(())
    }
}

/// Returns the dtype in which few gradients are added: sums of 16 bits stop at a few hundred equal terms.
pub(super) fn sum_dtype(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        other => other,
    }
}

/// Adds two gradients, in the buffer of the first if nothing shares it.
fn add_gradients(before: Raw, grad: &Raw) -> Result<Raw> {
    pointwise_owned(Op::Add, before, &[Arg::Tensor(grad)])
}
