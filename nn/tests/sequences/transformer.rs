//! Attention and Transformer layers beside plain loops, with states of PyTorch.

use nomina::prelude::*;
use nomina_nn::layers::{
    CrossAttention, TransformerDecoder, TransformerDecoderLayer, TransformerEncoder,
    TransformerEncoderLayer, TransformerOptions,
};
use nomina_nn::prelude::*;

use crate::plain::{HEADS, HIDDEN, Plain, Rows, attention, norm, rows};
use crate::reference::{
    State, assert_close, check_gradients, numbers, state_of, weighted, weighted_sum,
};

dims! { N, Seq, Source, Hidden, Head, Feature, Inner, Other }

const BATCH: usize = 2;
const LEN: usize = 4;
const MEMORY: usize = 3;
const INNER: usize = 5;

type EncoderLayer = TransformerEncoderLayer<Seq, Hidden, Head, Feature, Inner>;
type DecoderLayer = TransformerDecoderLayer<Seq, Source, Hidden, Head, Feature, Inner>;

/// A state of PyTorch's attention: `MultiheadAttention(6, 2)`.
fn attention_of_pytorch(prefix: &str) -> Vec<(String, DynTensor)> {
    let random = |sizes: &[usize]| DynTensor::randn(sizes, ()).unwrap().mul(0.5).unwrap();
    vec![
        (
            format!("{prefix}in_proj_weight"),
            random(&[3 * HIDDEN, HIDDEN]),
        ),
        (format!("{prefix}in_proj_bias"), random(&[3 * HIDDEN])),
        (
            format!("{prefix}out_proj.weight"),
            random(&[HIDDEN, HIDDEN]),
        ),
        (format!("{prefix}out_proj.bias"), random(&[HIDDEN])),
    ]
}

/// A state of `TransformerEncoderLayer(6, 2, 5)`, or of `TransformerDecoderLayer(6, 2, 5)`.
fn layer_of_pytorch(prefix: &str, is_decoder: bool) -> Vec<(String, DynTensor)> {
    let mut state = attention_of_pytorch(&format!("{prefix}self_attn."));
    if is_decoder {
        state.extend(attention_of_pytorch(&format!("{prefix}multihead_attn.")));
    }
    let norms: &[&str] = if is_decoder {
        &["norm1", "norm2", "norm3"]
    } else {
        &["norm1", "norm2"]
    };
    let sizes = [("linear1", INNER, HIDDEN), ("linear2", HIDDEN, INNER)];
    for (name, outputs, inputs) in sizes {
        let weight = DynTensor::randn(&[outputs, inputs], ()).unwrap();
        state.push((format!("{prefix}{name}.weight"), weight));
        state.push((
            format!("{prefix}{name}.bias"),
            DynTensor::randn(&[outputs], ()).unwrap(),
        ));
    }
    for name in norms {
        let weight = DynTensor::rand(&[HIDDEN], ()).unwrap().add(0.5).unwrap();
        state.push((format!("{prefix}{name}.weight"), weight));
        state.push((
            format!("{prefix}{name}.bias"),
            DynTensor::randn(&[HIDDEN], ()).unwrap(),
        ));
    }
    state
}

fn encoder_layer(options: TransformerOptions) -> EncoderLayer {
    let mut layer = EncoderLayer::new(
        Hidden.of(HIDDEN),
        Head.of(HEADS),
        Feature.of(HIDDEN / HEADS),
        Inner.of(INNER),
        options,
    );
    layer.load(from_torch(layer_of_pytorch("", false)));
    layer
}

fn decoder_layer(options: TransformerOptions) -> DecoderLayer {
    let mut layer = DecoderLayer::new(
        Hidden.of(HIDDEN),
        Head.of(HEADS),
        Feature.of(HIDDEN / HEADS),
        Inner.of(INNER),
        options,
    );
    layer.load(from_torch(layer_of_pytorch("", true)));
    layer
}

/// Pre-norm and post-norm, with different activations.
fn kinds() -> [TransformerOptions; 2] {
    [
        TransformerOptions {
            activation: Activation::GeluTanh,
            ..default()
        },
        TransformerOptions {
            norm_first: true,
            activation: Activation::Silu,
            ..default()
        },
    ]
}

