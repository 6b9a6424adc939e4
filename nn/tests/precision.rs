//! Models in other dtypes, and mixed precision.

use nomina::prelude::*;
use nomina_nn::optim::LossScale;
use nomina_nn::prelude::*;

dims! { N, C, H, W, Out, Seq, Hidden, Vocab }

#[derive(Module)]
struct Net<T: Float = f32> {
    conv: Conv2d<(H, W), C, Out, T>,
    norm: Option<BatchNorm<Out, T>>,
    last: Vec<Linear<(Out, H, W), Hidden, T>>,
    rate: Kept,
    #[module(skip)]
    name: String,
}

/// A module without the dtype parameter.
#[derive(Clone, Module)]
struct Kept {
    #[module(skip)]
    rate: f64,
}

impl Net {
    fn new() -> Self {
        Self {
            conv: Conv2d::new(C.of(2), Out.of(4), (H.of(3), W.of(3))),
            norm: Some(BatchNorm::new(Out.of(4))),
            last: vec![Linear::new((Out.of(4), H.of(3), W.of(3)), Hidden.of(5))],
            rate: Kept { rate: 0.5 },
            name: "net".to_owned(),
        }
    }
}

impl<T: Float + Numeric> Net<T> {
    fn forward(&self, x: &Tensor<(N, C, H, W), T>, mode: Mode) -> Tensor<(N, Hidden), T> {
        // A smooth function: rounding moves no element over a corner of its derivative.
        let x = self.conv.forward(x).silu();
        let x = self
            .norm
            .as_ref()
            .map_or(x.clone(), |norm| norm.forward(&x, mode));
        self.last[0].forward(&x)
    }
}

fn off<D: Dims, T: Float>(x: &Tensor<D>, y: &Tensor<D, T>) -> f64 {
    let (x, y) = (x.to::<f64>().to_vec(), y.to::<f64>().to_vec());
    let off = x.iter().zip(&y).map(|(x, y)| (x - y).abs());
    off.fold(0.0, f64::max)
}

#[test]
fn a_model_is_converted_with_its_statistics() {
    with_seed(1, || {
        let mut net = Net::new();
        let x = Tensor::<(N, C, H, W)>::randn([3, 2, 5, 5]);
        let _ = net.forward(&x, Mode::Train);
        net.last[0].freeze();
        let y = net.forward(&x, Mode::Eval);

        let double = net.to::<f64>();
        assert!(off(&y, &double.forward(&x.to(), Mode::Eval)) < 1e-5);
        let half = net.to::<bf16>();
        let error = off(&y, &half.forward(&x.to(), Mode::Eval));
        assert!(0.0 < error && error < 0.1, "{error}");

        assert_eq!(double.paths(), net.paths());
        assert_eq!((double.name.as_str(), double.rate.rate), ("net", 0.5));
        // Numbers of batches stay integers; frozen parameters stay frozen.
        for ((path, old), (_, new)) in net.state().into_iter().zip(half.state()) {
            let wanted = if old.dtype() == DType::F32 {
                DType::BF16
            } else {
                old.dtype()
            };
            assert_eq!(new.dtype(), wanted, "{path}");
        }
        for ((path, old), (_, new)) in net.params().into_iter().zip(double.params()) {
            assert_eq!(old.requires_grad(), new.requires_grad(), "{path}");
        }
        // The leaves are new ones.
        double.forward(&x.to(), Mode::Eval).sum(..).backward();
        assert!(net.conv.weight.grad().is_none() && double.conv.weight.grad().is_some());
    });
}

#[test]
fn layers_without_a_dtype_are_kept_in_a_sequence() {
    let model = Sequential((
        Linear::new(C.of(2), Out.of(3)),
        Activation::Relu,
        Dropout::new(0.5),
        LayerNorm::new(Out.of(3)),
        Embeddings {
            table: Some(Embedding::new(Vocab.of(4), Hidden.of(2))),
        },
    ));
    let double = model.to::<f64>();
    let all = double.state();
    assert!(all.iter().all(|(_, tensor)| tensor.dtype() == DType::F64));
    assert_eq!(all.len(), 5);
    let half = Lstm::<Seq, C, Hidden>::new(C.of(2), Hidden.of(3)).to::<f16>();
    assert_eq!(half.state()[0].1.dtype(), DType::F16);
}

#[derive(Module)]
struct Embeddings<T: Element = f32> {
    table: Option<Embedding<Vocab, Hidden, T>>,
}

