//! Elementwise operators, alone and in chains.

use nomina_core::op::{Class, Op};
use nomina_core::{DType, Result};
use nomina_runtime::call::{
    self, AdagradOptions, AdamOptions, Arg, AverageOptions, FusedReduction, LionOptions, Node,
    RmsPropOptions, SgdOptions, StepParam, StepRule,
};
use nomina_runtime::raw::Raw;

use super::draw::Draw;
use super::given::Given;
use super::make;

calls! { call:
    pointwise(map_op(), map_args());
    pointwise_unlike(map_op(), map_args());
    pointwise_as(map_op(), map_args(), _);
    pointwise_owned(map_op(), _, map_rest());
    pointwise_reusing(map_op(), map_rest(), _, map_rest());
    pointwise_in_place(map_op(), _, map_rest());
    pointwise_into(map_op(), _, map_args());
    small_unary(map_op(), _);
    small_binary(map_op(), _, _);
    small_same_shape(map_op(), _, _);
    small_repeating(map_op(), _, _);
    small_unary_in_place(map_op(), _);
    small_binary_in_place(map_op(), _, _, _);
    result_dtype(map_op(), map_args());
    clamp(_, _, _);
    clamp_bounds(_, size(), _, _);
    equal(_, _);
    fused(program(), few(), numbers_of_program());
    fused_small(program(), few_alike(), numbers_of_program());
    fused_reduce(program(), few(), numbers_of_program(), _, reduction());
    in_place_of(map_op(), _, _);
    adamw |d| { step(d, &AdamOptions::adamw()) };
    sgd |d| { step(d, &SgdOptions::default()) };
    sgd_momentum |d| { step(d, &SgdOptions { momentum: 0.9, ..SgdOptions::default() }) };
    rmsprop |d| { step(d, &RmsPropOptions { centered: true, momentum: 0.9, ..RmsPropOptions::default() }) };
    adagrad |d| { step(d, &AdagradOptions::default()) };
    lion |d| { step(d, &LionOptions::default()) };
    average |d| { step(d, &AverageOptions { decay: 0.9 }) };
}

fn step<O: StepRule>(d: &mut Draw<'_, '_>, options: &O) -> Result<()> {
    let mut param = d.x().clone();
    let words = options.words(param.shape());
    let mut state: Vec<Raw> = words.iter().map(|_| d.x().clone()).collect();
    let (grad, step) = (d.x(), d.bytes.word() % 3);
    let of = StepParam {
        param: param.as_mut()?,
        grad,
        state: &mut state,
        step,
        options,
    };
    O::step("step", &mut [of])
}

impl<'a> Draw<'a, '_> {
    fn map_op(&mut self) -> Op {
        for _ in 0..40 {
            let op = self.bytes.pick(Op::ALL);
            if matches!(
                op.row().class,
                Class::Unary(_) | Class::Binary(_) | Class::Ternary(_)
            ) {
                return op;
            }
        }
        self.bytes.pick(&[Op::Add, Op::Where, Op::Matmul])
    }

    fn map_args(&mut self) -> &'a [Arg<'a>] {
        self.map_list(1)
    }

    fn map_rest(&mut self) -> &'a [Arg<'a>] {
        self.map_list(0)
    }

    fn map_list(&mut self, least: usize) -> &'a [Arg<'a>] {
        let count = least + self.bytes.pick(&[0, 0, 1, 1, 1, 2, 2, 3]);
        let list = (0..count).map(|_| Given::given(self)).collect();
        self.lent.args.lend(list)
    }

    fn few(&mut self) -> &'a [&'a Raw] {
        let count = self.bytes.pick(&[2, 2, 2, 2, 1, 3, 0]);
        let list = (0..count).map(|_| self.x()).collect();
        self.lent.tensors.lend(list)
    }

    /// Returns mostly row-major floats of a few equal sizes, which short chains accept.
    fn few_alike(&mut self) -> &'a [&'a Raw] {
        if self.bytes.below(4) == 0 {
            return self.few();
        }
        let sizes: Vec<usize> = self.base.iter().take(2).map(|&n| n.min(8)).collect();
        let list = (0..2)
            .map(|_| {
                let raw = make::tensor(self.bytes, &sizes, DType::F32);
                self.lend(call::contiguous(&raw).unwrap_or(raw))
            })
            .collect();
        self.lent.tensors.lend(list)
    }

    fn numbers_of_program(&mut self) -> &'a [nomina_core::Scalar] {
        let count = self.bytes.pick(&[2, 2, 2, 2, 1, 3, 0]);
        let list = (0..count).map(|_| Given::given(self)).collect();
        self.own.scalars.lend(list)
    }

    /// Returns steps that mostly refer to earlier ones.
    fn program(&mut self) -> &'a [Node<'a>] {
        // Few dtypes, so that most programs are a single pass.
        if self.bytes.below(2) == 0 {
            self.dtype = DType::F32;
        }
        let mut nodes = Vec::new();
        for at in 0..self.bytes.pick(&[3, 3, 3, 4, 4, 5, 7, 1, 0]) {
            // Mostly the previous steps, so that each is used.
            let earlier = |bytes: &mut super::Bytes<'_>, arg: usize| match bytes.below(24) {
                0 => bytes.pick(&[at, at + 1, 16, usize::MAX, 1 << 40]),
                1..=4 => bytes.below(at),
                _ => at.saturating_sub(arg + 1),
            };
            let of = |bytes: &mut super::Bytes<'_>| match bytes.below(24) {
                0 => bytes.pick(&[3, usize::MAX]),
                _ => bytes.below(2),
            };
            let node = match self.bytes.below(if at < 2 { 3 } else { 9 }) {
                0 | 1 => Node::Tensor(of(self.bytes)),
                2 => Node::Scalar(of(self.bytes)),
                3 => Node::To(self.bytes.pick(&DType::ALL), earlier(self.bytes, 0)),
                _ => {
                    let op = self.map_op();
                    let arity = match op.row().class {
                        Class::Unary(_) => 1,
                        Class::Binary(_) => 2,
                        _ => 3,
                    };
                    let count = if self.bytes.once_in(8) {
                        self.bytes.below(5)
                    } else {
                        arity
                    };
                    let args = (0..count).map(|arg| earlier(self.bytes, arg)).collect();
                    Node::Apply(op, self.own.sizes.lend(args))
                }
            };
            nodes.push(node);
        }
        self.lent.nodes.lend(nodes)
    }

    fn reduction(&mut self) -> FusedReduction<'a> {
        FusedReduction {
            op: self.op(super::reduce::REDUCE),
            dims: self.dims(),
            keepdim: Given::given(self),
        }
    }
}
