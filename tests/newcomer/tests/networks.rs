//! Networks of the first month.

use nomina::dims::SizesFor;
use nomina::prelude::*;
use nomina_io::safetensors::{self, SafeTensors};
use nomina_nn::data::Shuffled;
use nomina_nn::metrics::{Accuracy, Confusion, Mean};
use nomina_nn::optim::{Accumulation, Ema, is_bias_or_norm};
use nomina_nn::{from_torch, prelude::*};

dims! { N, C, H, W, Out, Hidden, Seq, Source, Head, Feature, Inner, Class, C8 = 8 }

#[test]
fn a_batch_norm_in_a_sequence_trains() {
    let mut model = Sequential((BatchNorm::new(C.of(3)), Linear::new(C.of(3), Out.of(2))));
    let x = Tensor::<(N, C)>::randn([32, 3]) + 4.0;
    let mut sgd = Sgd::new(0.01);
    for _ in 0..50 {
        let y: Tensor<(N, Out)> = model.forward(&x, Mode::Train);
        y.square().mean(..).backward();
        sgd.step(&mut model);
    }
    let mean = model.0.0.running_mean.get();
    assert!(mean.min(..).item() > 3.0, "{mean}");
    let (first, second) = (model.forward(&x, Mode::Eval), model.forward(&x, Mode::Eval));
    assert!(first.equal(&second));
    assert_eq!(model.0.0.running_mean.get().to_vec(), mean.to_vec());
}

#[test]
fn loading_is_strict() {
    let small = Linear::new(C.of(3), Out.of(2));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("weights.safetensors");
    let other = ("gain".to_owned(), DynTensor::zeros(&[2], ()).unwrap());
    safetensors::save(&path, small.state().into_iter().chain([other])).unwrap();
    let file = SafeTensors::open(&path).unwrap();
    let mut model = Linear::new(C.of(3), Out.of(2));
    let error = model.try_load(file.tensors().unwrap()).unwrap_err();
    assert!(error.to_string().contains("`gain`"), "{error}");
    let left = model.load_with(file.tensors().unwrap(), Strict::No);
    assert_eq!(
        (left.unexpected, left.missing),
        (vec!["gain".to_owned()], vec![])
    );
    assert_eq!(model.weight.to_vec(), small.weight.to_vec());
}

#[test]
fn models_of_every_float_dtype() {
    let model = Sequential((
        Linear::new(C.of(3), Hidden.of(4)),
        Activation::Relu,
        LayerNorm::new(Hidden.of(4)),
    ));
    let x = Tensor::<(N, C)>::randn([2, 3]);
    let y = model.forward(&x, Mode::Eval);
    let double = model.to::<f64>().forward(&x.to::<f64>(), Mode::Eval);
    assert!((double - y.to::<f64>()).abs().max(..).item() < 1e-5);
    assert_eq!(
        model
            .to::<bf16>()
            .forward(&x.to::<bf16>(), Mode::Eval)
            .dtype(),
        DType::BF16
    );
    let mixed = autocast(DType::BF16, || model.forward(&x, Mode::Eval));
    assert_eq!(mixed.dtype(), DType::F32);
    let norm: GroupNorm<(H, W), C> = GroupNorm::new(C.of(4), 2);
    let norm: GroupNorm<(H, W), C, f64> = norm.to();
    assert_eq!(
        norm.forward(&Tensor::<(N, C, H, W), f64>::ones([1, 4, 2, 2]))
            .dtype(),
        DType::F64
    );
    assert_eq!(LossScale::default().factor, 65_536.0);
}

#[derive(Module)]
struct Scaled {
    gain: Param<(C,)>,
    bias: Param<(C,)>,
}

#[test]
fn a_parameter_is_an_operand() {
    let layer = Scaled {
        gain: Param::new(tensor!([2., 3.]; C)),
        bias: Param::new(tensor!([1., 1.]; C)),
    };
    let x = tensor!([[1., 1.]]; N, C);
    let y = &x * &layer.gain + &layer.bias;
    assert_eq!(y.to_vec(), [3.0, 4.0]);
    assert_eq!((&layer.gain * &x + &layer.bias * 2.0).to_vec(), [4.0, 5.0]);
    assert_eq!(x.contract(&layer.gain, C).to_vec(), [5.0]);
    let (gain, bias) = (&layer.gain, &layer.bias);
    assert_eq!(fuse!(|x, gain, bias| x * gain + bias).to_vec(), [3.0, 4.0]);
}

/// A layer generic in its dims.
#[derive(Module)]
struct Gated<I: Dim, O: Dim> {
    value: Linear<I, O>,
    shift: Param<(O, I)>,
}

impl<I: Dim, O: Dim> Gated<I, O>
where
    (O, I): Distinct,
{
    fn new(input: impl SizesFor<I> + Copy, output: impl SizesFor<O> + Copy) -> Self {
        let sizes = [output.sizes()[0], input.sizes()[0]];
        Self {
            value: Linear::new(input, output),
            shift: Param::new(Tensor::zeros(sizes)),
        }
    }
}

impl<D: Dims, I: Dim, O: Dim> Layer<Tensor<D>> for Gated<I, O>
where
    I: Contract<D, (O, I)>,
    Contracted<D, (O, I), I>: Distinct,
{
    type Out = Tensor<Contracted<D, (O, I), I>>;
    fn try_apply(&self, x: &Tensor<D>, mode: Mode) -> Result<Self::Out> {
        self.value.try_apply(x, mode)?.try_tanh()
    }
}