fn sequences(x: &Tensor<(N, Seq, Hidden)>) -> Vec<Rows> {
    let all = numbers(&x.to_dyn());
    all.chunks(LEN * HIDDEN)
        .map(|one| rows(one, HIDDEN))
        .collect()
}

fn memories(x: &Tensor<(N, Source, Hidden)>) -> Vec<Rows> {
    let all = numbers(&x.to_dyn());
    all.chunks(MEMORY * HIDDEN)
        .map(|one| rows(one, HIDDEN))
        .collect()
}

fn joined(found: impl Iterator<Item = Rows>) -> Vec<f64> {
    found.flatten().flatten().collect()
}

#[test]
fn encoder_layers_are_those_of_plain_loops() {
    with_seed(1, || {
        for (options, causal) in kinds()
            .into_iter()
            .flat_map(|kind| [(kind, false), (kind, true)])
        {
            let options = TransformerOptions { causal, ..options };
            let layer = encoder_layer(options);
            let x = Tensor::<(N, Seq, Hidden)>::randn([BATCH, LEN, HIDDEN]);
            // The second sequence ends after three positions.
            let counts = tensor!([[true, true, true, true], [true, true, true, false]]; N, Seq);
            let plain = |state: &State, masked: bool| {
                let each = sequences(&x).into_iter().enumerate().map(|(n, x)| {
                    let sees = |_: usize, source: usize| !masked || n == 0 || source < 3;
                    let plain = Plain {
                        options,
                        sees: &sees,
                        sees_memory: &sees,
                    };
                    plain.layer(state, "", &x, None)
                });
                joined(each)
            };
            for masked in [false, true] {
                let y = if masked {
                    layer.forward_masked(&x, &counts.prime(Seq), Mode::Eval)
                } else {
                    layer.forward(&x, Mode::Eval)
                };
                let wanted = plain(&state_of(&layer), masked);
                assert_close(&numbers(&y.to_dyn()), &wanted, 1e-5, "encoder layer");
                layer.zero_grad();
                weighted_sum(&y).backward();
                check_gradients(&layer, |state| weighted(&plain(state, masked)));
            }
            // A mask of numbers, and dims in another order.
            let numbers_of = (!&counts).to::<f32>().mul(-1e30);
            let y = layer.forward_masked(&x, &counts.prime(Seq), Mode::Eval);
            let added = layer.forward_masked(&x, &numbers_of.prime(Seq), Mode::Eval);
            assert!(added.allclose_with(&y, CLOSE));
            let turned = x.align_to((Hidden, Seq, N));
            let turned = layer.forward_masked(&turned, &counts.prime(Seq), Mode::Eval);
            assert!(turned.align_as(&y).allclose_with(&y, CLOSE));
        }
    });
}

const CLOSE: CloseOptions = CloseOptions {
    rtol: 1e-5,
    atol: 1e-5,
    equal_nan: false,
};

#[test]
fn decoder_layers_are_those_of_plain_loops() {
    with_seed(2, || {
        for options in kinds() {
            let options = TransformerOptions {
                causal: true,
                ..options
            };
            let layer = decoder_layer(options);
            let x = Tensor::<(N, Seq, Hidden)>::randn([BATCH, LEN, HIDDEN]);
            let memory = Tensor::<(N, Source, Hidden)>::randn([BATCH, MEMORY, HIDDEN]);
            let counts = tensor!([[true, true, true, true], [true, false, true, true]]; N, Seq);
            let memory_counts = tensor!([[true, true, false], [true, true, true]]; N, Source);
            let plain = |state: &State, masked: bool| {
                let pairs = sequences(&x).into_iter().zip(memories(&memory)).enumerate();
                joined(pairs.map(|(n, (x, memory))| {
                    let plain = Plain {
                        options,
                        sees: &|_, source| !masked || n == 0 || source != 1,
                        sees_memory: &|_, source| !masked || n == 1 || source != 2,
                    };
                    plain.layer(state, "", &x, Some(&memory))
                }))
            };
            for masked in [false, true] {
                let y = if masked {
                    let counts = counts.prime(Seq);
                    layer.forward_masked(&x, &memory, &counts, &memory_counts, Mode::Eval)
                } else {
                    layer.forward(&x, &memory, Mode::Eval)
                };
                let wanted = plain(&state_of(&layer), masked);
                assert_close(&numbers(&y.to_dyn()), &wanted, 1e-5, "decoder layer");
                layer.zero_grad();
                weighted_sum(&y).backward();
                check_gradients(&layer, |state| weighted(&plain(state, masked)));
            }
            let all = tensor!(true);
            let y = layer.forward_masked(&x, &memory, &all, &all, Mode::Eval);
            assert!(y.allclose_with(&layer.forward(&x, &memory, Mode::Eval), CLOSE));
        }
    });
}

