//! Chains of elementwise operators, in one pass and step by step.

use nomina_core::op::Op;
use nomina_core::{DType, Scalar};
use nomina_runtime::call::{self, Arg, Node};
use nomina_runtime::grad::{BackwardOptions, backward};
use nomina_runtime::raw::Raw;

use super::bytes::Bytes;

const UNARY: [Op; 12] = [
    Op::Tanh,
    Op::Sin,
    Op::Sigmoid,
    Op::Erf,
    Op::Atan,
    Op::Exp,
    Op::Square,
    Op::Abs,
    Op::Neg,
    Op::Relu,
    Op::Log1p,
    Op::Sqrt,
];
const BINARY: [Op; 6] = [Op::Add, Op::Sub, Op::Mul, Op::Maximum, Op::Div, Op::Atan2];

/// The number of unary and of binary operators, from the start of the lists, whose derivatives are moderate. With large
/// terms that cancel, only the order of summation would be compared.
const MODERATE: (usize, usize) = (5, 4);

/// An operation on earlier steps.
#[derive(Debug)]
enum Step {
    Tensor(usize),
    Number(usize),
    Apply(Op, Vec<usize>),
}

#[derive(Debug)]
struct Chain {
    steps: Vec<Step>,
    shapes: Vec<Vec<usize>>,
    numbers: Vec<f64>,
    dtype: DType,
}

/// Generates a chain of twelve operators. With `repeats`, some operands broadcast to the result's sizes; otherwise all
/// have those sizes.
fn chain(bytes: &mut Bytes<'_>, repeats: bool) -> Chain {
    // Either large enough that slow steps are stored, or small enough for blocks on the stack.
    let whole: &[usize] = if bytes.once_in(3) { &[64, 80] } else { &[3, 5] };
    let mut steps = Vec::new();
    let mut shapes = Vec::new();
    for at in 0..1 + bytes.below(3) {
        let repeated = repeats && at > 0;
        let cut = if repeated {
            [vec![whole[1]], vec![whole[0], 1], vec![]][bytes.below(3)].clone()
        } else {
            whole.to_vec()
        };
        shapes.push(cut);
        steps.push(Step::Tensor(at));
    }
    let (unary, binary) = if repeats {
        (&UNARY[..MODERATE.0], &BINARY[..MODERATE.1])
    } else {
        (&UNARY[..], &BINARY[..])
    };
    let mut numbers = Vec::new();
    for _ in 0..12 {
        // Each step reads the previous one, so that no step is unused.
        let last = steps.len() - 1;
        let other = bytes.below(steps.len());
        if bytes.once_in(6) {
            numbers.push(bytes.below(30) as f64 / 8.0 - 1.0);
            steps.push(Step::Number(numbers.len() - 1));
            let both = if bytes.once_in(2) {
                [last, last + 1]
            } else {
                [last + 1, last]
            };
            steps.push(Step::Apply(
                bytes.pick(&binary[..binary.len().min(4)]),
                both.to_vec(),
            ));
            continue;
        }
        let number = matches!(steps[other], Step::Number(_));
        steps.push(if bytes.once_in(2) && !number {
            Step::Apply(bytes.pick(binary), vec![last, other])
        } else {
            Step::Apply(bytes.pick(unary), vec![last])
        });
    }
    let dtype = bytes.pick(&[DType::F64, DType::F32]);
    Chain {
        steps,
        shapes,
        numbers,
        dtype,
    }
}

type Said<T> = Result<T, String>;

fn said<T>(result: nomina::Result<T>) -> Said<T> {
    result.map_err(|error| format!("{error:?}"))
}

impl Chain {
    fn leaves(&self, seed: u64) -> Said<Vec<Raw>> {
        let mut numbers = Bytes::Random(seed);
        let leaf = |shape: &Vec<usize>| {
            let count = shape.iter().product();
            let data: Vec<f64> = (0..count)
                .map(|_| numbers.below(2001) as f64 / 1000.0 - 0.7)
                .collect();
            let raw =
                said(Raw::from_vec(data, shape).and_then(|x| call::to_dtype(&x, self.dtype)))?;
            said(
                nomina_runtime::DynTensor::from_parts(raw, nomina::Names::unnamed(shape.len()))
                    .and_then(|x| x.with_grad()),
            )
            .map(|x| x.into_parts().0)
        };
        self.shapes.iter().map(leaf).collect()
    }

    fn numbers(&self) -> Vec<Scalar> {
        self.numbers
            .iter()
            .map(|&number| Scalar::Float(number))
            .collect()
    }

