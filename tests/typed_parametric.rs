//! Types and values of elementwise operators with parameters, normalisations and losses.

use nomina::prelude::*;
use nomina::reduction;

dims! { N, C, H, W }

fn x() -> Tensor<(N, C)> {
    tensor!([[1., -2., 3.], [-4., 5., 0.]]; N, C)
}

fn near(got: &[f32], want: &[f32]) {
    assert_eq!(got.len(), want.len());
    for (a, b) in got.iter().zip(want) {
        assert!((a - b).abs() < 1e-4, "{got:?} is not {want:?}");
    }
}

#[test]
fn numbers_of_choice() {
    let y: Tensor<(N, C)> = x().leaky_relu_with(LeakyReluOptions {
        negative_slope: 0.5,
    });
    assert_eq!(y.to_vec(), [1., -1., 3., -2., 5., 0.]);
    let y: Tensor<(N, C)> = x().hardtanh();
    assert_eq!(y.to_vec(), [1., -1., 1., -1., 1., 0.]);
    let mut y = x();
    y.elu_().hardtanh_with_(HardtanhOptions {
        min_val: -0.5,
        max_val: 2.0,
    });
    assert_eq!(y.to_vec(), [1., -0.5, 2., -0.5, 2., 0.]);
    assert_eq!(x().threshold(0.5, 9).to_vec(), [1., 9., 3., 9., 5., 9.]);
    let y: Tensor<(N, C)> = tensor!([[0.25, f32::NAN, f32::INFINITY]]; N, C);
    let filled = y.nan_to_num_with(NanToNumOptions {
        nan: 1.0,
        posinf: Some(7.0),
        ..default()
    });
    assert_eq!(filled.to_vec(), [0.25, 1.0, 7.0]);
    assert!(x().try_round_with(RoundOptions { decimals: 2 }).is_ok());
    let whole: Tensor<(N,), i32> = Tensor::from_vec(vec![1, 2], [2]).unwrap();
    let error = whole
        .try_round_with(RoundOptions { decimals: 1 })
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::DType);
}

#[test]
fn two_and_three_operands() {
    let row = tensor!([2., 2., 2.]; C);
    let y: Tensor<(N, C)> = x().addcmul_with(&row, &row, AddcmulOptions { value: 0.5.into() });
    assert_eq!(y.to_vec(), [3., 0., 5., -2., 7., 2.]);
    let y: Tensor<(N, C)> = x().addcdiv(&row, &row);
    assert_eq!(y.to_vec(), [2., -1., 4., -3., 6., 1.]);
    let y: Tensor<(N, C)> = x().lerp(&row, 0.5);
    assert_eq!(y.to_vec(), [1.5, 0., 2.5, -1., 3.5, 1.]);
    let mut y = x();
    y.lerp_(&row, 1.0);
    assert_eq!(y.to_vec(), [2.; 6]);
    let ints: Tensor<(C,), i32> = Tensor::from_vec(vec![7, -7, 5], [3]).unwrap();
    let options = DivOptions {
        rounding_mode: RoundingMode::Floor,
    };
    let y: Tensor<(C,), i32> = ints.div_with(2, options);
    assert_eq!(y.to_vec(), [3, -4, 2]);
    let y: Tensor<(C,), i32> = ints.gcd(&ints.mul(3));
    assert_eq!(y.to_vec(), [7, 7, 5]);
    let y: Tensor<(C,), f64> = ints.float_power(2);
    assert_eq!(y.to_vec(), [49., 49., 25.]);
    let y: Tensor<(C,), f32> = ints.copysign(-1.0);
    assert_eq!(y.to_vec(), [-7., -7., -5.]);
    let y: Tensor<(C,), bool> = ints.signbit();
    assert_eq!(y.to_vec(), [false, true, false]);
    let same: Tensor<(N, C), bool> = x().isclose(&row);
    assert!(!same.to_vec()[0] && x().allclose(&x()));
}

