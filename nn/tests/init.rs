//! Initial weights: their distributions, and parameters that are filled in place.

use nomina::prelude::*;
use nomina_nn::Slot;
use nomina_nn::init::*;
use nomina_nn::prelude::*;

dims! { Out, In, K }

#[test]
fn numbers_outside_of_a_range_are_not_drawn() {
    with_seed(2, || {
        let w: Tensor<(Out, In), f64> = trunc_normal([200, 300], 1.0, 2.0, -1.0, 2.0);
        let (least, greatest) = (w.min(..).item(), w.max(..).item());
        assert!((-1.0..-0.99).contains(&least) && (1.99..=2.0).contains(&greatest));
        // The mean and the deviation of the standard normal distribution between -1 and 0.5, scaled.
        let (mean, std) = (w.mean(..).item(), w.std(..).item());
        let (a, b): (f64, f64) = (-1.0, 0.5);
        let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
        // Φ(0.5) - Φ(-1)
        let mass = 0.691_462_461_274_013 - 0.158_655_253_931_457;
        let shift = (density(a) - density(b)) / mass;
        let variance = 1.0 + (a * density(a) - b * density(b)) / mass - shift * shift;
        assert!((mean - (1.0 + 2.0 * shift)).abs() < 0.02, "{mean}");
        assert!((std - 2.0 * variance.sqrt()).abs() < 0.02, "{std}");
    });
}

#[test]
fn rows_or_columns_are_orthogonal() {
    for shape in [[3, 7], [7, 3], [5, 5]] {
        let w: Tensor<(Out, In), f64> = orthogonal(shape, 2.0);
        let w = if shape[0] > shape[1] {
            w.transpose(Out, In).rename((In, Out), (Out, In))
        } else {
            w
        };
        let products: Tensor<(Out, Prime<Out>), f64> = w.contract(&w.prime(Out), In);
        let count = products.shape()[0];
        let eye = Tensor::<(Out, Prime<Out>), f64>::eye([count, count]);
        assert!((products - eye * 4.0).abs().max(..).item() < 1e-12);
    }
    let w: Tensor<(Out, In, K)> = orthogonal([4, 3, 5], 1.0);
    let flat: Tensor<(Out, In)> = w.flatten((In, K), In);
    assert!((flat.norm(In) - 1.0).abs().max(..).item() < 1e-6);
    assert!(try_orthogonal::<(Out,), f32>([3], 1.0).is_err());
    let w: Tensor<(Out, In)> = eye([2, 3]);
    assert_eq!(w.to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    assert!(try_eye::<(Out,), f32>([3]).is_err());
}

#[test]
fn a_parameter_is_filled_in_place() {
    with_seed(3, || {
        let mut layer = Linear::new(In.of(30), Out.of(20));
        let id = layer.weight.identity().unwrap().clone();
        let x = Tensor::<(K, In)>::ones([4, 30]);
        layer.forward(&x).sum(..).backward();
        let grad = layer.weight.grad().unwrap();
        uniform_(&mut layer.weight, 2.0, 3.0);
        constant_(&mut layer.bias, -1.0);
        assert!(layer.weight.min(..).item() >= 2.0 && layer.weight.max(..).item() <= 3.0);
        assert_eq!(layer.bias.as_ref().unwrap().to_vec(), [-1.0; 20]);
        normal_(&mut None::<Param<(Out,)>>, 0.0, 1.0);
        assert!(layer.weight.is_leaf() && layer.weight.requires_grad());
        assert!(layer.weight.grad().unwrap().equal(&grad));
        assert_eq!(layer.weight.identity(), Some(&id));
        // It draws the numbers of the function that creates a weight.
        with_seed(4, || xavier_normal_(&mut layer.weight, 0.5));
        let wanted = with_seed(4, || xavier_normal::<(Out, In), f32>([20, 30], 0.5));
        assert!(layer.weight.equal(&wanted));
        let mut unset = unset(|| Linear::new(In.of(3), Out.of(2)));
        eye_(&mut unset.weight);
        assert_eq!(unset.weight.to_vec(), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        assert!(layer.weight.try_set(Tensor::zeros([3, 20])).is_err());
    });
}
