//! Tests that a program gives the same elements, dtype and layout as its separate steps.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use crate::call::{Arg, fused, pointwise, several};
use crate::config::with_default_dtype;
use crate::cpu::nontemporal::far;
use crate::job::Node;
use crate::{Raw, call};

/// A pseudo-random number generator.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) as usize % sides
    }
}

pub(super) const DTYPES: [DType; 12] = [
    DType::Bool,
    DType::U8,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::C64,
    DType::C128,
];

pub(super) fn tensor(dice: &mut Dice, shape: &[usize], dtype: DType) -> Raw {
    let n = shape.iter().product();
    let values: Vec<f64> = (0..n).map(|_| dice.roll(31) as f64 / 4.0 - 3.0).collect();
    let raw = Raw::from_vec(values, shape).unwrap();
    call::to_dtype(&raw, dtype).unwrap()
}

/// Formats the dtype, layout and elements for comparison; all NaNs have the same text.
pub(super) fn told(raw: &Raw) -> String {
    let plain = call::to_dtype(raw, DType::C128).unwrap();
    let values = plain.to_vec::<num_complex::Complex<f64>>().unwrap();
    format!(
        "{:?} {:?} {:?} {values:?}",
        raw.dtype(),
        raw.shape(),
        raw.strides()
    )
}

