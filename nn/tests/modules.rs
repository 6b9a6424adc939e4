//! Modules: paths, state, loading, leaves.

use nomina::prelude::*;
use nomina_nn::Param;
use nomina_nn::prelude::*;

dims! { N, In, Hidden, Head, Feature, Out }

#[derive(Clone, Module)]
struct Block {
    norm: LayerNorm<Hidden>,
    heads: Linear<Hidden, (Head, Feature)>,
    dropout: Dropout,
}

#[derive(Clone, Module)]
enum Last {
    Linear(Linear<Hidden, Out>),
    #[allow(dead_code)]
    Scale {
        gain: Param<(Hidden,)>,
    },
}

#[derive(Clone, Module)]
struct Model {
    first: Linear<In, Hidden>,
    blocks: Vec<Block>,
    extra: Option<Box<LayerNorm<Hidden>>>,
    last: Last,
    seen: Tensor<(Hidden,), i64>,
    #[module(skip)]
    rate: f32,
}

fn model() -> Model {
    let block = || Block {
        norm: LayerNorm::new(Hidden.of(6)),
        heads: Linear::new(Hidden.of(6), (Head.of(2), Feature.of(3))),
        dropout: Dropout::new(0.1),
    };
    Model {
        first: Linear::without_bias(In.of(4), Hidden.of(6)),
        blocks: vec![block(), block()],
        extra: None,
        last: Last::Linear(Linear::new(Hidden.of(6), Out.of(2))),
        seen: Tensor::zeros([6]),
        rate: 0.5,
    }
}

#[test]
fn paths_are_the_fields_on_the_way() {
    let model = model();
    assert!(model.rate > 0.0);
    let paths = [
        "first.weight",
        "blocks.0.norm.weight",
        "blocks.0.norm.bias",
        "blocks.0.heads.weight",
        "blocks.0.heads.bias",
        "blocks.1.norm.weight",
        "blocks.1.norm.bias",
        "blocks.1.heads.weight",
        "blocks.1.heads.bias",
        "last.0.weight",
        "last.0.bias",
        "seen",
    ];
    assert_eq!(model.paths(), paths);
    assert_eq!(model.params().len(), paths.len() - 1);
    assert_eq!(model.count(), 24 + 2 * (6 + 6 + 36 + 6) + 14);
    let scale = Last::Scale {
        gain: Param::new(Tensor::ones([3])),
    };
    assert_eq!(scale.paths(), ["gain"]);
}

#[test]
fn state_goes_into_another_model() {
    with_seed(1, || {
        let (one, mut two) = (model(), model());
        let state = one.state();
        assert!(!two.first.weight.equal(&one.first.weight));
        two.load(state);
        assert!(two.first.weight.equal(&one.first.weight));
        assert!(two.first.weight.requires_grad() && !two.seen.requires_grad());
    });
}

#[test]
fn what_does_not_fit_changes_nothing() {
    let mut model = model();
    let before = model.state();
    let mut given = before.clone();
    let load = |model: &mut Model, given: &[(String, DynTensor)]| {
        let text = model.try_load(given.to_vec()).unwrap_err().to_string();
        for ((_, before), (_, after)) in before.iter().zip(model.state()) {
            assert!(before.equal(&after).unwrap());
        }
        text
    };
    // Names that were swapped: the sizes would fit.
    given[9].1 = DynTensor::ones(&[2, 6], names!["Hidden", "Out"]).unwrap();
    let text = load(&mut model, &given);
    assert!(
        text.contains("load: `last.0.weight`: the dims' names are not the module's"),
        "{text}"
    );
    assert!(
        text.contains("dims (Hidden=2, Out=6) and (Out=2, Hidden=6)"),
        "{text}"
    );
    given[9].1 = DynTensor::ones(&[2, 5], names!["Out", "Hidden"]).unwrap();
    let text = load(&mut model, &given);
    assert!(
        text.contains("`last.0.weight`: sizes differ from the module's"),
        "{text}"
    );
    given[9].1 = DynTensor::ones(&[2, 6], ())
        .unwrap()
        .to_dtype(DType::F64)
        .unwrap();
    let text = load(&mut model, &given);
    assert!(
        text.contains("`last.0.weight`: the module's dtype is f32, not f64"),
        "{text}"
    );
}

