//! Reductions, scans, and normalisations along dims.

use nomina_core::op::Op;
use nomina_runtime::call::{self, Entropy, Losses, Spacing};

use super::draw::Draw;
use super::given::Given;

pub const REDUCE: &[Op] = &[
    Op::Sum,
    Op::Mean,
    Op::Prod,
    Op::Amax,
    Op::Amin,
    Op::Any,
    Op::All,
    Op::Var,
    Op::Std,
    Op::Logsumexp,
    Op::Nansum,
    Op::Nanmean,
    Op::CountNonzero,
    Op::Norm,
    Op::Max,
    Op::Min,
];

calls! { call:
    reduce(op(REDUCE), _, _, _, _);
    arg_reduce(op(&[Op::Max, Op::Min]), _, _, _);
    arg_position(op(&[Op::Argmax, Op::Argmin]), _, _, _);
    scan(op(&[Op::Cumsum, Op::Cumprod, Op::Logcumsumexp]), _, _, _);
    softmax(op(&[Op::Softmax, Op::LogSoftmax, Op::Softmin]), float(), _, _);
    normalize(op(&[Op::LayerNorm, Op::BatchNorm, Op::RmsNorm, Op::GroupNorm]), float(), _, _, _, _);
    entropy(op(&[Op::CrossEntropy, Op::NllLoss]), float(), targets(), _, entropy(), losses());
    diff(_, _, _);
    trapezoid(op(&[Op::Trapezoid, Op::CumulativeTrapezoid]), _, spacing(), _, _);
    cov(op(&[Op::Cov]), _, _, weights(), weights());
    corrcoef(_);
    renorm(float(), _, _, _);
}

impl<'a> Draw<'a, '_> {
    /// Returns targets with the sizes without one dim.
    fn targets(&mut self) -> &'a nomina_runtime::Raw {
        let mut sizes = self.base.clone();
        if !sizes.is_empty() {
            sizes.remove(self.bytes.below(sizes.len()));
        }
        self.index_of(&sizes)
    }

    fn losses(&mut self) -> Losses {
        [Losses::Each, Losses::Sum, Losses::Mean][self.bytes.below(3)]
    }

    fn entropy(&mut self) -> Entropy<'a> {
        let classes = self.base.first().copied().unwrap_or(1);
        Entropy {
            logits: Given::given(self),
            weight: self.bytes.once_in(3).then(|| self.vector(classes)),
            ignore_index: Given::given(self),
            smoothing: Given::given(self),
        }
    }

    fn spacing(&mut self) -> Spacing<'a> {
        if self.bytes.below(2) == 0 {
            return Spacing::Even(Given::given(self));
        }
        let size = self.base.last().copied().unwrap_or(1);
        Spacing::At(if self.bytes.below(2) == 0 {
            self.x()
        } else {
            self.vector(size)
        })
    }

    fn weights(&mut self) -> Option<&'a nomina_runtime::Raw> {
        let size = self.base.last().copied().unwrap_or(1);
        self.bytes.once_in(2).then(|| self.index_of(&[size]))
    }
}
