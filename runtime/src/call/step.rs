//! Steps of optimizers, which write to parameters and to what is kept for each.

use nomina_core::op::Op;
use nomina_core::{DType, Error, ErrorKind, Names, Result, Scalar};

use super::fused;
use crate::SmallVec;
use crate::cpu;
use crate::job::{AdamWFactors, AdamWJob, Node};
use crate::profile::Span;
use crate::raw::Raw;

const OP: &str = "adamw";

/// A parameter, its gradient, and the running means of the gradient and of its square, which are zeros at first.
#[derive(Debug)]
pub struct AdamWParam<'a> {
    /// What is optimized. A leaf stays the leaf that it is.
    pub param: &'a mut Raw,
    /// Its gradient.
    pub grad: &'a Raw,
    /// The running mean of the gradient.
    pub exp_avg: &'a mut Raw,
    /// The running mean of the gradient's square.
    pub exp_avg_sq: &'a mut Raw,
}

/// What AdamW is told, as PyTorch's `torch.optim.AdamW` is.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct AdamWOptions {
    /// The learning rate.
    pub lr: f64,
    /// How much of the running means is kept: of the gradient, and of its square.
    pub betas: (f64, f64),
    /// What is added to the root of the mean square.
    pub eps: f64,
    /// Which part of a parameter, times the learning rate, is taken off it.
    pub weight_decay: f64,
}

impl Default for AdamWOptions {
    fn default() -> Self {
        Self {
            lr: 1e-3,
            betas: (0.9, 0.999),
            eps: 1e-8,
            weight_decay: 1e-2,
        }
    }
}

impl AdamWOptions {
    fn factors(&self, step: u64) -> AdamWFactors {
        let rest = |beta: f64| 1.0 - beta.powf(step as f64);
        AdamWFactors {
            decay: 1.0 - self.lr * self.weight_decay,
            keep_mean: self.betas.0,
            keep_square: self.betas.1,
            rate: self.lr / rest(self.betas.0),
            root: 1.0 / rest(self.betas.1).sqrt(),
            eps: self.eps,
        }
    }
}