/// Products round their operands, and nothing else is rounded.
#[test]
fn autocast_rounds_the_operands_of_products() {
    with_seed(2, || {
        let layer = Linear::new(C.of(20), Out.of(6));
        let x = Tensor::<(N, C)>::randn([4, 20]);
        let by_hand = |dtype: DType| {
            let round = |x: DynTensor| x.to_dtype(dtype).unwrap().to::<f32>().unwrap();
            let (x, w) = (round(x.to_dyn()), round(layer.weight.to_dyn()));
            let y = x.contract(&w, "C").unwrap();
            let bias = layer.bias.as_ref().unwrap();
            round(y.add(&round(bias.to_dyn())).unwrap())
        };
        for (dtype, ulp) in [(DType::BF16, 0.008), (DType::F16, 0.001)] {
            let y = autocast(dtype, || layer.forward(&x));
            let wanted: Tensor<(N, Out)> = by_hand(dtype).typed().unwrap();
            let scale = wanted.abs().max(..).item();
            // One rounding of the result may differ.
            assert!(off(&wanted, &y) <= ulp * f64::from(scale), "{dtype}");
            assert!(off(&layer.forward(&x), &y) > 0.0, "{dtype}");
        }
        let norm = LayerNorm::new(C.of(20));
        assert!(autocast(DType::BF16, || norm.forward(&x)).equal(&norm.forward(&x)));
        // Other dtypes and threads are not affected, nor what follows, even after a panic.
        let (double, long) = (layer.to::<f64>(), x.to::<f64>());
        let plain = double.forward(&long);
        assert!(autocast(DType::BF16, || double.forward(&long)).equal(&plain));
        let exact = layer.forward(&x);
        let there = autocast(DType::BF16, || {
            std::thread::scope(|scope| scope.spawn(|| layer.forward(&x)).join().unwrap())
        });
        assert!(there.equal(&exact));
        let panic = std::panic::catch_unwind(|| autocast(DType::F16, || panic!("within")));
        assert!(panic.is_err() && layer.forward(&x).equal(&exact));
        let nested = autocast(DType::BF16, || {
            let inner = autocast(DType::F16, || layer.forward(&x));
            (inner, layer.forward(&x))
        });
        assert!(!nested.0.equal(&nested.1));
    });
}

#[test]
#[should_panic(expected = "products are in bf16 or f16, not f64")]
fn autocast_refuses_other_dtypes() {
    autocast(DType::F64, || ());
}

#[test]
fn convolutions_and_gradients_in_16_bits() {
    with_seed(3, || {
        let net = Net::new();
        let x = Tensor::<(N, C, H, W)>::randn([3, 2, 5, 5]);
        let grads = |half: bool| {
            net.zero_grad();
            let loss = || net.forward(&x, Mode::Train).square().mean(..);
            let loss = if half {
                autocast(DType::BF16, loss)
            } else {
                loss()
            };
            loss.backward();
            let grads = net
                .params()
                .into_iter()
                .map(|(_, param)| param.grad().unwrap());
            (loss.item(), grads.collect::<Vec<_>>())
        };
        let ((loss, grads32), (loss16, grads16)) = (grads(false), grads(true));
        assert!(loss != loss16 && (loss - loss16).abs() < 0.02 * loss);
        for (wide, narrow) in grads32.iter().zip(&grads16) {
            assert_eq!(narrow.dtype(), DType::F32);
            let norm = |x: &DynTensor| x.norm(..).unwrap().item().unwrap().to_f64();
            let error = norm(&wide.sub(narrow).unwrap());
            assert!(error < 0.05 * norm(wide).max(0.1), "{error}");
        }
    });
}

#[test]
fn a_scaled_loss_keeps_small_gradients() {
    let layer = Linear::<C, Out>::without_bias(C.of(1), Out.of(1));
    let x = tensor!([[1e-3]]; N, C);
    let grad = |scale: &mut LossScale| {
        layer.zero_grad();
        let loss = autocast(DType::F16, || layer.forward(&x).sum(..) * 1e-6);
        scale.scale(&loss).backward();
        assert!(scale.unscale(&layer));
        layer.weight.grad().unwrap().to_vec()[0]
    };
    let mut none = LossScale {
        factor: 1.0,
        ..default()
    };
    // The gradient of the product's result, 1e-6, has 4 bits in `f16`, and that of the weight, 1e-9, none.
    assert_eq!(grad(&mut none), 0.0);
    let mut scale = LossScale::default();
    assert!((grad(&mut scale) - 1e-9).abs() < 2e-12);
}

#[test]
fn the_factor_falls_at_infinities_and_grows_after_finite_steps() {
    let mut layer = Linear::<C, Out>::without_bias(C.of(1), Out.of(1));
    let mut scale = LossScale {
        interval: 2,
        ..default()
    };
    let step = |layer: &mut Linear<C, Out>, scale: &mut LossScale, by: f32| {
        let loss = layer.weight.sum(..) * by;
        scale.scale(&loss).backward();
        let finite = scale.unscale(layer);
        if finite {
            Sgd::new(1.0).step(layer);
        }
        finite
    };
    let before = layer.weight.to_vec()[0];
    assert!(!step(&mut layer, &mut scale, f32::MAX));
    assert_eq!((layer.weight.to_vec()[0], scale.factor), (before, 32_768.0));
    assert!(layer.weight.grad().is_none());
    assert!(step(&mut layer, &mut scale, 0.5));
    assert_eq!(layer.weight.to_vec()[0], before - 0.5);
    assert_eq!((scale.factor, scale.steps), (32_768.0, 1));
    assert!(step(&mut layer, &mut scale, 0.5));
    assert_eq!((scale.factor, scale.steps), (65_536.0, 0));
}
