//! Random programs of operators with gradients: against differences, fused and step by step, in reverse and forward
//! mode, and one by one and together. `NOMINA_PROGRAMS=count,seed` sets their number and the first seed.

#[path = "programs/bytes.rs"]
#[allow(dead_code, reason = "bytes that are given are a fuzzer's")]
mod bytes;
#[path = "gradient_programs/chain.rs"]
mod chain;
#[path = "gradient_programs/named.rs"]
mod named;

use bytes::Bytes;
use named::Program;
use nomina::dynamic::value_and_grad;
use nomina::prelude::*;
use nomina::{BackwardOptions, DynTensor, Result, Scalar};
use nomina_runtime::grad::jvp;
use nomina_runtime::raw::Raw;

/// The number of operators in a program.
const STEPS: usize = 12;

/// Runs `check` with the requested number of seeds, and reports every failure.
fn each(count: u64, check: impl Fn(u64) -> std::result::Result<(), String>) {
    let asked = std::env::var("NOMINA_PROGRAMS").unwrap_or_else(|_| format!("{count},1"));
    let (count, first) = asked.split_once(',').unwrap_or((&asked, "1"));
    let (count, first): (u64, u64) = (count.parse().unwrap(), first.parse().unwrap());
    let wrong = (first..first + count).filter_map(|seed| {
        let what = check(seed).err()?;
        Some(format!("seed {seed}: {what}"))
    });
    let wrong: Vec<String> = wrong.take(10).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn said<T>(result: Result<T>) -> std::result::Result<T, String> {
    result.map_err(|error| format!("{error:?}"))
}

fn near(got: f64, want: f64, within: f64, size: f64) -> bool {
    (got - want).abs() <= within * (1.0 + want.abs() + size)
}

fn inner(a: &[DynTensor], b: &[DynTensor]) -> f64 {
    let of = |x: &DynTensor| -> Vec<f64> { x.raw().scalars().map(|x| x.to_f64()).collect() };
    let pairs = a.iter().zip(b).map(|(a, b)| {
        let (a, b) = (of(a), of(b));
        a.iter().zip(&b).map(|(a, b)| a * b).sum::<f64>()
    });
    pairs.sum()
}

/// Returns the leaves, moved along a direction.
fn moved(leaves: &[DynTensor], along: &[DynTensor], by: f64) -> Vec<DynTensor> {
    let both = leaves.iter().zip(along);
    both.map(|(x, d)| x.add(&d.mul(Scalar::Float(by))?))
        .collect::<Result<_>>()
        .expect("sums of tensors alike")
}

fn gradient(program: &Program, leaves: &[DynTensor]) -> Result<(DynTensor, Vec<DynTensor>)> {
    let leaves: Vec<&DynTensor> = leaves.iter().collect();
    value_and_grad(|x| program.run(x), &leaves)
}

/// Compares a directional derivative with the derivative at 0 of a function of one number, estimated from four values;
/// uses closer values if the function is steep or bends.
fn is_slope(
    got: f64,
    f: impl Fn(f64) -> std::result::Result<f64, String>,
    fits: impl Fn(f64, f64) -> bool,
) -> std::result::Result<(), String> {
    let mut wrong = String::new();
    for h in [2e-4, 2e-5, 2e-6] {
        let (near, far) = (f(h)? - f(-h)?, f(2.0 * h)? - f(-2.0 * h)?);
        let want = (8.0 * near - far) / (12.0 * h);
        if fits(got, want) {
            return Ok(());
        }
        wrong = format!("{got}, not {want}");
    }
    Err(wrong)
}

#[test]
fn the_tape_agrees_with_differences() {
    each(400, |seed| {
        let program = Program::new(seed, STEPS);
        let (leaves, along) = (program.leaves(), program.directions(0));
        let (y, grads) = said(gradient(&program, &leaves))?;
        let size = said(y.item())?.to_f64().abs();
        let got = inner(&grads, &along);
        let value = |by: f64| {
            let moved = moved(&leaves, &along, by);
            Ok(said(said(program.run(&moved))?.item())?.to_f64())
        };
        is_slope(got, value, |got, want| near(got, want, 1e-6, size))
            .map_err(|wrong| format!("{wrong}\n{program:?}"))?;
        // Forward mode gives the same number, by differentiating the gradient (double backward).
        let raws = |x: &'_ [DynTensor]| -> Vec<Raw> { x.iter().map(|x| x.raw().clone()).collect() };
        let (inputs, tangents) = (raws(&leaves), raws(&along));
        let f = |x: &[Raw]| {
            let named = x.iter().zip(&leaves);
            let named =
                named.map(|(x, leaf)| DynTensor::from_parts(x.clone(), leaf.names().clone()));
            Ok(program
                .run(&named.collect::<Result<Vec<_>>>()?)?
                .into_parts()
                .0)
        };
        let (inputs, tangents): (Vec<&Raw>, Vec<&Raw>) =
            (inputs.iter().collect(), tangents.iter().collect());
        let (_, ahead) = said(jvp(&f, &inputs, &tangents))?;
        let ahead: f64 = ahead.scalars().map(|x| x.to_f64()).sum();
        if !near(ahead, got, 1e-9, size) {
            return Err(format!("forwards {ahead}, backwards {got}\n{program:?}"));
        }
        Ok(())
    });
}

#[test]
fn gradients_of_gradients_agree_with_differences() {
    each(150, |seed| {
        let program = Program::new(seed, STEPS);
        let (leaves, along) = (program.leaves(), program.directions(0));
        let weights = program.directions(1);
        let weighted = |x: &[DynTensor]| -> Result<DynTensor> {
            let (_, grads) = gradient(&program, x)?;
            let each = grads.iter().zip(&weights);
            let each = each.map(|(g, w)| g.mul(w)?.sum(..));
            let each = each.collect::<Result<Vec<_>>>()?;
            each[1..]
                .iter()
                .try_fold(each[0].clone(), |sum, x| sum.add(x))
        };
        let inputs: Vec<&DynTensor> = leaves.iter().collect();
        let (y, grads) = said(value_and_grad(weighted, &inputs))?;
        let size = said(y.item())?.to_f64().abs();
        let value = |by: f64| {
            let y = said(weighted(&moved(&leaves, &along, by)))?;
            Ok(said(y.item())?.to_f64())
        };
        let got = inner(&grads, &along);
        is_slope(got, value, |got, want| near(got, want, 1e-5, size))
            .map_err(|wrong| format!("{wrong}\n{program:?}"))
    });
}

#[test]
fn gradients_of_a_sum_are_sums_of_gradients() {
    each(200, |seed| {
        let programs = [Program::new(seed, STEPS), Program::like(seed, STEPS, 77)];
        let own = |x: Vec<DynTensor>| -> Result<Vec<DynTensor>> {
            x.into_iter().map(DynTensor::with_grad).collect()
        };
        let leaves = said(own(programs[0].leaves()))?;
        let run = |program: &Program| program.run(&leaves);
        for program in &programs {
            said(run(program).and_then(|y| y.backward()))?;
        }
        let taken = |x: &DynTensor| x.take_grad().map_or_else(|| x.zeros_like(), Ok);
        let apart = leaves.iter().map(taken).collect::<Result<Vec<_>>>();
        let both = run(&programs[0]).and_then(|y| y.add(&run(&programs[1])?));
        said(both.and_then(|y| y.backward()))?;
        let together = leaves.iter().map(taken).collect::<Result<Vec<_>>>();
        for (a, b) in said(apart)?.iter().zip(&said(together)?) {
            for (a, b) in a.raw().scalars().zip(b.raw().scalars()) {
                let (a, b) = (a.to_f64(), b.to_f64());
                if !near(a, b, 1e-12, 0.0) {
                    return Err(format!("{a} apart, {b} together\n{programs:?}"));
                }
            }
        }
        Ok(())
    });
}

#[test]
fn chains_in_one_pass_have_the_bits_of_their_steps() {
    each(600, |seed| chain::same_bits(&mut Bytes::Random(seed)));
}

#[test]
fn repeated_operands_have_the_gradients_of_their_steps() {
    each(300, |seed| chain::near(&mut Bytes::Random(seed)));
}

dims! { N, C, K }

/// One program, typed and dynamic: equal to the bit.
#[test]
fn typed_and_dynamic_agree() {
    with_seed(3, || {
        let x: Tensor<(N, C), f64> = Tensor::randn([4, 3]);
        let w: Tensor<(C, K), f64> = Tensor::randn([3, 5]);
        let b: Tensor<(K,), f64> = Tensor::randn([5]);
        let (x, w, b) = (x.with_grad(), w.with_grad(), b.with_grad());
        let y = (x.contract(&w, C) + &b).tanh();
        let z = y.softmax(K).cumsum(N) - y.mean(keep(K)).exp();
        let z = z.align_to((K, N)).square().logsumexp(N) * w.amax(C).sigmoid();
        let loss = (z.flip(K) + b.sin()).norm(..);
        let plain = |x: &DynTensor| x.detach().with_grad().unwrap();
        let [dx, dw, db] = [
            x.clone().into_dyn(),
            w.clone().into_dyn(),
            b.clone().into_dyn(),
        ];
        let [dx, dw, db] = [plain(&dx), plain(&dw), plain(&db)];
        let dynamic = || -> Result<DynTensor> {
            let y = dx.contract(&dw, "C")?.add(&db)?.tanh()?;
            let mean = y.mean_with(
                "K",
                nomina::dynamic::ReduceOptions {
                    keepdim: true,
                    ..Default::default()
                },
            )?;
            let z = y.softmax("K")?.cumsum("N")?.sub(&mean.exp()?)?;
            let z = z.align_to(["K", "N"])?.square()?.logsumexp("N")?;
            let z = z.mul(&dw.amax("C")?.sigmoid()?)?;
            z.flip("K")?.add(&db.sin()?)?.norm(..)
        };
        let same = dynamic().unwrap();
        assert_eq!(loss.item(), same.item().unwrap().to_f64());
        loss.backward();
        same.backward_with(&same.ones_like().unwrap(), BackwardOptions::default())
            .unwrap();
        let of = |x: &DynTensor| x.grad().unwrap().to_vec::<f64>().unwrap();
        assert_eq!(x.grad().unwrap().to_vec(), of(&dx));
        assert_eq!(w.grad().unwrap().to_vec(), of(&dw));
        assert_eq!(b.grad().unwrap().to_vec(), of(&db));
        assert_eq!(dw.grad().unwrap().names(), dw.names());
    });
}
