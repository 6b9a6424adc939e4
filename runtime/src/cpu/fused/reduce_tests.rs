//! Tests that a fused reduction is bitwise equal to the reduction of the stored chain.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};

use super::tests::{DTYPES, Dice, operand, tensor, told};
use crate::Raw;
use crate::call::{FusedReduction, ReduceOptions, fused, fused_reduce, reduce};
use crate::job::Node;

const OPS: [Op; 13] = [
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
    Op::CountNonzero,
    Op::Norm,
];

/// Computes the reduction both ways and compares; returns whether it succeeded.
fn same(
    program: &[Node<'_>],
    tensors: &[&Raw],
    numbers: &[Scalar],
    by: FusedReduction<'_>,
) -> bool {
    let expected = fused(program, tensors, numbers)
        .and_then(|whole| reduce(by.op, &whole, by.dims, by.keepdim, ReduceOptions::default()));
    let got = fused_reduce(program, tensors, numbers, None, by);
    match (expected, got) {
        (Ok(expected), Ok(got)) => {
            assert_eq!(told(&got), told(&expected), "{program:?} {by:?}");
            true
        }
        (Err(expected), Err(got)) => {
            assert_eq!(got.to_string(), expected.to_string());
            false
        }
        (expected, got) => panic!("{expected:?} and {got:?}"),
    }
}

#[test]
fn every_reduction_over_any_dims_in_every_dtype() {
    let mut dice = Dice(11);
    let mut computed = 0;
    for round in 0..312 {
        let tensors = [operand(&mut dice), operand(&mut dice)];
        let whole = tensor(&mut dice, &[5, 300, 4], DTYPES[round % 12]);
        let tensors = [&whole, &tensors[0], &tensors[1]];
        let program = [
            Node::Tensor(0),
            Node::Tensor(1),
            Node::Tensor(2),
            Node::Scalar(0),
            Node::Apply([Op::Add, Op::Mul, Op::Maximum][dice.roll(3)], &[0, 1]),
            Node::Apply(Op::Mul, &[4, 3]),
            Node::Apply([Op::Add, Op::Lt][dice.roll(2)], &[5, 2]),
        ];
        let length = [5, 7, 6][dice.roll(3)];
        let mark = 1 + dice.roll(7);
        let dims: Vec<usize> = (0..3).filter(|dim| mark >> dim & 1 == 1).collect();
        let by = FusedReduction {
            op: OPS[round % OPS.len()],
            dims: &dims,
            keepdim: dice.roll(2) == 0,
        };
        let numbers = [Scalar::Float(1.5)];
        computed += usize::from(same(&program[..length], &tensors, &numbers, by));
    }
    assert!(computed > 180, "{computed}");
}

const CHAIN: [Node<'static>; 7] = [
    Node::Tensor(0),
    Node::Tensor(1),
    Node::Scalar(0),
    Node::Apply(Op::Mul, &[0, 1]),
    Node::Apply(Op::Sub, &[3, 2]),
    Node::Apply(Op::Tanh, &[4]),
    Node::Apply(Op::Add, &[5, 0]),
];

#[test]
fn every_way_to_walk() {
    let mut dice = Dice(5);
    let large: [&[usize]; 7] = [
        &[40, 2000],
        &[700, 90],
        &[3, 25_000],
        &[25_000, 3],
        &[9, 9000],
        &[6, 20, 600],
        &[70_000],
    ];
    let small: [&[usize]; 7] = [
        &[70, 70],
        &[200, 9],
        &[200, 7, 5],
        &[1, 300],
        &[300, 1],
        &[1],
        &[],
    ];
    let wide = large.iter().map(|shape| (*shape, &[DType::F32][..]));
    let any = [DType::F32, DType::F16, DType::F64, DType::I32];
    for (shape, dtypes) in wide.chain(small.iter().map(|shape| (*shape, &any[..]))) {
        for &dtype in dtypes {
            let x = tensor(&mut dice, shape, dtype);
            let row = tensor(&mut dice, &shape[shape.len().saturating_sub(1)..], dtype);
            for mark in 0..1_usize << shape.len() {
                let dims: Vec<usize> = (0..shape.len())
                    .filter(|dim| mark >> dim & 1 == 1)
                    .collect();
                let by = FusedReduction {
                    op: [Op::Sum, Op::Logsumexp][mark % 2],
                    dims: &dims,
                    keepdim: false,
                };
                assert!(same(&CHAIN, &[&x, &row], &[Scalar::Float(0.5)], by));
            }
        }
    }
}

#[test]
fn other_layouts() {
    let mut dice = Dice(6);
    let x = tensor(&mut dice, &[40, 30, 50], DType::F32);
    let turned = x.transpose(0, 2).unwrap();
    let part = turned.narrow(1, 3, 20).unwrap();
    let row = tensor(&mut dice, &[40], DType::F32);
    for x in [&x.transpose(1, 2).unwrap(), &turned, &part] {
        let last = x.shape()[2];
        let row = if last == 40 {
            row.clone()
        } else {
            tensor(&mut dice, &[last], DType::F32)
        };
        for dims in [&[0][..], &[1], &[2], &[0, 2], &[0, 1, 2]] {
            let by = FusedReduction {
                op: Op::Mean,
                dims,
                keepdim: true,
            };
            assert!(same(&CHAIN, &[x, &row], &[Scalar::Int(2)], by));
        }
    }
}

#[test]
fn nothing_to_reduce_and_mistakes() {
    let empty = Raw::from_vec(Vec::<f32>::new(), &[0, 3]).unwrap();
    let row = Raw::from_vec(vec![1.0_f32, 2.0, 3.0], &[3]).unwrap();
    let by = |op, dims| FusedReduction {
        op,
        dims,
        keepdim: false,
    };
    let numbers = [Scalar::Float(0.5)];
    assert!(same(&CHAIN, &[&empty, &row], &numbers, by(Op::Sum, &[0])));
    assert!(!same(&CHAIN, &[&empty, &row], &numbers, by(Op::Amax, &[0])));
    assert!(!same(&CHAIN, &[&row, &row], &numbers, by(Op::Sum, &[1])));
    assert!(!same(&CHAIN, &[&row, &row], &numbers, by(Op::Sum, &[0, 0])));
    let alone = [Node::Tensor(0)];
    assert!(same(&alone, &[&row], &[], by(Op::Sum, &[0])));
}

#[test]
#[cfg(feature = "rayon")]
fn any_number_of_threads() {
    let mut dice = Dice(9);
    let x = tensor(&mut dice, &[300, 501], DType::F32);
    let row = tensor(&mut dice, &[501], DType::F32);
    for dims in [&[0][..], &[1], &[0, 1]] {
        let by = FusedReduction {
            op: Op::Sum,
            dims,
            keepdim: false,
        };
        let numbers = [Scalar::Float(0.5)];
        let sum = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
            let pool = pool.build().unwrap();
            pool.install(|| told(&fused_reduce(&CHAIN, &[&x, &row], &numbers, None, by).unwrap()))
        };
        let one = sum(1);
        assert_eq!(sum(2), one);
        assert_eq!(sum(4), one);
    }
}
