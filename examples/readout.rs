//! Noisy digits, classified by an MLP of two layers: a random layer, and a readout fitted by ridge regression.

use nomina::prelude::*;

dims! { pub N, pub H = 5, pub W = 3, pub Feature, pub Class = 10 }

/// The shapes of the digits, side by side.
const SHAPES: [&str; 5] = [
    "### .#. ### ### #.# ### ### ### ### ###",
    "#.# ##. ..# ..# #.# #.. #.. ..# #.# #.#",
    "#.# .#. ### ### ### ### ### ..# ### ###",
    "#.# .#. #.. ..# ..# ..# #.# ..# #.# ..#",
    "### ### ### ### ..# ### ### ..# ### ###",
];

/// Returns noisy pictures of digits, and the digits.
pub fn pictures(count: usize, noise: f64) -> (Tensor<(N, H, W)>, Tensor<(N,), i64>) {
    let black = |at: &[usize]| SHAPES[at[1]].as_bytes()[4 * at[0] + at[2]] == b'#';
    let clean = Tensor::<(Class, H, W), _>::from_fn((Class, H, W), black).float();
    let labels = Tensor::<(N,), i64>::arange(0, count as i64, 1).remainder(10);
    let pictures = clean.index_select(Class, &labels);
    (&pictures + pictures.randn_like() * noise, labels)
}

/// Computes the first layer.
pub fn features(
    images: &Tensor<(N, H, W)>,
    weight: &Tensor<(H, W, Feature)>,
    bias: &Tensor<(Feature,)>,
) -> Tensor<(N, Feature)> {
    (images.contract(weight, (H, W)) + bias).relu()
}

/// Fits the second layer to the labels by least squares; `ridge` penalizes large weights.
pub fn readout(
    seen: &Tensor<(N, Feature)>,
    labels: &Tensor<(N,), i64>,
    ridge: f64,
) -> Tensor<(Feature, Class)> {
    let products = seen.contract(&seen.prime(Feature), N);
    let answer = seen.contract(&labels.one_hot(Class).float(), N);
    let ridge = Tensor::<(Feature, Prime<Feature>)>::eye([seen.size(Feature); 2]) * ridge;
    let weight = (products + ridge).solve(&answer, (Feature, Prime(Feature)));
    weight.rename(Prime(Feature), Feature)
}

fn main() {
    manual_seed(1);
    let (weight, bias) = (Tensor::randn([5, 3, 100]), Tensor::randn([100]));
    let (images, labels) = pictures(1000, 0.2);
    let readout = readout(&features(&images, &weight, &bias), &labels, 1.0);
    let (images, labels) = pictures(500, 0.2);
    let scores = features(&images, &weight, &bias).contract(&readout, Feature);
    let right = scores.argmax(Class).eq(&labels).float().mean(..).item();
    println!("{right:.3} of 500 new pictures are told right");
}
