//! Layers and optimizers that programs of the first month missed: each is there, and trains.

use nomina::prelude::*;
use nomina_nn::init;
use nomina_nn::layers::Direction;
use nomina_nn::optim::LbfgsOptions;
use nomina_nn::prelude::*;

dims! { N, C, H, W, Out, Hidden, Seq, Left, Right, Token, Feature }

#[test]
fn norms_pools_and_convolutions_of_images() {
    let x = Tensor::<(N, C, H, W)>::randn([2, 4, 6, 6]);
    let up = ConvTranspose2d::<(H, W), C, Out>::with(
        C.of(4),
        Out.of(3),
        (H.of(4), W.of(4)),
        ConvTransposeOptions {
            stride: [2, 2],
            padding: [1, 1],
            ..default()
        },
    );
    assert_eq!(up.forward(&x).shape(), [2, 3, 12, 12]);
    let norm = InstanceNorm::<(H, W), C>::new(C.of(4));
    let y = norm.forward(&x, Mode::Train);
    assert!(y.mean((H, W)).abs().max(..).item() < 1e-5);
    let pool = AdaptiveAvgPool::<(H, W)>::new((H.of(1), W.of(1)));
    assert!(
        pool.forward(&x)
            .squeeze(H)
            .squeeze(W)
            .allclose(&x.mean((H, W)))
    );
    let grown = Upsample::new((H, W), 2.0, InterpolateMode::Nearest).forward(&x);
    assert_eq!(grown.shape(), [2, 4, 12, 12]);
    // A dropped channel is dropped everywhere.
    let dropped = ChannelDropout::new((H, W), 0.5)
        .forward(&Tensor::<(N, C, H, W)>::ones([8, 8, 2, 2]), Mode::Train);
    assert!(dropped.amax((H, W)).equal(&dropped.amin((H, W))));
    let normed = WeightNorm::new(Linear::new(C.of(4), Out.of(3)));
    let rows: Tensor<(N, Out)> = normed.forward(&x.mean((H, W)), Mode::Train);
    assert_eq!(rows.shape(), [2, 3]);
    let spectral = SpectralNorm::new(Linear::new(C.of(4), Out.of(3)));
    let rows: Tensor<(N, Out)> = spectral.forward(&x.mean((H, W)), Mode::Train);
    assert_eq!(rows.shape(), [2, 3]);
}

#[test]
fn sequences_of_lengths_in_both_directions() {
    let options = RecurrentOptions {
        layers: 2,
        ..default()
    };
    let layer = BiLstm::<Seq, C, Hidden>::with(C.of(3), Hidden.of(5), options);
    let x = Tensor::<(N, Seq, C)>::randn([2, 7, 3]);
    let (y, _) = layer.forward_lengths(&x, &tensor!([7, 4]; N), None, Mode::Eval);
    let y: Tensor<(N, Seq, Direction, Hidden)> = y;
    assert_eq!(y.select(N, 1).narrow(Seq, 4..).abs().max(..).item(), 0.0);
    let bilinear = Bilinear::<Left, Right, Out>::new(Left.of(2), Right.of(3), Out.of(4));
    let pairs: Tensor<(N, Out)> = bilinear.forward(
        &Tensor::<(N, Left)>::randn([5, 2]),
        &Tensor::<(N, Right)>::randn([5, 3]),
    );
    assert_eq!(pairs.shape(), [5, 4]);
}

#[test]
fn an_embedding_is_a_layer_that_nests() {
    let model = Sequential((
        Embedding::new(Token.of(9), Feature.of(4)),
        Sequential((Linear::new(Feature.of(4), Out.of(2)), Dropout::new(0.1))),
    ));
    let ids = tensor!([[1, 8, 0]]; N, Seq);
    let y: Tensor<(N, Seq, Out)> = model.forward(&ids, Mode::Train);
    assert_eq!(y.shape(), [1, 3, 2]);
}

#[test]
fn a_parameter_is_filled_as_in_pytorch() {
    let mut layer = Linear::new(C.of(30), Out.of(20));
    init::trunc_normal_(&mut layer.weight, 0.0, 0.02, -0.04, 0.04);
    init::constant_(&mut layer.bias, 0.5);
    assert!(layer.weight.abs().max(..).item() <= 0.04);
    assert_eq!(layer.bias.unwrap().to_vec(), [0.5; 20]);
}

/// Each optimizer reduces the loss of a small regression.
#[test]
fn every_optimizer_trains() {
    let x = Tensor::<(N, C)>::randn([64, 3]);
    let wanted: Tensor<(N, Out)> = x.contract(&tensor!([[1., -2., 3.]]; Out, C), C);
    let mse = |model: &Linear<C, Out>| (model.forward(&x) - &wanted).square().mean(..);
    macro_rules! trains {
        ($($optimizer:expr;)*) => {$(
            let mut model = Linear::new(C.of(3), Out.of(1));
            let (mut optimizer, first) = ($optimizer, mse(&model).item());
            for _ in 0..60 {
                mse(&model).backward();
                optimizer.step(&mut model);
            }
            let last = mse(&model).item();
            assert!(last < 0.6 * first, "{}: {last} after {first}", stringify!($optimizer));
        )*};
    }
    trains! {
        Sgd::new(0.05);
        Adam::new(0.05);
        AdamW::new(0.05);
        RmsProp::new(0.05);
        Adagrad::new(0.5);
        Lion::new(0.05);
        Muon::new(0.05);
    }
    let mut model = Linear::new(C.of(3), Out.of(1));
    let mut lbfgs = Lbfgs::with(LbfgsOptions {
        strong_wolfe: true,
        ..default()
    });
    lbfgs.step(&mut model, |model| mse(model));
    assert!(mse(&model).item() < 1e-4);
}
