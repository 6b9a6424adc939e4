//! Tests of the programs `vae` and `poisson`: what they minimise, that it falls, and PyTorch's numbers from the same
//! parameters (`scripts/programs/data.py`).

#[allow(dead_code)]
#[path = "../poisson.rs"]
mod poisson;
mod recorded;
#[allow(dead_code)]
#[path = "../vae.rs"]
mod vae;

use nomina::no_grad;
use nomina::prelude::*;
use nomina_nn::prelude::*;
use serde_json::Value;

use recorded::near;

/// Fills the parameters by the formula of `scripts/programs/data.py`.
fn fill(module: &mut impl Module, scale: f64) {
    let state = module.state().into_iter().enumerate();
    let filled = state.map(|(i, (path, x))| {
        let value = |at: usize| ((at as f64 * 0.7 + i as f64).sin() * scale) as f32;
        let values = (0..x.numel()).map(value).collect();
        (path, DynTensor::from_vec(values, x.shape(), ()).unwrap())
    });
    let filled: Vec<_> = filled.collect();
    module.load(filled);
}

/// The loss of 100 digits, and the norm of each parameter's gradient.
#[test]
fn the_bound_is_pytorchs() {
    let recorded: Value = serde_json::from_str(include_str!("../vae/torch.json")).unwrap();
    let mut vae = vae::Vae::new(8);
    fill(&mut vae, 0.1);
    let noise = (0..800).map(|at| (f64::from(at) * 0.3).cos() as f32);
    let noise: Tensor<(vae::N, vae::Code)> = Tensor::from_vec(noise.collect(), [100, 8]).unwrap();
    let digits = vae::data::Digits::read().unwrap().narrow(0..100);
    let loss = vae.loss(&digits.images, &noise);
    loss.backward();
    let norm = |x: &DynTensor| -> Result<f64> {
        let grad = x.grad().unwrap().to::<f64>()?;
        Ok(grad.square()?.sum(..)?.item()?.to_f64().sqrt())
    };
    let norms = vae.params().into_iter().map(|(_, x)| norm(&x).unwrap());
    let found = [f64::from(loss.item())].into_iter().chain(norms);
    near(found, &recorded["loss_and_norms"], 1e-5);
}

/// Each of 100 losses, of which the first are above 200.
#[test]
fn the_network_learns_like_pytorchs() {
    let recorded: Value = serde_json::from_str(include_str!("../poisson/torch.json")).unwrap();
    let mut solution = poisson::Solution::new(16);
    fill(&mut solution, 0.3);
    let losses = poisson::train(&mut solution, 32, 100);
    let losses = losses.into_iter().map(f64::from);
    near(losses, &recorded["losses"], 2e-3);
}

#[test]
fn the_bound_is_that_of_its_formula() {
    with_seed(1, || {
        let vae = vae::Vae::new(3);
        let x = Tensor::<(vae::N, vae::H, vae::W)>::rand([2, 8, 8]);
        let noise = Tensor::randn([2, 3]);
        let loss = f64::from(vae.loss(&x, &noise).item());

        let [mean, log_variance] = vae.encode(&x);
        let code = &mean + (&log_variance * 0.5).exp() * &noise;
        let logits = vae.decode(&code).to::<f64>().to_vec();
        let mut wanted = 0.0;
        for (logit, pixel) in logits.into_iter().zip(x.to_vec()) {
            let (one, pixel) = (1.0 / (1.0 + (-logit).exp()), f64::from(pixel));
            wanted -= pixel * one.ln() + (1.0 - pixel) * (1.0 - one).ln();
        }
        for (mean, log_variance) in mean.to_vec().into_iter().zip(log_variance.to_vec()) {
            let (mean, log_variance) = (f64::from(mean), f64::from(log_variance));
            wanted += (mean * mean + log_variance.exp() - log_variance - 1.0) / 2.0;
        }
        assert!((loss - wanted / 2.0).abs() < 1e-3, "{loss}, {wanted}");
    });
}

#[test]
fn a_code_of_eight_numbers_describes_digits() {
    with_seed(2, || {
        let digits = vae::data::Digits::read().unwrap();
        let mut vae = vae::Vae::new(8);
        let losses = vae::train(&mut vae, &digits, 6);
        // The entropy of pixels that are known only by their means is 28.5 nats a picture.
        assert!(losses[0] < 45.0 && losses[5] < 27.5, "{losses:?}");
    });
}

#[test]
fn the_second_derivative_is_that_of_differences() {
    with_seed(4, || {
        let solution = poisson::Solution::new(8);
        let x = poisson::column(7);
        let h = 0.02;
        let value = |by: f32| no_grad(|| solution.value(&(&x + by)));
        let wanted = (value(h) - value(0.0) * 2.0 + value(-h)) / (h * h);
        let found = solution.curvature(&x);
        let off = (&found - &wanted).abs().amax(..).item();
        assert!(off < 5e-3, "{found}, {wanted}");
    });
}

#[test]
fn the_residual_falls() {
    with_seed(3, || {
        let mut solution = poisson::Solution::new(16);
        let losses = poisson::train(&mut solution, 32, 300);
        assert!(
            losses[299] < losses[0] * 0.01,
            "{} {}",
            losses[0],
            losses[299]
        );
        let x = poisson::column(21);
        let found = no_grad(|| solution.value(&x));
        let error = (found - poisson::exact(&x.squeeze(poisson::X)))
            .abs()
            .amax(..)
            .item();
        assert!(error < 0.05, "{error}");
    });
}
