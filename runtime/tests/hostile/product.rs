//! Products of matrices and vectors.

use nomina_core::DType;
use nomina_core::op::Op;
use nomina_runtime::Raw;
use nomina_runtime::call;

use super::draw::Draw;
use super::make;

calls! { call:
    mm(matrix(), matrix());
    mv(matrix(), ranked(1));
    dot(ranked(1), ranked(1));
    bmm(ranked(3), ranked(3));
    matmul(_, _);
    add_product(op(&[Op::Addmm, Op::Addmv, Op::Addbmm, Op::Baddbmm]), _, matrix(), matrix(), _, _);
    contract(op(&[Op::Tensordot, Op::Matmul]), _, _, pairs(), pairs());
    einsum(tensors(), letters(), numbers(2));
    linear(_, matrix(), _, _, _);
    add_bias(op(&[Op::Linear]), _, _);
    outer(ranked(1), ranked(1));
    inner(_, _);
    vdot(ranked(1), ranked(1));
    vecdot(_, _, _);
    kron(_, _);
    trace(matrix());
    matrix_power(matrix(), _);
    multi_dot(matrices());
    tensordot(_, _, pairs());
    cross(_, _, _);
    cdist(_, _, _, _);
    attention(attended(), attended(), attended(), _, _);
    recurrent(_, gates(), weight_and_state(), recurrent_bias(), recurrent_cell(), directions());
    multiplies_bytes(_);
    quantized_matmul(quantized(), quantized(), zero_points());
}

impl<'a> Draw<'a, '_> {
    /// Returns a matrix, mostly square.
    fn matrix(&mut self) -> &'a Raw {
        let size = self.base.first().copied().unwrap_or(2).min(20);
        let wide = if self.bytes.once_in(4) {
            self.bytes.below(5)
        } else {
            size
        };
        self.of(&[size, wide])
    }

    /// Returns a matrix, mostly of bytes.
    fn quantized(&mut self) -> &'a Raw {
        if !self.bytes.once_in(8) {
            self.dtype = self.bytes.pick(&[DType::U8, DType::I8]);
        }
        self.matrix()
    }

    fn zero_points(&mut self) -> [Option<&'a Raw>; 2] {
        let size = self.base.first().copied().unwrap_or(2).min(20);
        [[size, 1], [1, size]].map(|shape| match self.bytes.below(3) {
            0 => None,
            1 => Some(self.of(&[])),
            _ => Some(self.of(&shape)),
        })
    }

    fn matrices(&mut self) -> &'a [&'a Raw] {
        let list = (0..self.bytes.below(5)).map(|_| self.matrix()).collect();
        self.lent.tensors.lend(list)
    }

    /// Returns the letters of each operand's dims.
    fn letters(&mut self) -> &'a [&'a [usize]] {
        let rank = self.base.len();
        let list = (0..self.bytes.below(5))
            .map(|_| {
                let from = self.bytes.below(2);
                let list = match self.bytes.below(4) {
                    0 => return self.numbers(rank),
                    _ => (from..from + rank).collect(),
                };
                &self.own.sizes.lend(list)[..]
            })
            .collect();
        self.lent.lists.lend(list)
    }

    /// Returns a tensor of `f32` of these sizes, mostly without a gradient.
    fn part(&mut self, sizes: &[usize]) -> &'a Raw {
        self.dtype = DType::F32;
        if self.bytes.once_in(8) {
            return self.of(sizes);
        }
        let raw = make::tensor(self.bytes, sizes, DType::F32);
        self.lend(raw)
    }

    /// Returns the gates of both directions, of steps, a batch, and three or four gates of two elements.
    fn gates(&mut self) -> &'a [&'a Raw] {
        let sizes = [1 + self.bytes.below(3), 2, self.bytes.pick(&[6, 8])];
        self.base = sizes.to_vec();
        let list = (0..2).map(|_| self.part(&sizes)).collect();
        self.lent.tensors.lend(list)
    }

    fn weight_and_state(&mut self) -> [&'a Raw; 2] {
        let rows = self.base[2];
        [self.part(&[2, rows, 2]), self.part(&[2, 2, 2])]
    }

    fn recurrent_bias(&mut self) -> Option<&'a Raw> {
        let rows = self.base[2];
        (!self.bytes.once_in(2)).then(|| self.part(&[2, rows]))
    }

    /// Returns the cell state of an LSTM, mostly if there are four gates.
    fn recurrent_cell(&mut self) -> Option<&'a Raw> {
        let is_lstm = self.base[2] == 8;
        (is_lstm != self.bytes.once_in(8)).then(|| self.part(&[2, 2, 2]))
    }

    fn directions(&mut self) -> &'static [bool] {
        self.bytes
            .pick::<&'static [bool]>(&[&[false, true], &[true, true], &[false]])
    }

    fn attended(&mut self) -> &'a Raw {
        if !self.dtype.is_float() {
            self.dtype = DType::F32;
        }
        self.x()
    }
}
