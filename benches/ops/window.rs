//! Convolutions of image networks, and attention.

use nomina::prelude::*;

use crate::harness::{Case, case};
use crate::{B, C, H, K, N, W, samples};

dims! { Head, Query, Key, F }

pub fn cases() -> Vec<Case> {
    // Layers of ResNet-50: batch, channels, size, channels of the result, kernel, stride.
    let layers = [
        [1, 3, 224, 64, 7, 2],
        [1, 64, 56, 64, 3, 1],
        [1, 128, 28, 128, 3, 1],
        [1, 256, 14, 256, 3, 1],
        [1, 512, 7, 512, 3, 1],
        [1, 256, 56, 64, 1, 1],
        [8, 128, 28, 128, 3, 1],
    ];
    let mut cases: Vec<Case> = layers.into_iter().map(convolution::<f32>).collect();
    // Layers of ConvNeXt and ResNeXt: the same numbers without the stride, and groups.
    cases.extend(
        [
            [1, 96, 56, 96, 3, 96],
            [1, 96, 56, 96, 7, 96],
            [1, 128, 56, 128, 3, 32],
        ]
        .map(grouped),
    );
    // The first layer of an encoder of speech.
    cases.push(audio([1, 80, 3000, 384, 3]));
    // All positions attend to each other, as in MiniLM; and causal attention.
    cases.extend([
        attention::<f32>([16, 12, 122, 32], false),
        attention::<f32>([1, 12, 1024, 64], true),
    ]);
    cases
}

/// Returns the suffix of a case's name for a dtype; empty for `f32`.
fn of_dtype<T: Element>() -> String {
    match T::DTYPE {
        DType::F32 => String::new(),
        other => format!("_{other}"),
    }
}

pub fn convolution<T: Float>([batch, channels, size, outs, kernel, stride]: [usize; 6]) -> Case {
    let dtype = of_dtype::<T>();
    case(
        format!("conv2d{dtype}/{batch}x{channels}x{size}x{size}/{outs}/{kernel}x{kernel}s{stride}"),
        move || {
            let x: Tensor<(N, C, H, W), T> = samples([batch, channels, size, size]);
            let w: Tensor<(K, C, H, W), T> = samples([outs, channels, kernel, kernel]);
            (x, w)
        },
        move |(x, w)| {
            let options = ConvOptions {
                stride: [stride; 2],
                padding: Padding::Zeros([kernel / 2; 2]),
                ..default()
            };
            x.conv2d_with(C, (H, W), w, None, options)
        },
    )
}

fn grouped([batch, channels, size, outs, kernel, groups]: [usize; 6]) -> Case {
    case(
        format!("conv2d/{batch}x{channels}x{size}x{size}/{outs}/{kernel}x{kernel}g{groups}"),
        move || {
            let x: Tensor<(N, C, H, W)> = samples([batch, channels, size, size]);
            let w: Tensor<(K, C, H, W)> = samples([outs, channels / groups, kernel, kernel]);
            (x, w)
        },
        move |(x, w)| {
            let options = ConvOptions {
                padding: Padding::Same,
                groups,
                ..default()
            };
            x.conv2d_with(C, (H, W), w, None, options)
        },
    )
}

fn audio([batch, channels, size, outs, kernel]: [usize; 5]) -> Case {
    case(
        format!("conv1d/{batch}x{channels}x{size}/{outs}/{kernel}"),
        move || {
            let x: Tensor<(N, C, W)> = samples([batch, channels, size]);
            let w: Tensor<(K, C, W)> = samples([outs, channels, kernel]);
            (x, w)
        },
        move |(x, w)| {
            let options = ConvOptions {
                padding: Padding::Same,
                ..default()
            };
            x.conv1d_with(C, W, w, None, options)
        },
    )
}

pub fn attention<T: Float>(sizes: [usize; 4], causal: bool) -> Case {
    let [batch, heads, length, features] = sizes;
    let dtype = of_dtype::<T>();
    let name = if causal { "causal" } else { "full" };
    case(
        format!("attention_{name}{dtype}/{batch}x{heads}x{length}x{features}"),
        move || {
            let q: Tensor<(B, Head, Query, F), T> = samples(sizes);
            let k: Tensor<(B, Head, Key, F), T> = samples(sizes);
            let v: Tensor<(B, Head, Key, F), T> = samples(sizes);
            (q, k, v)
        },
        move |(q, k, v)| {
            let options = AttentionOptions {
                is_causal: causal,
                ..default()
            };
            q.scaled_dot_product_attention_with(k, v, options)
        },
    )
}
