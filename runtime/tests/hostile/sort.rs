//! Order, and counts.

use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call;

use super::draw::Draw;

calls! { call:
    sort(op(&[Op::Sort, Op::Argsort, Op::Msort]), _, _, _);
    topk(op(&[Op::Topk]), _, _, _, _);
    kthvalue(_, _, _, _);
    typical(op(&[Op::Median, Op::Nanmedian, Op::Mode]), _, _, _);
    typical_of_all(op(&[Op::Median, Op::Nanmedian]), _);
    running_extreme(op(&[Op::Cummax, Op::Cummin]), _, _);
    unique(op(&[Op::Unique, Op::UniqueConsecutive]), _, _, _);
    searchsorted(op(&[Op::Searchsorted, Op::Bucketize]), _, _, sorter(), _);
    bincount(ranks(), _, size());
    histc(float(), _, _, _);
    isin(_, _, _);
    quantile(op(&[Op::Quantile, Op::Nanquantile]), float(), shares(), _, _);
}

impl<'a> Draw<'a, '_> {
    fn sorter(&mut self) -> Option<&'a Raw> {
        self.bytes.once_in(2).then(|| {
            let sizes = self.base.clone();
            self.index_of(&sizes)
        })
    }

    fn ranks(&mut self) -> &'a Raw {
        let size = self.base.last().copied().unwrap_or(2);
        self.base = vec![size];
        self.index_of(&[size])
    }

    /// Returns numbers of the operand's dtype.
    fn shares(&mut self) -> &'a Raw {
        let sizes = vec![3; self.bytes.below(3)];
        self.of(&sizes)
    }
}