/// A step of AdamW of all parameters, in one pass where they lie on the host; `step` counts from 1. Nothing is recorded.
/// Loshchilov and Hutter, "Decoupled Weight Decay Regularization", algorithm 2.
///
/// # Errors
/// When the step is 0, a parameter is no float, what belongs to it differs in sizes, dtype or device, or memory is missing.
/// Nothing is written then.
pub fn adamw(params: &mut [AdamWParam<'_>], step: u64, options: &AdamWOptions) -> Result<()> {
    if step == 0 {
        let what = "the first step is 1, not 0";
        return Err(Error::new(ErrorKind::Argument, OP, what).hint("count steps from 1"));
    }
    params.iter().try_for_each(check)?;
    let by = options.factors(step);
    let mut changed: SmallVec<[(usize, [Raw; 3]); 4]> = SmallVec::new();
    let mut passes = [SmallVec::<[AdamWJob; 8]>::new(), SmallVec::new()];
    for (at, param) in params.iter_mut().enumerate() {
        match job(param) {
            Some((dtype, job)) => passes[usize::from(dtype == DType::F64)].push(job),
            None => changed.push((at, stepwise(param, &by)?)),
        }
    }
    let [single, double] = passes;
    let _span = Span::new(OP);
    // SAFETY: each job is of one parameter, whose elements are dense and borrowed exclusively.
    unsafe {
        cpu::step::adamw::<f32>(&single, by);
        cpu::step::adamw::<f64>(&double, by);
    }
    for (at, [param, mean, square]) in changed {
        params[at].param.replace(param);
        params[at].exp_avg.replace(mean);
        params[at].exp_avg_sq.replace(square);
    }
    Ok(())
}

fn check(of: &AdamWParam<'_>) -> Result<()> {
    let param = &*of.param;
    let refuse = |kind: ErrorKind, what: String, other: &Raw| {
        Error::new(kind, OP, what)
            .operand(&Names::default(), param.shape())
            .operand(&Names::default(), other.shape())
    };
    if !param.dtype().is_float() {
        let what = format!("a parameter is {}, not a float", param.dtype());
        return Err(refuse(ErrorKind::DType, what, of.grad).hint("convert it to a float first"));
    }
    let beside = [
        ("gradient", of.grad),
        ("exp_avg", &*of.exp_avg),
        ("exp_avg_sq", &*of.exp_avg_sq),
    ];
    for (word, other) in beside {
        if other.shape() != param.shape() {
            let what = format!("the {word} has other sizes than its parameter");
            return Err(refuse(ErrorKind::Shape, what, other).hint("give those of one parameter"));
        }
        if other.dtype() != param.dtype() || other.device() != param.device() {
            let what = format!(
                "the {word} is {} on `{}`, its parameter {} on `{}`",
                other.dtype(),
                other.device(),
                param.dtype(),
                param.device()
            );
            return Err(refuse(ErrorKind::DType, what, other).hint("convert it, or move it"));
        }
    }
    Ok(())
}

/// A parameter of the host whose elements lie side by side everywhere, and are shared with nobody.
fn job(of: &mut AdamWParam<'_>) -> Option<(DType, AdamWJob)> {
    let (dtype, count) = (of.param.dtype(), of.param.numel());
    if !matches!(dtype, DType::F32 | DType::F64) || !of.grad.layout().is_contiguous() {
        return None;
    }
    let grad = of.grad.on_host_ptr()?;
    let place = |raw: &mut Raw| {
        let dense = raw.layout().is_contiguous() && raw.device().is_cpu();
        dense.then(|| raw.exclusive().map(|mut raw| raw.as_mut_ptr()))?
    };
    let job = AdamWJob {
        count,
        param: place(of.param)?,
        grad,
        mean: place(of.exp_avg)?,
        square: place(of.exp_avg_sq)?,
    };
    Some((dtype, job))
}

/// What is to stand in the place of a parameter, its mean and its mean square, by chains of operators.
fn stepwise(of: &AdamWParam<'_>, by: &AdamWFactors) -> Result<[Raw; 3]> {
    let [param, grad, mean, square] =
        [of.param, of.grad, of.exp_avg, of.exp_avg_sq].map(|raw: &Raw| raw.clone().detach());
    let running = |old: &Raw, keep: f64, squares: bool| {
        let numbers = [keep, 1.0 - keep].map(Scalar::Float);
        let times = if squares { 1 } else { 3 };
        let program = [
            Node::Tensor(0),
            Node::Tensor(1),
            Node::Scalar(0),
            Node::Scalar(1),
            Node::Apply(Op::Mul, &[0, 2]),
            Node::Apply(Op::Mul, &[1, times]),
            Node::Apply(Op::Mul, &[5, 3]),
            Node::Apply(Op::Add, &[4, if squares { 6 } else { 5 }]),
        ];
        fused(&program, &[old, &grad], &numbers)
    };
    let (mean, square) = (
        running(&mean, by.keep_mean, false)?,
        running(&square, by.keep_square, true)?,
    );
    let numbers = [by.decay, by.rate, by.root, by.eps].map(Scalar::Float);
    let program = [
        Node::Tensor(0),
        Node::Tensor(1),
        Node::Tensor(2),
        Node::Scalar(0),
        Node::Scalar(1),
        Node::Scalar(2),
        Node::Scalar(3),
        Node::Apply(Op::Mul, &[0, 3]),
        Node::Apply(Op::Mul, &[1, 4]),
        Node::Apply(Op::Sqrt, &[2]),
        Node::Apply(Op::Mul, &[9, 5]),
        Node::Apply(Op::Add, &[10, 6]),
        Node::Apply(Op::Div, &[8, 11]),
        Node::Apply(Op::Sub, &[7, 12]),
    ];
    let param = fused(&program, &[&param, &mean, &square], &numbers)?;
    Ok([param, mean, square])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parameters after three steps, and what is kept for them.
    fn after(dtype: DType, order: fn(&Raw) -> Result<Raw>) -> Vec<f64> {
        let of = |values: &[f64]| {
            let raw = Raw::from_vec(values.to_vec(), &[2, 3]).unwrap();
            order(&super::super::to_dtype(&raw, dtype).unwrap()).unwrap()
        };
        let mut param = of(&[1.0, -2.0, 0.5, 3.0, 0.0, -1.0]);
        let (mut mean, mut square) = (of(&[0.0; 6]), of(&[0.0; 6]));
        let grad = of(&[0.1, -0.2, 0.3, 0.0, 5.0, 1e-3]);
        for step in 1..=3 {
            let mut all = [AdamWParam {
                param: &mut param,
                grad: &grad,
                exp_avg: &mut mean,
                exp_avg_sq: &mut square,
            }];
            adamw(&mut all, step, &AdamWOptions::default()).unwrap();
        }
        let all = [param, mean, square];
        all.iter()
            .flat_map(|raw| raw.scalars().map(|x| x.to_f64()))
            .collect()
    }

    #[test]
    fn steps_are_those_of_the_definition() {
        let found = after(DType::F64, |raw| Ok(raw.clone()));
        let (grads, params) = (
            [0.1, -0.2, 0.3, 0.0, 5.0, 1e-3_f64],
            [1.0, -2.0, 0.5, 3.0, 0.0, -1.0_f64],
        );
        for at in 0..6 {
            let (mut param, mut mean, mut square) = (params[at], 0.0, 0.0);
            for step in 1..=3 {
                param -= 1e-3 * 1e-2 * param;
                mean += 0.1 * (grads[at] - mean);
                square += 0.001 * (grads[at] * grads[at] - square);
                let (one, two) = (1.0 - 0.9_f64.powi(step), 1.0 - 0.999_f64.powi(step));
                param -= 1e-3 * (mean / one) / ((square / two).sqrt() + 1e-8);
            }
            for (found, wanted) in [found[at], found[6 + at], found[12 + at]]
                .into_iter()
                .zip([param, mean, square])
            {
                assert!((found - wanted).abs() < 1e-12, "{found}, not {wanted}");
            }
        }
    }

    #[test]
    fn any_layout_and_dtype_takes_the_same_steps() {
        let dense = after(DType::F32, |raw| Ok(raw.clone()));
        let apart = after(DType::F32, |raw| {
            super::super::contiguous(&raw.transpose(0, 1)?)?.transpose(0, 1)
        });
        let half = after(DType::BF16, |raw| Ok(raw.clone()));
        for ((dense, apart), half) in dense.iter().zip(apart).zip(half) {
            assert!((dense - apart).abs() <= 1e-6 * dense.abs().max(1e-3));
            assert!((dense - half).abs() <= 2e-2 * dense.abs().max(0.1));
        }
    }

    #[test]
    fn what_does_not_fit_changes_nothing() {
        let of = |len: usize| Raw::from_vec(vec![1.0_f64; len], &[len]).unwrap();
        let (mut a, mut b, mut c) = (of(2), of(2), of(3));
        let grad = of(2);
        let mut all = [AdamWParam {
            param: &mut a,
            grad: &grad,
            exp_avg: &mut b,
            exp_avg_sq: &mut c,
        }];
        let options = AdamWOptions::default();
        let text = adamw(&mut all, 1, &options).unwrap_err().to_string();
        assert!(text.contains("the exp_avg_sq has other sizes"), "{text}");
        assert!(adamw(&mut all, 0, &options).is_err());
        assert_eq!(a.to_vec::<f64>().unwrap(), [1.0, 1.0]);
    }
}
