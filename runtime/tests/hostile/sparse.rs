//! Sparse tensors.

use nomina_core::DType;
use nomina_core::op::{Class, Op};
use nomina_runtime::call;
use nomina_runtime::raw::{Raw, RawCoo};

use super::draw::Draw;

calls! { call:
    coalesce(_);
    to_dense(_);
    to_sparse(_, _);
    sparse_mask(_, _);
    sparse_add(op(&[Op::Add, Op::Sub]), _, _, _);
    add_dense(op(&[Op::Add, Op::Sub]), _, _, _);
    sparse_mul(_, _);
    mul_dense(_, _);
    sparse_map(sparse_op(), _, scalars());
    sparse_to_dtype(_, _);
    sparse_sum(_, _, _, _);
    sparse_permute(_, _, _);
    sparse_product(_, _, _);
}

impl<'a> Draw<'a, '_> {
    /// Returns a sparse tensor with the call's sizes or other ones: at most a few entries, some of
    /// them duplicates.
    pub fn coo(&mut self) -> &'a RawCoo {
        let shape = super::make::mostly(self.bytes, &self.base.clone());
        let sparse = self.bytes.below(shape.len() + 1);
        let (front, back) = shape.split_at(sparse);
        let count = if front.contains(&0) {
            0
        } else {
            self.bytes.below(6)
        };
        let at: Vec<i64> = front
            .iter()
            .flat_map(|&size| {
                (0..count)
                    .map(|_| self.bytes.below(size) as i64)
                    .collect::<Vec<_>>()
            })
            .collect();
        let indices = Raw::from_vec(at, &[sparse, count]).expect("an index for each dim");
        let sizes: Vec<usize> = [count].iter().chain(back).copied().collect();
        let dtype = super::make::dtype_near(self.bytes, self.dtype);
        let values = super::make::tensor(self.bytes, &sizes, dtype);
        let coo = RawCoo::new("hostile", &indices, &values, Some(&shape)).or_else(|_| {
            // Huge values next to a size of zero do not fit.
            let values = Raw::zeros("hostile", &sizes, dtype, nomina_runtime::Device::Cpu)?;
            RawCoo::new("hostile", &indices, &values, Some(&shape))
        });
        let coo = coo.expect("indices within the sizes");
        self.lend_sparse(coo)
    }

    fn sparse_op(&mut self) -> Op {
        if self.dtype == DType::Bool {
            return Op::Neg;
        }
        let ops: Vec<Op> = Op::ALL
            .iter()
            .copied()
            .filter(|op| matches!(op.row().class, Class::Unary(_) | Class::Binary(_)))
            .collect();
        self.op(&ops)
    }
}