/// Computes the program both ways and compares; returns whether it succeeded.
fn same(program: &[Node<'_>], tensors: &[&Raw], numbers: &[Scalar]) -> bool {
    let mut values: Vec<Result<Raw, Scalar>> = Vec::new();
    let expected: nomina_core::Result<()> = program.iter().try_for_each(|node| {
        let value = match *node {
            Node::Tensor(at) => Ok(tensors[at].clone()),
            Node::Scalar(at) => Err(numbers[at]),
            Node::To(dtype, of) => Ok(call::to_dtype(values[of].as_ref().unwrap(), dtype)?),
            Node::Apply(op, args) => {
                let args: Vec<Arg<'_>> = args
                    .iter()
                    .map(|&at| match &values[at] {
                        Ok(raw) => Arg::Tensor(raw),
                        Err(value) => Arg::Scalar(*value),
                    })
                    .collect();
                Ok(pointwise(op, &args)?)
            }
        };
        values.push(value);
        Ok(())
    });
    let got = fused(program, tensors, numbers);
    // Small chains of floats do not take the path under test on their own.
    let long = several(program, tensors, numbers, &[]).map(|(out, _)| out);
    assert_eq!(
        got.as_ref().map(told).map_err(ToString::to_string),
        long.as_ref().map(told).map_err(ToString::to_string),
        "{program:?}"
    );
    match expected {
        Ok(()) => {
            let expected = values.pop().unwrap().unwrap();
            assert_eq!(told(&got.unwrap()), told(&expected), "{program:?}");
            // Intermediate results are stored, too.
            let applied = |at: &usize| matches!(program[*at], Node::Apply(..) | Node::To(..));
            let also: Vec<usize> = (0..values.len()).filter(applied).collect();
            let (out, others) = several(program, tensors, numbers, &also).unwrap();
            assert_eq!(told(&out), told(&expected), "{program:?}");
            for (at, other) in also.iter().zip(&others) {
                let Ok(own) = &values[*at] else { continue };
                let own = own.expand(expected.shape()).unwrap();
                assert_eq!(other.shape(), own.shape());
                // Layouts may differ.
                let rows = |x: &Raw| call::contiguous(x).unwrap().reshape(&[x.numel()]);
                let [other, own] = [other, &own].map(|x| rows(x).unwrap());
                assert_eq!(told(&other), told(&own), "step {at} of {program:?}");
            }
            true
        }
        Err(error) => {
            assert_eq!(
                got.unwrap_err().to_string(),
                error.to_string(),
                "{program:?}"
            );
            false
        }
    }
}

#[test]
fn every_operator_in_every_dtype() {
    let mut dice = Dice(1);
    let mut computed = 0;
    for &op in Op::ALL {
        let row = op.row();
        let Some((arity, _)) = row.expression() else {
            continue;
        };
        if row.numbers().next().is_some() {
            continue;
        }
        let args: Vec<usize> = (0..arity).collect();
        // Adds zero first, so that the operator reads a block.
        let more = [arity, 1, 2];
        for dtype in DTYPES {
            let condition =
                |at: usize| op == Op::Where && at == 0 || op == Op::MaskedFill && at == 1;
            let tensors: Vec<Raw> = (0..arity)
                .map(|at| {
                    let dtype = if condition(at) { DType::Bool } else { dtype };
                    tensor(&mut dice, &[3, 7], dtype)
                })
                .collect();
            let tensors: Vec<&Raw> = tensors.iter().collect();
            let mut program: Vec<Node<'_>> = args.iter().map(|&at| Node::Tensor(at)).collect();
            program.push(Node::Apply(op, &args));
            computed += usize::from(same(&program, &tensors, &[]));
            if !condition(0) {
                let double = [0, 0];
                program[arity] = Node::Apply(Op::Add, &double);
                program.push(Node::Apply(op, &more[..arity]));
                same(&program, &tensors, &[]);
            }
        }
    }
    assert!(computed > 600, "{computed}");
}

fn scalar(dice: &mut Dice) -> Scalar {
    match dice.roll(3) {
        0 => Scalar::Int(dice.roll(7) as i64 - 3),
        1 => Scalar::Float(dice.roll(9) as f64 / 2.0 - 2.0),
        _ => Scalar::Bool(dice.roll(2) == 1),
    }
}

/// Creates a tensor that broadcasts to (5, 300, 4), in a random layout.
pub(super) fn operand(dice: &mut Dice) -> Raw {
    let dtype = DTYPES[dice.roll(DTYPES.len())];
    let rank = dice.roll(4);
    let sizes = [5, 300, 4];
    let shape: Vec<usize> = sizes[3 - rank..]
        .iter()
        .map(|&size| if dice.roll(4) == 0 { 1 } else { size })
        .collect();
    match dice.roll(3) {
        0 if rank > 1 => {
            let mut turned = shape.clone();
            turned.swap(rank - 1, rank - 2);
            tensor(dice, &turned, dtype)
                .transpose(rank - 1, rank - 2)
                .unwrap()
        }
        1 if rank > 0 => {
            let mut wide = shape.clone();
            wide[rank - 1] += 2;
            let wide = tensor(dice, &wide, dtype);
            wide.narrow(rank - 1, 1, shape[rank - 1]).unwrap()
        }
        _ => tensor(dice, &shape, dtype),
    }
}

#[test]
fn random_expressions() {
    let ops: Vec<(Op, usize)> = Op::ALL
        .iter()
        .filter(|op| op.row().numbers().next().is_none())
        .filter_map(|&op| Some((op, op.row().expression()?.0)))
        .collect();
    let mut dice = Dice(7);
    let mut computed = 0;
    for _ in 0..400 {
        let tensors: Vec<Raw> = (0..1 + dice.roll(4)).map(|_| operand(&mut dice)).collect();
        let tensors: Vec<&Raw> = tensors.iter().collect();
        let numbers = [scalar(&mut dice), scalar(&mut dice)];
        let leaves = tensors.len() + numbers.len();
        let mut args: Vec<(Option<Op>, Vec<usize>)> = Vec::new();
        for at in leaves..leaves + 1 + dice.roll(5) {
            if dice.roll(6) == 0 {
                let of = if at == leaves { 0 } else { at - 1 };
                args.push((None, vec![of]));
                continue;
            }
            let (op, arity) = match dice.roll(2) {
                0 => [(Op::Add, 2), (Op::Mul, 2), (Op::Sub, 2), (Op::Tanh, 1)][dice.roll(4)],
                _ => ops[dice.roll(ops.len())],
            };
            let mut of: Vec<usize> = (0..arity).map(|_| dice.roll(at)).collect();
            of[0] = if at > leaves { at - 1 } else { 0 };
            args.push((Some(op), of));
        }
        let mut program: Vec<Node<'_>> = (0..tensors.len()).map(Node::Tensor).collect();
        program.extend((0..numbers.len()).map(Node::Scalar));
        for (op, of) in &args {
            program.push(match op {
                Some(op) => Node::Apply(*op, of),
                None => Node::To(DTYPES[dice.roll(DTYPES.len())], of[0]),
            });
        }
        computed += usize::from(same(&program, &tensors, &numbers));
    }
    assert!(computed > 120, "{computed}");
}

#[test]
fn long_ones_and_threads() {
    let mut dice = Dice(3);
    let x = tensor(&mut dice, &[300, 401], DType::F32);
    let row = tensor(&mut dice, &[401], DType::F64);
    let column = tensor(&mut dice, &[300, 1], DType::F32);
    let half = tensor(&mut dice, &[300, 401], DType::F16);
    let program = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Tensor(2),
        Node::Tensor(3),
        Node::Scalar(0),
        Node::Apply(Op::Mul, &[0, 1]),
        Node::Apply(Op::Exp, &[3]),
        Node::Apply(Op::Add, &[5, 6]),
        Node::Apply(Op::Mul, &[7, 2]),
        Node::Apply(Op::Lt, &[8, 4]),
        Node::Apply(Op::Where, &[9, 8, 7]),
    ];
    assert!(same(
        &program,
        &[&x, &row, &column, &half],
        &[Scalar::Float(0.5)]
    ));
}

