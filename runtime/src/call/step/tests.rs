//! Steps beside their definitions.

use super::*;

/// Parameters after three steps, and what is kept for them.
fn after(dtype: DType, order: fn(&Raw) -> Result<Raw>) -> Vec<f64> {
    let of = |values: &[f64]| {
        let raw = Raw::from_vec(values.to_vec(), &[2, 3]).unwrap();
        order(&super::super::to_dtype(&raw, dtype).unwrap()).unwrap()
    };
    let mut param = of(&[1.0, -2.0, 0.5, 3.0, 0.0, -1.0]);
    let mut state = [of(&[0.0; 6]), of(&[0.0; 6])];
    let grad = of(&[0.1, -0.2, 0.3, 0.0, 5.0, 1e-3]);
    for step in 1..=3 {
        let mut all = [StepParam {
            param: param.as_mut().unwrap(),
            grad: &grad,
            state: &mut state,
            step,
            options: &AdamOptions::adamw(),
        }];
        StepRule::step("adamw", &mut all).unwrap();
    }
    let all = [param].into_iter().chain(state);
    all.collect::<Vec<_>>()
        .iter()
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

/// Parameters after three steps of descent.
fn descended(dtype: DType, options: &SgdOptions) -> Vec<f64> {
    let of = |values: &[f64]| {
        let raw = Raw::from_vec(values.to_vec(), &[values.len()]).unwrap();
        super::super::to_dtype(&raw, dtype).unwrap()
    };
    let mut param = of(&[1.0, -2.0]);
    let mut state: Vec<Raw> = options.words(&[2]).iter().map(|_| of(&[0.0; 2])).collect();
    let grad = of(&[0.1, -0.2]);
    for step in 1..=3_u64 {
        let mut all = [StepParam {
            param: param.as_mut().unwrap(),
            grad: &grad,
            state: &mut state,
            step,
            options,
        }];
        StepRule::step("sgd", &mut all).unwrap();
    }
    param.scalars().map(|x| x.to_f64()).collect()
}

#[test]
fn descent_is_that_of_the_definition() {
    let plain = SgdOptions {
        lr: 0.5,
        weight_decay: 0.1,
        grad_scale: 2.0,
        ..SgdOptions::default()
    };
    let momentum = SgdOptions {
        momentum: 0.9,
        dampening: 0.3,
        ..plain
    };
    let nesterov = SgdOptions {
        dampening: 0.0,
        nesterov: true,
        ..momentum
    };
    for options in [plain, momentum, nesterov] {
        let (found, half) = (
            descended(DType::F64, &options),
            descended(DType::F16, &options),
        );
        for (at, (mut param, grad)) in [(1.0, 0.1), (-2.0, -0.2)].into_iter().enumerate() {
            let mut sum = 0.0;
            for step in 1..=3 {
                let grad = 2.0 * grad + 0.1 * param;
                let take = if step == 1 {
                    1.0
                } else {
                    1.0 - options.dampening
                };
                sum = options.momentum * sum + take * grad;
                let way = match options.momentum {
                    0.0 => grad,
                    keep if options.nesterov => grad + keep * sum,
                    _ => sum,
                };
                param -= 0.5 * way;
            }
            assert!((found[at] - param).abs() < 1e-12, "{options:?}");
            assert!((half[at] - param).abs() < 1e-2, "{options:?}");
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
    let (mut a, mut state) = (of(2), [of(2), of(3)]);
    let grad = of(2);
    let mut all = [StepParam {
        param: a.as_mut().unwrap(),
        grad: &grad,
        state: &mut state,
        step: 1,
        options: &AdamOptions::adamw(),
    }];
    let text = StepRule::step("adamw", &mut all).unwrap_err().to_string();
    assert!(text.contains("sizes of the state"), "{text}");
    all[0].step = 0;
    assert!(StepRule::step("adamw", &mut all).is_err());
    assert_eq!(a.to_vec::<f64>().unwrap(), [1.0, 1.0]);
}