#[test]
fn layers_of_ones_own_nest() {
    let model = Sequential((
        Sequential((Gated::new(C.of(3), Hidden.of(4)), Dropout::new(0.5))),
        Linear::new(Hidden.of(4), Prime(Hidden).of(4)),
        Function(|x: &Tensor<(N, Prime<Hidden>)>| x.rename(Prime(Hidden), Hidden)),
        Gated::new(Hidden.of(4), Out.of(2)),
    ));
    let y: Tensor<(N, Out)> = model.forward(&Tensor::<(N, C)>::randn([5, 3]), Mode::Train);
    assert_eq!(y.shape(), [5, 2]);
    assert_eq!(model.paths()[1], "0.0.value.bias");
}

#[test]
fn grouped_and_depthwise_convolutions_of_constant_sizes() {
    let depthwise = ConvOptions {
        groups: 8,
        padding: Padding::Same,
        ..default()
    };
    let conv = Conv2d::<(H, W), C8, C8>::with(C8, C8, (H.of(3), W.of(3)), depthwise);
    let x = Tensor::<(N, C8, H, W)>::randn([2, 8, 5, 5]);
    assert_eq!((&x + conv.forward(&x)).shape(), [2, 8, 5, 5]);
    assert_eq!(conv.weight.shape(), [8, 1, 3, 3]);
}

#[test]
fn attention_of_pytorch_loads() {
    let state = [
        ("self_attn.in_proj_weight", DynTensor::randn(&[12, 4], ())),
        ("self_attn.in_proj_bias", DynTensor::zeros(&[12], ())),
        ("self_attn.out_proj.weight", DynTensor::randn(&[4, 4], ())),
        ("self_attn.out_proj.bias", DynTensor::zeros(&[4], ())),
        ("linear1.weight", DynTensor::randn(&[6, 4], ())),
        ("linear1.bias", DynTensor::zeros(&[6], ())),
        ("linear2.weight", DynTensor::randn(&[4, 6], ())),
        ("linear2.bias", DynTensor::zeros(&[4], ())),
        ("norm1.weight", DynTensor::ones(&[4], ())),
        ("norm1.bias", DynTensor::zeros(&[4], ())),
        ("norm2.weight", DynTensor::ones(&[4], ())),
        ("norm2.bias", DynTensor::zeros(&[4], ())),
    ];
    let mut layer = TransformerEncoderLayer::<Seq, Hidden, Head, Feature, Inner>::new(
        Hidden.of(4),
        Head.of(2),
        Feature.of(2),
        Inner.of(6),
        default(),
    );
    layer.load(from_torch(state.map(|(path, x)| (path, x.unwrap()))));
    let x = Tensor::<(N, Seq, Hidden)>::randn([2, 3, 4]);
    assert_eq!(layer.forward(&x, Mode::Eval).shape(), [2, 3, 4]);
    let cross = CrossAttention::<Seq, Source, Hidden, Head, Feature>::new(
        Hidden.of(4),
        Head.of(2),
        Feature.of(2),
    );
    let memory = Tensor::<(N, Source, Hidden)>::randn([2, 7, 4]);
    assert_eq!(cross.forward(&x, &memory, default()).shape(), [2, 3, 4]);
}

#[test]
fn groups_averages_and_accumulation() {
    let mut model = (Linear::new(C.of(2), Out.of(3)), LayerNorm::new(Out.of(3)));
    let mut optimizer =
        AdamW::new(1e-3).group(is_bias_or_norm, |options| options.weight_decay = 0.0);
    let decays = optimizer
        .options_of(&model)
        .into_iter()
        .map(|(_, options)| options.weight_decay);
    assert_eq!(decays.collect::<Vec<_>>(), [0.01, 0.0, 0.0, 0.0]);
    let (mut accumulation, mut average) = (Accumulation::new(2), Ema::new(&model, 0.9));
    for _ in 0..4 {
        let x = Tensor::<(N, C)>::randn([8, 2]);
        let y: Tensor<(N, Out)> = model.0.forward(&x);
        if accumulation.backward(model.1.forward(&y).square().mean(..)) {
            optimizer.step(&mut model);
            average.update(&model);
        }
    }
    assert_eq!(average.updates, 2);
}

#[derive(Batch)]
struct Sample {
    pixels: Tensor<(C,)>,
    label: i64,
}

#[test]
fn a_loader_adds_the_batch_dim() {
    let read = |index: usize| -> Result<Sample> {
        let label = (index % 3) as i64;
        Ok(Sample {
            pixels: Tensor::full([3], label as f32),
            label,
        })
    };
    let loader: Loader<SampleBatch<N>> = Loader::from_fn(N, 10, read, 4)
        .sampler(Shuffled { seed: 7 })
        .workers(2);
    let (mut accuracy, mut confusion, mut mean) = (
        Accuracy::new(Class),
        Confusion::new(Class.of(3)),
        Mean::default(),
    );
    for batch in loader.epoch(0) {
        let SampleBatch { pixels, label } = batch.unwrap();
        let told: Tensor<(N,), i64> = pixels.select(C, 0).long();
        let scores: Tensor<(N, Class)> = told.one_hot(Class.of(3)).float();
        accuracy.update(&scores, &label);
        confusion.update(&told, &label);
        mean.update(0.5, label.size(N));
    }
    assert_eq!(
        (accuracy.value(), confusion.accuracy(), accuracy.count()),
        (1.0, 1.0, 10)
    );
    assert_eq!(mean.value(), 0.5);
    let texts = [tensor!([5, 6]; Seq), tensor!([7]; Seq)];
    let (ids, lengths) = pad_sequences(N, Seq, &texts, 0);
    let ids: Tensor<(N, Seq), i64> = ids;
    assert_eq!(
        (ids.to_vec(), lengths.to_vec()),
        (vec![5, 6, 7, 0], vec![2, 1])
    );
}