#[test]
fn fused_weights_are_those_of_pytorch() {
    with_seed(3, || {
        let state = layer_of_pytorch("layers.0.", false);
        let translated = from_torch(state.clone());
        let find = |path: &str| {
            let path = format!("layers.0.self_attn.{path}");
            let all = state.iter().chain(&translated);
            numbers(&all.rev().find(|(own, _)| *own == path).unwrap().1)
        };
        let (weight, bias) = (find("in_proj_weight"), find("in_proj_bias"));
        for (at, name) in ["query", "key", "value"].into_iter().enumerate() {
            let own = &weight[at * HIDDEN * HIDDEN..][..HIDDEN * HIDDEN];
            assert_eq!(find(&format!("{name}.weight")), own);
            assert_eq!(
                find(&format!("{name}.bias")),
                &bias[at * HIDDEN..][..HIDDEN]
            );
        }
        assert_eq!(find("out.weight"), find("out_proj.weight"));
        // Other dims of keys and values have separate weights.
        let parts = ["q", "k", "v"].map(|part| {
            let path = format!("cross.{part}_proj_weight");
            (
                path,
                DynTensor::randn(&[HIDDEN, if part == "q" { HIDDEN } else { 4 }], ()).unwrap(),
            )
        });
        let rest = [
            ("in_proj_bias", vec![3 * HIDDEN]),
            ("out_proj.weight", vec![HIDDEN, HIDDEN]),
            ("out_proj.bias", vec![HIDDEN]),
        ];
        let rest = rest.map(|(name, sizes)| {
            (
                format!("cross.{name}"),
                DynTensor::randn(&sizes, ()).unwrap(),
            )
        });
        let mut layer =
            CrossAttention::<Seq, Source, Hidden, Head, Feature, f32, Other>::with_memory(
                Hidden.of(HIDDEN),
                Other.of(4),
                Head.of(HEADS),
                Feature.of(HIDDEN / HEADS),
            );
        let translated = from_torch(parts.into_iter().chain(rest)).into_iter();
        layer.load(translated.map(|(path, x)| (path.replace("cross.", ""), x)));
        let x = Tensor::<(N, Seq, Hidden)>::randn([BATCH, LEN, HIDDEN]);
        // A memory without the batch is that of all.
        let memory = Tensor::<(Source, Other)>::randn([MEMORY, 4]);
        let y = layer.forward(&x, &memory, default());
        let sees = |_: usize, _: usize| true;
        let state = state_of(&layer);
        let state: State = state
            .into_iter()
            .map(|(path, x)| (format!("a.{path}"), x))
            .collect();
        let memory = rows(&numbers(&memory.to_dyn()), 4);
        let wanted = joined(
            sequences(&x)
                .into_iter()
                .map(|x| attention(&state, "a", &x, &memory, &sees)),
        );
        assert_close(&numbers(&y.to_dyn()), &wanted, 1e-5, "cross-attention");
        let broken = from_torch_error();
        assert!(
            broken.contains("in_proj_weight") && broken.contains('7'),
            "{broken}"
        );
    });
}

fn from_torch_error() -> String {
    let state = [("in_proj_weight", DynTensor::zeros(&[7, 2], ()).unwrap())];
    nomina_nn::try_from_torch(state).unwrap_err().to_string()
}