#[test]
fn normalised_by_name() {
    let y: Tensor<(N, C)> = x().layer_norm(C);
    near(&y.sum(C).to_vec(), &[0., 0.]);
    near(&y.square().mean(C).to_vec(), &[1., 1.]);
    let y: Tensor<(N, C)> = x().layer_norm(N);
    near(&y.sum(N).to_vec(), &[0.; 3]);
    let y: Tensor<(N, C)> = x().rms_norm((N, C));
    near(&[y.square().mean(..).item()], &[1.]);
    let scale = tensor!([1., 2., 3.]; C);
    let options = LayerNormOptions {
        weight: Some(&scale),
        ..default()
    };
    let y: Tensor<(N, C)> = x().layer_norm_with(C, options);
    near(&y.div(&scale).to_vec(), &x().layer_norm(C).to_vec());

    let images: Tensor<(N, C, H, W)> = Tensor::randn([2, 4, 3, 5]);
    let y: Tensor<(N, C, H, W)> = images.batch_norm(C);
    near(&y.mean((N, H, W)).to_vec(), &[0.; 4]);
    let y: Tensor<(N, C, H, W)> = images.group_norm(C, (H, W), 2);
    let total: Tensor<(N,)> = y.mean((C, H, W));
    near(&total.to_vec(), &[0.; 2]);
    let y: Tensor<(N, C, H, W)> = images.instance_norm((H, W));
    near(&y.mean((H, W)).to_vec(), &[0.; 8]);
    // The channel dim may be at any position.
    let last = images.align_to((N, H, W, C));
    near(
        &last.batch_norm(C).align_as(&images).to_vec(),
        &images.batch_norm(C).to_vec(),
    );
    let (mut mean, mut var) = (Tensor::<(C,)>::zeros([4]), Tensor::<(C,)>::ones([4]));
    let options = BatchNormOptions {
        momentum: 1.0,
        ..default()
    };
    let trained = images.batch_norm_train(C, &mut mean, &mut var, options);
    near(&mean.to_vec(), &images.mean((N, H, W)).to_vec());
    near(&var.to_vec(), &images.var((N, H, W)).to_vec());
    let later = images.batch_norm_eval(C, &mean, &var, default());
    near(
        &later.to_vec(),
        &trained.mul((29.0_f32 / 30.0).sqrt()).to_vec(),
    );
}

#[test]
fn losses_and_their_dims() {
    let y = x().add(1.0);
    let mean: Tensor<()> = x().mse_loss(&y);
    let sum: Tensor<()> = x().l1_loss_with(&y, reduction::Sum);
    let each: Tensor<(N, C)> = x().mse_loss_with(&y, reduction::None);
    assert_eq!((mean.item(), sum.item()), (1.0, 6.0));
    assert_eq!(each.to_vec(), [1.0; 6]);
    let each: Tensor<(N, C)> =
        x().huber_loss_with(&y, reduction::None, HuberLossOptions { delta: 0.5 });
    assert_eq!(each.to_vec(), [0.375; 6]);

    let classes: Tensor<(N,), i64> = Tensor::from_vec(vec![2, 0], [2]).unwrap();
    let loss: Tensor<()> = x().cross_entropy(&classes, C);
    let each: Tensor<(N,)> =
        x().cross_entropy_with(&classes, C, reduction::None, CrossEntropyOptions::default());
    near(&[loss.item()], &[each.mean(..).item()]);
    let logs = x().log_softmax(C);
    near(&[logs.nll_loss(&classes, C).item()], &[loss.item()]);
    let shares: Tensor<(N, C)> = tensor!([[0., 0., 1.], [1., 0., 0.]]; N, C);
    near(&[x().cross_entropy(&shares, C).item()], &[loss.item()]);
    let weight = tensor!([0., 0., 1.]; C);
    let options = CrossEntropyOptions {
        weight: Some(&weight),
        ..default()
    };
    let first: Tensor<()> = x().cross_entropy_with(&classes, C, reduction::Mean, options);
    near(&[first.item()], &each.to_vec()[..1]);
    let bad: Tensor<(N,), i64> = Tensor::from_vec(vec![2, 3], [2]).unwrap();
    let error = x().try_cross_entropy(&bad, C).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Index);
    assert!(error.to_string().contains("dim `C`"), "{error}");

    let cosine: Tensor<(N,)> = x().cosine_similarity(&x(), C);
    near(&cosine.to_vec(), &[1., 1.]);
    let apart: Tensor<(N, C)> = x().pairwise_distance(&y, keep(C));
    near(&apart.to_vec(), &[3_f32.sqrt(); 2]);
}

#[test]
fn dropped_at_random() {
    let ones = Tensor::<(N, C)>::ones([100, 100]);
    let mut generator = Generator::new(1);
    let options = DropoutOptions {
        p: 0.25,
        ..default()
    };
    let y: Tensor<(N, C)> = ones.dropout_from(options, &mut generator);
    let kept = y.to_vec().iter().filter(|&&v| v != 0.0).count();
    assert!((7200..7800).contains(&kept), "{kept}");
    assert!((y.mean(..).item() - 1.0).abs() < 0.05);
    assert_eq!(
        y.to_vec(),
        ones.dropout_from(options, &mut Generator::new(1)).to_vec()
    );
    let still = ones.dropout_with(DropoutOptions {
        training: false,
        ..options
    });
    assert_eq!(still.to_vec(), ones.to_vec());
    assert!(
        ones.try_dropout_with(DropoutOptions { p: 1.5, ..options })
            .is_err()
    );
}

#[test]
fn names_at_run_time_too() {
    let wild: Tensor<(Wild, C)> = x().into_dyn().typed::<(Wild, C), f32>().unwrap();
    let y: Tensor<(Wild, C)> = wild.layer_norm(C);
    assert_eq!(y.names().to_string(), "(N, C)");
    let y: Tensor<(Wild, C)> = wild.softplus();
    assert_eq!(y.names().to_string(), "(N, C)");
    let other = tensor!([[1., 2., 3.], [1., 2., 3.]]; H, C);
    assert!(wild.try_mse_loss(&other).is_err());
}