#[test]
fn a_tensor_without_names_may_have_dims_as_one() {
    let mut layer: Linear<Hidden, (Head, Feature)> =
        Linear::new(Hidden.of(6), (Head.of(2), Feature.of(3)));
    let numbers: Vec<f32> = (0..36).map(|x| x as f32).collect();
    let weight = DynTensor::from_vec(numbers.clone(), &[6, 6], ()).unwrap();
    let bias = DynTensor::from_vec(numbers[..6].to_vec(), &[6], ()).unwrap();
    layer.load([("weight", weight), ("bias", bias)]);
    assert_eq!(layer.weight.shape(), [2, 3, 6]);
    assert_eq!(layer.weight.to_vec(), numbers);
    assert_eq!(layer.bias.as_ref().unwrap().shape(), [2, 3]);
}

#[test]
fn a_fork_has_leaves_of_its_own() {
    let one = Linear::new(In.of(2), Out.of(1));
    let (clone, fork) = (one.clone(), one.fork());
    let x = Tensor::<(N, In)>::ones([3, 2]);
    one.forward(&x).sum(..).backward();
    assert!(clone.weight.grad().is_some() && fork.weight.grad().is_none());
    one.zero_grad();
    assert!(clone.weight.grad().is_none());
}

#[test]
fn frozen_parameters_stay() {
    let mut layer = Linear::new(In.of(2), Out.of(1));
    layer.freeze();
    let x = Tensor::<(N, In)>::ones([3, 2]);
    assert!(!layer.forward(&x).requires_grad());
    layer.unfreeze();
    layer.forward(&x).sum(..).backward();
    assert_eq!(layer.weight.grad().unwrap().to_vec(), [3.0, 3.0]);
}

#[test]
fn errors_of_sizes_name_both() {
    let layer = Linear::new(In.of(2), (Head.of(2), Feature.of(3)));
    let text = layer
        .try_forward(&Tensor::<(N, In)>::ones([3, 4]))
        .unwrap_err()
        .to_string();
    assert!(text.starts_with("linear: "), "{text}");
    assert!(
        text.contains("dims (N=3, In=4) and (Head=2, Feature=3, In=2)"),
        "{text}"
    );
}

#[test]
fn a_state_has_the_paths_of_the_model() {
    let mut layer = Linear::new(In.of(2), Out.of(1));
    let before = layer.weight.to_vec();
    let mut state = layer.state();
    state.push(("scale".to_owned(), DynTensor::ones(&[], ()).unwrap()));
    let text = layer.try_load(state.clone()).unwrap_err().to_string();
    assert!(text.starts_with("load: the module lacks `scale`"), "{text}");
    drop(state.remove(1));
    let text = layer.try_load(state.clone()).unwrap_err().to_string();
    let what = "load: the state lacks `bias`, and the module lacks `scale`";
    assert!(text.starts_with(what), "{text}");
    assert!(text.contains("`load_with(state, Strict::No)`"), "{text}");
    state[0].1 = DynTensor::full(&[1, 2], 7.0, names!["Out", "In"])
        .unwrap()
        .to_dtype(DType::F32)
        .unwrap();
    assert_eq!(layer.weight.to_vec(), before);
    let unmatched = layer.load_with(state.clone(), Strict::No);
    assert_eq!(unmatched.missing, ["bias"]);
    assert_eq!(unmatched.unexpected, ["scale"]);
    assert_eq!(layer.weight.to_vec(), [7.0, 7.0]);
    let twice = [state[0].clone(), state[0].clone()];
    let text = layer.try_load(twice).unwrap_err().to_string();
    assert!(text.contains("two tensors at `weight`"), "{text}");
}