#[test]
fn nothing_and_one_and_integers_by_zero() {
    let empty = Raw::from_vec(Vec::<f32>::new(), &[0, 3]).unwrap();
    let one = Raw::from_vec(vec![2_i64], &[]).unwrap();
    let many = Raw::from_vec(vec![4_i64, 0, 7], &[3]).unwrap();
    let add = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Apply(Op::Add, &[0, 1]),
    ];
    assert!(same(&add, &[&empty, &one], &[]));
    assert!(same(&add, &[&one, &one], &[]));
    let by = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Apply(Op::Add, &[0, 0]),
        Node::Apply(Op::Remainder, &[2, 1]),
    ];
    assert!(same(&by, &[&many, &one], &[]));
    assert!(!same(&by, &[&one, &many], &[]));
    let div = [
        Node::Tensor(0),
        Node::Scalar(0),
        Node::Apply(Op::Div, &[0, 1]),
    ];
    with_default_dtype(DType::F64, || {
        assert!(same(&div, &[&many], &[Scalar::Int(2)]))
    });
}

/// Creates a row-major tensor of `dtype` that broadcasts to `sizes`.
fn plain(dice: &mut Dice, sizes: &[usize], dtype: DType) -> Raw {
    let rank = dice.roll(sizes.len() + 1);
    let shape: Vec<usize> = sizes[sizes.len() - rank..]
        .iter()
        .map(|&size| if dice.roll(4) == 0 { 1 } else { size })
        .collect();
    tensor(dice, &shape, dtype)
}

#[test]
fn plain_tensors_of_one_float_dtype() {
    let ops: Vec<(Op, usize)> = Op::ALL
        .iter()
        .filter(|op| op.row().numbers().next().is_none())
        .filter_map(|&op| Some((op, op.row().expression()?.0)))
        .filter(|&(_, arity)| arity < 3)
        .collect();
    let sizes: [&[usize]; 6] = [
        &[3, 7, 40],
        &[2, 3, 700],
        &[4, 0, 5],
        &[3000],
        &[],
        &[2, 3, 2, 5, 6],
    ];
    let mut dice = Dice(17);
    let mut computed = 0;
    for round in 0..300 {
        let sizes = sizes[round % 6];
        let dtype = [DType::F32, DType::F64][dice.roll(2)];
        let tensors: Vec<Raw> = (0..3).map(|_| plain(&mut dice, sizes, dtype)).collect();
        let tensors: Vec<&Raw> = tensors.iter().collect();
        let number = [Scalar::Int(2), Scalar::Float(-0.5)][dice.roll(2)];
        let mut pick = |arity: usize| loop {
            let (op, of) = ops[dice.roll(ops.len())];
            if of == arity {
                return op;
            }
        };
        let program = [
            Node::Tensor(0),
            Node::Tensor(1),
            Node::Tensor(2),
            Node::Scalar(0),
            Node::Apply(pick(2), &[0, 1]),
            Node::Apply(pick(1), &[4]),
            Node::Apply(Op::Gt, &[0, 3]),
            Node::Apply(Op::Mul, &[1, 2]),
            Node::Apply(Op::Where, &[6, 7, 2]),
            Node::Apply(pick(2), &[8, 5]),
        ];
        computed += usize::from(same(&program, &tensors, &[number]));
    }
    assert!(computed > 100, "{computed}");
}

#[test]
fn beyond_the_cache() {
    // Rows are not whole cache lines, so that blocks begin anywhere in one.
    let shape = [4 * far() / 4 / 2501 + 3, 2501];
    let numel = shape[0] * shape[1];
    let values = |shift: usize| (0..numel).map(|i| ((i + shift) % 1021) as f32).collect();
    let x = Raw::from_vec::<f32>(values(0), &shape).unwrap();
    let y = Raw::from_vec::<f32>(values(5), &shape).unwrap();
    let row = Raw::from_vec((0..2501).map(|i| i as f32).collect(), &[2501]).unwrap();
    let program = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Tensor(2),
        Node::Apply(Op::Mul, &[0, 1]),
        Node::Apply(Op::Add, &[3, 2]),
    ];
    let got = fused(&program, &[&x, &y, &row], &[]).unwrap();
    let product = pointwise(Op::Mul, &[Arg::Tensor(&x), Arg::Tensor(&y)]).unwrap();
    let sum = pointwise(Op::Add, &[Arg::Tensor(&product), Arg::Tensor(&row)]).unwrap();
    assert!(got.to_vec::<f32>().unwrap() == sum.to_vec::<f32>().unwrap());
}
