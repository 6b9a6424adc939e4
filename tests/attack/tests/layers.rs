//! Edge cases of layers and optimizers: ids that are not rows, empty batches, and momentum that follows its parameter.

use nomina::prelude::*;
use nomina_nn::optim::SgdOptions;
use nomina_nn::prelude::*;

dims! { N, T, C, V, E, In, Out }

#[test]
fn an_id_below_zero_is_no_row() {
    let layer = Embedding::new(V.of(3), E.of(2));
    for ids in [[-1_i64, 0], [0, -3], [0, 3], [i64::MIN, 0]] {
        let ids = tensor!([ids[0], ids[1]]; T);
        let error = layer.try_forward(&ids).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
        let ids = ids.to_dyn();
        let weight = layer.weight.to_dyn();
        assert_eq!(
            weight.embedding("V", &ids).unwrap_err().kind(),
            ErrorKind::Index
        );
        let error = ids.one_hot(Some(3_usize), "V").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Index, "{error}");
    }
    let ids: Tensor<(T,), i32> = tensor!([-1, 2]; T).to();
    assert!(layer.try_forward(&ids).is_err());
    // `index_select` accepts negative indices, as documented.
    let last: Tensor<(T, E)> = layer.weight.index_select(V, &tensor!([-1_i64]; T));
    assert_eq!(last.to_vec(), layer.weight.to_vec()[4..]);
}

#[test]
fn a_class_below_zero_is_no_target() {
    let x = Tensor::<(N, C)>::ones([2, 3]);
    for wrong in [-1_i64, -3, 3] {
        let target = tensor!([0_i64, wrong]; N);
        assert_eq!(
            x.try_cross_entropy(&target, C).unwrap_err().kind(),
            ErrorKind::Index
        );
        assert_eq!(
            x.try_nll_loss(&target, C).unwrap_err().kind(),
            ErrorKind::Index
        );
    }
    // The label -100 is ignored.
    assert!(x.try_cross_entropy(&tensor!([0_i64, -100]; N), C).is_ok());
}

#[test]
fn a_batch_without_statistics_leaves_those_that_run() {
    let norm = BatchNorm::new(C.of(2));
    let _ = norm.forward(&tensor!([[1., 2.], [3., 6.]]; N, C), Mode::Train);
    let before = [
        norm.running_mean.get().to_vec(),
        norm.running_var.get().to_vec(),
    ];
    for rows in [0, 1] {
        let error = norm
            .try_forward(&Tensor::<(N, C)>::ones([rows, 2]), Mode::Train)
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Shape, "{error}");
        assert_eq!(
            [
                norm.running_mean.get().to_vec(),
                norm.running_var.get().to_vec()
            ],
            before
        );
    }
    assert_eq!(
        norm.forward(&Tensor::<(N, C)>::ones([0, 2]), Mode::Eval)
            .shape(),
        [0, 2]
    );
    let empty = Tensor::<(N, C, T)>::ones([3, 2, 0]);
    assert!(norm.try_forward(&empty, Mode::Train).is_err());
    assert_eq!(
        [
            norm.running_mean.get().to_vec(),
            norm.running_var.get().to_vec()
        ],
        before
    );
}

#[test]
fn momentum_stays_with_the_layer_that_earned_it() {
    let mut layers: Vec<Linear<In, Out>> = (0..3)
        .map(|_| Linear::without_bias(In.of(1), Out.of(1)))
        .collect();
    let mut sgd = Sgd::with(SgdOptions {
        lr: 1.0,
        momentum: 0.5,
        ..SgdOptions::default()
    });
    for (layer, grad) in layers.iter().zip([8.0, 0.0, 64.0]) {
        layer.weight.set_grad(&tensor!([[grad]]; Out, In));
    }
    sgd.step(&mut layers);
    layers.remove(0);
    let before: Vec<f32> = layers
        .iter()
        .map(|layer| layer.weight.sum(..).item())
        .collect();
    for layer in &layers {
        layer.weight.set_grad(&tensor!([[0.]]; Out, In));
    }
    sgd.step(&mut layers);
    let gone = layers
        .iter()
        .zip(before)
        .map(|(layer, before)| before - layer.weight.sum(..).item());
    assert_eq!(gone.map(f32::round).collect::<Vec<_>>(), [0.0, 32.0]);
}