#[test]
fn stacks_apply_their_layers_and_norm() {
    with_seed(4, || {
        let options = TransformerOptions {
            norm_first: true,
            final_norm: true,
            activation: Activation::Silu,
            ..default()
        };
        let sizes = || {
            let feature = Feature.of(HIDDEN / HEADS);
            (Hidden.of(HIDDEN), Head.of(HEADS), feature, Inner.of(INNER))
        };
        let (e, h, f, m) = sizes();
        let mut encoder =
            TransformerEncoder::<Seq, Hidden, Head, Feature, Inner>::new(2, e, h, f, m, options);
        let (e, h, f, m) = sizes();
        let mut decoder = TransformerDecoder::<Seq, Source, Hidden, Head, Feature, Inner>::new(
            2, e, h, f, m, options,
        );
        for is_decoder in [false, true] {
            let mut state = layer_of_pytorch("layers.0.", is_decoder);
            state.extend(layer_of_pytorch("layers.1.", is_decoder));
            state.push((
                "norm.weight".to_owned(),
                DynTensor::rand(&[HIDDEN], ()).unwrap(),
            ));
            state.push((
                "norm.bias".to_owned(),
                DynTensor::rand(&[HIDDEN], ()).unwrap(),
            ));
            if is_decoder {
                decoder.load(from_torch(state));
            } else {
                encoder.load(from_torch(state));
            }
        }
        let x = Tensor::<(N, Seq, Hidden)>::randn([BATCH, LEN, HIDDEN]);
        let memory = Tensor::<(N, Source, Hidden)>::randn([BATCH, MEMORY, HIDDEN]);
        let encoded = encoder.forward(&x, Mode::Eval);
        let decoded = decoder.forward(&x, &memory, Mode::Eval);
        let plain = Plain {
            options,
            sees: &|_, _| true,
            sees_memory: &|_, _| true,
        };
        let run = |state: &State, x: &Rows, memory: Option<&Rows>| {
            let x = plain.layer(state, "layers.0.", x, memory);
            norm(state, "norm", &plain.layer(state, "layers.1.", &x, memory))
        };
        let state = state_of(&encoder);
        let wanted = joined(sequences(&x).iter().map(|x| run(&state, x, None)));
        assert_close(&numbers(&encoded.to_dyn()), &wanted, 1e-5, "encoder");
        let state = state_of(&decoder);
        let pairs = sequences(&x).into_iter().zip(memories(&memory));
        let wanted = joined(pairs.map(|(x, memory)| run(&state, &x, Some(&memory))));
        assert_close(&numbers(&decoded.to_dyn()), &wanted, 1e-5, "decoder");
        weighted_sum(&encoded).backward();
        check_gradients(&encoder, |state| {
            weighted(&joined(sequences(&x).iter().map(|x| run(state, x, None))))
        });
    });
}

#[test]
fn options_change_layers() {
    with_seed(5, || {
        let bare = TransformerOptions {
            bias: false,
            dropout: 0.5,
            ..default()
        };
        let layer = EncoderLayer::new(
            Hidden.of(HIDDEN),
            Head.of(HEADS),
            Feature.of(HIDDEN / HEADS),
            Inner.of(INNER),
            bare,
        );
        assert!(layer.paths().iter().all(|path| path.ends_with("weight")));
        let x = Tensor::<(N, Seq, Hidden)>::randn([BATCH, LEN, HIDDEN]);
        let [first, second] = [(); 2].map(|()| layer.forward(&x, Mode::Train));
        assert!(!first.equal(&second));
        let [first, second] = [(); 2].map(|()| layer.forward(&x, Mode::Eval));
        assert!(first.equal(&second));
        // Causal attention to another sequence is refused.
        let cross = decoder_layer(default()).multihead_attn;
        let causal = Attention {
            causal: true,
            ..default()
        };
        let memory = Tensor::<(N, Source, Hidden)>::randn([BATCH, MEMORY, HIDDEN]);
        assert!(cross.try_forward(&x, &memory, causal).is_err());
    });
}