    fn in_one_pass(&self, leaves: &[Raw]) -> nomina::Result<Raw> {
        let program = self.steps.iter().map(|step| match step {
            Step::Tensor(at) => Node::Tensor(*at),
            Step::Number(at) => Node::Scalar(*at),
            Step::Apply(op, args) => Node::Apply(*op, args),
        });
        let program: Vec<Node<'_>> = program.collect();
        let tensors: Vec<&Raw> = leaves.iter().collect();
        call::fused(&program, &tensors, &self.numbers())
    }

    fn by_steps(&self, leaves: &[Raw]) -> nomina::Result<Raw> {
        let numbers = self.numbers();
        let mut values: Vec<Result<Raw, Scalar>> = Vec::new();
        for step in &self.steps {
            values.push(match step {
                Step::Tensor(at) => Ok(leaves[*at].clone()),
                Step::Number(at) => Err(numbers[*at]),
                Step::Apply(op, args) => {
                    let args = args.iter().map(|&at| match &values[at] {
                        Ok(raw) => Arg::Tensor(raw),
                        Err(number) => Arg::Scalar(*number),
                    });
                    Ok(call::pointwise(*op, &args.collect::<Vec<_>>())?)
                }
            });
        }
        let last = values.pop().and_then(Result::ok);
        Ok(last.expect("the last step applies an operator"))
    }

    /// Returns the gradients of the leaves, of the fused chain or of its steps.
    fn gradients(
        &self,
        run: impl Fn(&[Raw]) -> nomina::Result<Raw>,
        seed: u64,
    ) -> Said<(Vec<f64>, Vec<Vec<f64>>)> {
        let leaves = self.leaves(seed)?;
        let y = said(run(&leaves))?;
        let mut numbers = Bytes::Random(seed ^ 0xfeed);
        let weights: Vec<f64> = (0..y.numel())
            .map(|_| numbers.below(2001) as f64 / 1000.0 - 1.0)
            .collect();
        let weights =
            said(Raw::from_vec(weights, y.shape()).and_then(|x| call::to_dtype(&x, self.dtype)))?;
        if y.requires_grad() {
            said(backward(&y, weights, BackwardOptions::default()))?;
        }
        let of = |raw: &Raw| -> Vec<f64> { raw.scalars().map(|x| x.to_f64()).collect() };
        let grads = leaves
            .iter()
            .map(|x| x.grad().map_or_else(Vec::new, |grad| of(&grad)));
        Ok((of(&y), grads.collect()))
    }
}

/// Compares the fused chain with its steps, by a function of two numbers.
fn compare(
    bytes: &mut Bytes<'_>,
    repeats: bool,
    same: impl Fn(f64, f64, DType) -> bool,
) -> Said<()> {
    let chain = chain(bytes, repeats);
    let seed = bytes.word();
    let (y, fused) = chain.gradients(|leaves| chain.in_one_pass(leaves), seed)?;
    let (z, steps) = chain.gradients(|leaves| chain.by_steps(leaves), seed)?;
    let bits = |a: &f64, b: &f64| a == b || a.is_nan() && b.is_nan();
    if let Some(at) = y.iter().zip(&z).position(|(a, b)| !bits(a, b)) {
        return Err(format!(
            "result {at}: {} in one pass, {}\n{chain:?}",
            y[at], z[at]
        ));
    }
    for (leaf, (fused, steps)) in fused.iter().zip(&steps).enumerate() {
        if fused.len() != steps.len() {
            return Err(format!(
                "leaf {leaf}: {} and {} elements\n{chain:?}",
                fused.len(),
                steps.len()
            ));
        }
        for (at, (a, b)) in fused.iter().zip(steps).enumerate() {
            if !bits(a, b) && !same(*a, *b, chain.dtype) {
                return Err(format!(
                    "leaf {leaf}, element {at}: {a:e} in one pass, {b:e}\n{chain:?}"
                ));
            }
        }
    }
    Ok(())
}

pub fn same_bits(bytes: &mut Bytes<'_>) -> Said<()> {
    compare(bytes, false, |_, _, _| false)
}

/// Compares with a tolerance, since gradients of broadcast operands are summed in another order.
pub fn near(bytes: &mut Bytes<'_>) -> Said<()> {
    compare(bytes, true, |a, b, dtype| {
        let within = if dtype == DType::F64 { 1e-12 } else { 1e-4 };
        (a - b).abs() <= within * (1.0 + b.abs()) || !b.is_finite()
    })
}
