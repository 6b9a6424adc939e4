//! Layers with weights under PyTorch's names: values beside loops in `f64`, gradients beside differences of these loops.

use nomina::prelude::*;
use nomina_nn::prelude::*;

mod conv;
mod norm;
mod parametrization;
mod plain;

dims! { N, C, D, H, W, In, Other, Out }

/// A tensor of the reference: sizes, and numbers in row-major order.
#[derive(Clone)]
struct Array {
    sizes: Vec<usize>,
    data: Vec<f64>,
}

impl Array {
    /// Numbers between -1 and 1 that look random.
    fn draw(sizes: &[usize], seed: u64) -> Self {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1_u64 << 30) as f64 - 1.0
        };
        let data = std::iter::repeat_with(next).take(sizes.iter().product());
        Self {
            sizes: sizes.to_vec(),
            data: data.collect(),
        }
    }

    fn zeros(sizes: &[usize]) -> Self {
        Self {
            sizes: sizes.to_vec(),
            data: vec![0.0; sizes.iter().product()],
        }
    }

    fn flat(&self, at: &[usize]) -> usize {
        assert_eq!(at.len(), self.sizes.len());
        at.iter()
            .zip(&self.sizes)
            .fold(0, |flat, (i, size)| flat * size + i)
    }

    fn at(&self, at: &[usize]) -> f64 {
        self.data[self.flat(at)]
    }

    fn at_mut(&mut self, at: &[usize]) -> &mut f64 {
        let flat = self.flat(at);
        &mut self.data[flat]
    }

    /// All indices, in row-major order.
    fn indices(sizes: &[usize]) -> Vec<Vec<usize>> {
        let mut all = vec![Vec::new()];
        for &size in sizes {
            all = all
                .iter()
                .flat_map(|head: &Vec<usize>| (0..size).map(move |i| [&head[..], &[i]].concat()))
                .collect();
        }
        all
    }

    /// Returns a tensor without names, as from a file of PyTorch.
    fn to_dyn<T: Element>(&self) -> DynTensor {
        let whole = DynTensor::from_vec(self.data.clone(), &self.sizes, ()).unwrap();
        whole.to_dtype(T::DTYPE).unwrap()
    }
}

/// Gives a tensor without names its dims.
fn typed<D: Dims + Distinct, T: Element>(x: &DynTensor) -> Tensor<D, T> {
    let x = DynTensor::from_parts(x.raw().clone(), Names::from_static(D::NAMES));
    x.unwrap().typed().unwrap()
}

/// The tensors of a case by name: parameters under their paths, and inputs.
type Arrays = Vec<(&'static str, Array)>;

fn named<'a>(all: &'a Arrays, name: &str) -> &'a Array {
    &all.iter().find(|(own, _)| *own == name).unwrap().1
}

fn to_f64(x: &DynTensor) -> Vec<f64> {
    let x = x.to_dtype(DType::F64).unwrap();
    x.to_vec().unwrap()
}

/// Checks numbers within a tolerance that depends on the dtype.
#[track_caller]
fn assert_close<T: Element>(what: &str, found: &[f64], want: &[f64], [f64s, f32s]: [f64; 2]) {
    assert_eq!(found.len(), want.len(), "{what}");
    let tolerance = if T::DTYPE == DType::F64 { f64s } else { f32s };
    for (i, (found, want)) in found.iter().zip(want).enumerate() {
        assert!(
            (found - want).abs() <= tolerance * want.abs().max(1.0),
            "{what} at {i} in {}: {found}, not {want}",
            T::DTYPE
        );
    }
}

/// Loads the parameters, computes, and compares results and gradients with those of the reference.
///
/// `inputs` of the arrays are operands of `forward`; the others are the state dict, of which `buffers` get no gradient.
#[track_caller]
fn check<T: Float, M: Module>(
    mut layer: M,
    arrays: &Arrays,
    inputs: &[&str],
    forward: impl Fn(&M, &[DynTensor]) -> DynTensor,
    reference: impl Fn(&Arrays) -> Array,
) {
    let state = arrays.iter().filter(|(name, _)| !inputs.contains(name));
    layer.load(state.map(|(name, array)| (*name, array.to_dyn::<T>())));
    let leaf = |name: &&str| named(arrays, name).to_dyn::<T>().with_grad().unwrap();
    let leaves: Vec<DynTensor> = inputs.iter().map(leaf).collect();
    let result = forward(&layer, &leaves);
    let want = reference(arrays);
    assert_eq!(result.shape(), want.sizes);
    assert_close::<T>("result", &to_f64(&result), &want.data, [1e-12, 1e-5]);

    let seed = Array::draw(&want.sizes, 99);
    let loss = result.mul(&seed.to_dyn::<T>()).unwrap().sum(..).unwrap();
    loss.backward().unwrap();
    let mut grads: Vec<(String, Vec<f64>)> = Vec::new();
    for (name, leaf) in inputs.iter().zip(&leaves) {
        grads.push((name.to_string(), to_f64(&leaf.grad().unwrap())));
    }
    for (path, param) in layer.params() {
        grads.push((path, to_f64(&param.grad().expect("a gradient"))));
    }
    let loss = |arrays: &Arrays| -> f64 {
        let result = reference(arrays);
        result.data.iter().zip(&seed.data).map(|(y, s)| y * s).sum()
    };
    for (name, found) in grads {
        let place = arrays.iter().position(|(own, _)| *own == name).unwrap();
        let mut moved = arrays.clone();
        let want: Vec<f64> = (0..found.len())
            .map(|i| {
                let mut shifted = |by: f64| {
                    moved[place].1.data[i] = arrays[place].1.data[i] + by;
                    loss(&moved)
                };
                let slope = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
                shifted(0.0);
                slope
            })
            .collect();
        let name = format!("gradient of {name}");
        assert_close::<T>(&name, &found, &want, [1e-7, 2e-4]);
    }
}

/// Runs a generic check for `f32` and `f64`.
macro_rules! for_floats {
    ($($name:ident)*) => {
        mod floats {
            $(
                #[test]
                fn $name() {
                    super::$name::<f32>();
                    super::$name::<f64>();
                }
            )*
        }
    };
}
use for_floats;
