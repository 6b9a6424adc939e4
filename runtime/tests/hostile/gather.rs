//! Gathers and scatters.

use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call::{self, Target};

use super::draw::Draw;
use super::given::Given;

calls! { call:
    gather(op(&[Op::Gather]), _, _, index());
    index(_, _, indices());
    index_put(_, _, indices(), alike(), _);
    index_select(op(&[Op::IndexSelect]), _, _, index());
    index_update(op(&[Op::IndexAdd, Op::IndexCopy, Op::IndexFill]), _, _, index(), alike(), _, _);
    scatter(op(&[Op::Scatter, Op::ScatterAdd]), _, _, index(), alike(), _);
    put(op(&[Op::Put]), _, index(), alike(), _);
    reduced(op(&[Op::ScatterReduce, Op::IndexReduce]), _, target(), alike(), _, _);
    take(_, index());
    one_hot(index(), size());
    classes(index());
    unravel(index(), sizes());
    from_mask(mask());
    nonzero(op(&[Op::Nonzero]), _);
    masked_scatter(_, mask(), alike());
    masked_select(_, mask());
    cat(tensors(), _);
    stack(tensors(), _);
}

impl<'a> Draw<'a, '_> {
    fn indices(&mut self) -> &'a [&'a Raw] {
        let (count, sizes) = (self.bytes.below(4), self.bytes.below(3));
        let sizes: Vec<usize> = (0..sizes).map(|_| self.bytes.below(4)).collect();
        let list = (0..count).map(|_| self.index_of(&sizes)).collect();
        self.lent.tensors.lend(list)
    }

    fn target(&mut self) -> Target<'a> {
        Target {
            dim: self.dim(),
            index: self.index(),
            slices: Given::given(self),
        }
    }
}
