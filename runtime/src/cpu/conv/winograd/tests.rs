use nomina_core::DType;

use super::gradient::gradient;
use super::{Tasks, convolve};
use crate::cpu::gemm::lowered::TileShape;
use crate::job::{ConvJob, KeptWeight, Sliding, WeightGradientJob};

/// A convolution of contiguous operands with a window of 3 × 3.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: usize,
    groups: usize,
    channels: usize,
    outs: usize,
    size: [usize; 2],
    padding: usize,
}

impl Case {
    const PLAIN: Self = Self {
        batch: 1,
        groups: 1,
        channels: 96,
        outs: 100,
        size: [36, 33],
        padding: 1,
    };

    fn lens(&self) -> [usize; 3] {
        let [h, w] = self.size;
        let kernels = self.groups * self.outs * self.channels;
        let inputs = self.batch * self.groups * self.channels;
        [
            inputs * h * w,
            9 * kernels,
            self.batch * self.groups * self.outs * self.out(0) * self.out(1),
        ]
    }

    fn out(&self, dim: usize) -> usize {
        self.size[dim] + 2 * self.padding - 2
    }

    fn window(&self, dim: usize) -> Sliding {
        Sliding {
            size: self.size[dim],
            kernel: 3,
            before: self.padding,
            out: self.out(dim),
            ..Sliding::NONE
        }
    }

    /// Computes the gradient of the weight by the module, on `threads` threads; `None` if it did not.
    fn gradient(&self, x: &[f32], grad: &[f32], threads: usize) -> Option<Vec<f32>> {
        let [inputs, weights, outputs] = self.lens();
        assert_eq!([x.len(), grad.len()], [inputs, outputs]);
        let ([h, w], positions) = (self.size, self.out(0) * self.out(1));
        let mut out = vec![f32::NAN; weights];
        let job = WeightGradientJob {
            op: "conv2d",
            dtype: DType::F32,
            batch: self.batch,
            groups: 1,
            channels: self.channels,
            outs: self.outs,
            windows: [Sliding::NONE, self.window(0), self.window(1)],
            x: x.as_ptr().cast(),
            x_strides: [self.channels * h * w, h * w, h * w, w, 1].map(|stride| stride as isize),
            grad: grad.as_ptr().cast(),
            grad_strides: [self.outs * positions, positions, 1].map(|stride| stride as isize),
            out: out.as_mut_ptr().cast(),
        };
        // SAFETY: the slices have the elements of the job.
        let done = unsafe { gradient(&job, threads) };
        done.unwrap().then_some(out)
    }

    /// Returns the convolution without operands.
    fn job(&self) -> ConvJob<'static> {
        let ([h, w], all) = (self.size, self.groups * self.channels);
        let positions = self.out(0) * self.out(1);
        ConvJob {
            op: "conv2d",
            dtype: DType::F32,
            batch: self.batch,
            groups: self.groups,
            channels: self.channels,
            outs: self.outs,
            windows: [Sliding::NONE, self.window(0), self.window(1)],
            x: std::ptr::null(),
            x_strides: [all * h * w, h * w, h * w, w, 1].map(|stride| stride as isize),
            weight: std::ptr::null(),
            kept: None,
            channels_last: false,
            bias: None,
            after: None,
            out: std::ptr::null_mut(),
            out_strides: [self.groups * self.outs * positions, positions, 1]
                .map(|stride| stride as isize),
        }
    }

    /// Convolves by the module; `None` if it did not.
    fn run(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        kept: Option<&KeptWeight>,
    ) -> Option<Vec<f32>> {
        let [inputs, weights, outputs] = self.lens();
        assert_eq!([x.len(), weight.len()], [inputs, weights]);
        assert_eq!(bias.len(), self.groups * self.outs);
        let mut out = vec![f32::NAN; outputs];
        let job = ConvJob {
            x: x.as_ptr().cast(),
            weight: weight.as_ptr().cast(),
            kept,
            bias: Some(bias.as_ptr().cast()),
            out: out.as_mut_ptr().cast(),
            ..self.job()
        };
        // SAFETY: the slices have the elements of the job.
        let done = unsafe { convolve(&job) };
        done.unwrap().then_some(out)
    }

    /// Returns some sums in double precision, each with the sum of its terms' magnitudes and its place in the result.
    fn exact(&self, x: &[f32], weight: &[f32], bias: &[f32]) -> Vec<(usize, [f64; 2])> {
        let [h, w] = self.size;
        let mut all = Vec::new();
        let outs = self.groups * self.outs;
        for n in 0..self.batch {
            for o in (n..outs).step_by(7) {
                let first = (n * self.groups + o / self.outs) * self.channels;
                for (y, z) in (0..self.out(0)).flat_map(|y| (0..self.out(1)).map(move |z| (y, z))) {
                    let mut sums = [f64::from(bias[o]), f64::from(bias[o]).abs()];
                    for c in 0..self.channels {
                        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                            let at = |place: usize, size: usize| {
                                place.checked_sub(self.padding).filter(|&at| at < size)
                            };
                            if let Some((y, z)) = at(y + i, h).zip(at(z + j, w)) {
                                let term = f64::from(x[((first + c) * h + y) * w + z])
                                    * f64::from(weight[((o * self.channels + c) * 3 + i) * 3 + j]);
                                sums[0] += term;
                                sums[1] += term.abs();
                            }
                        }
                    }
                    let line = ((n * outs + o) * self.out(0) + y) * self.out(1);
                    all.push((line + z, sums));
                }
            }
        }
        all
    }
}

/// Returns numbers between -1 and 1, times `scale`.
fn numbers(count: usize, seed: u64, scale: f32) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 40) as f32 / (1 << 23) as f32 - 1.0) * scale
    };
    (0..count).map(next).collect()
}

#[test]
fn results_are_those_of_the_definition() {
    let cases = [
        Case::PLAIN,
        Case {
            batch: 3,
            outs: 93,
            size: [22, 23],
            padding: 0,
            ..Case::PLAIN
        },
        Case {
            groups: 2,
            padding: 2,
            ..Case::PLAIN
        },
        // Several tasks along the rows of tiles, and a panel that is not full.
        Case {
            size: [10, 133],
            ..Case::PLAIN
        },
        // Several parts of the inner dim.
        Case {
            channels: 400,
            size: [32, 32],
            ..Case::PLAIN
        },
    ];
    for case in cases {
        let [inputs, weights, _] = case.lens();
        let (x, weight) = (numbers(inputs, 1, 1.0), numbers(weights, 2, 1.0));
        let bias = numbers(case.groups * case.outs, 3, 1.0);
        let got = case.run(&x, &weight, &bias, None);
        let got = got.unwrap_or_else(|| panic!("{case:?} does not pay"));
        for (at, [sum, terms]) in case.exact(&x, &weight, &bias) {
            let error = (f64::from(got[at]) - sum).abs();
            assert!(error <= 1e-6 * terms, "{} for {sum}", got[at]);
        }
        let kept = KeptWeight::default();
        for _ in 0..2 {
            assert_eq!(
                case.run(&x, &weight, &bias, Some(&kept)).as_ref(),
                Some(&got)
            );
        }
    }
}

#[test]
fn integers_are_exact() {
    let case = Case::PLAIN;
    let [inputs, weights, _] = case.lens();
    let whole = |count, seed| -> Vec<f32> {
        let numbers = numbers(count, seed, 9.0).into_iter();
        // None is zero.
        numbers.map(|x| x.abs().ceil().copysign(x)).collect()
    };
    let (x, weight, bias) = (whole(inputs, 1), whole(weights, 2), whole(case.outs, 3));
    let got = case.run(&x, &weight, &bias, None).expect("it pays");
    let want = case.exact(&x, &weight, &bias);
    assert!(want.iter().all(|&(at, [sum, _])| f64::from(got[at]) == sum));
}

#[test]
fn a_result_depends_on_its_window_alone() {
    let case = Case::PLAIN;
    let [inputs, weights, _] = case.lens();
    let (mut x, weight) = (numbers(inputs, 1, 1.0), numbers(weights, 2, 1.0));
    let bias = vec![0.0; case.outs];
    let before = case.run(&x, &weight, &bias, None).expect("it pays");
    let ([_, w], [row, column]) = (case.size, [17, 12]);
    x[row * w + column] = 100.0;
    let after = case.run(&x, &weight, &bias, None).expect("it pays");
    for (at, (before, after)) in before.iter().zip(&after).enumerate() {
        let (y, z) = (at / w % case.size[0], at % w);
        let under = y.abs_diff(row) <= 1 && z.abs_diff(column) <= 1;
        assert!(under || before == after, "{y} {z}");
    }
}

#[test]
fn small_numbers_keep_their_precision() {
    let case = Case::PLAIN;
    let [inputs, weights, _] = case.lens();
    let bias = vec![0.0; case.outs];
    // The largest scale of one side for which no sum overflows, beside weights and elements below the normal numbers.
    for [elements, kernel] in [[1e30, 1e-39], [1e-39, 1e30]] {
        let (x, weight) = (numbers(inputs, 1, elements), numbers(weights, 2, kernel));
        let got = case.run(&x, &weight, &bias, None).expect("it pays");
        for (at, [sum, terms]) in case.exact(&x, &weight, &bias) {
            let error = (f64::from(got[at]) - sum).abs();
            assert!(error <= 1e-6 * terms, "{} for {sum}", got[at]);
        }
    }
}

#[test]
fn elements_that_would_lose_digits_are_left_to_another_way() {
    let case = Case::PLAIN;
    let [inputs, weights, _] = case.lens();
    let bias = vec![0.0; case.outs];
    let (x, weight) = (numbers(inputs, 1, 1.0), numbers(weights, 2, 1.0));
    for large in [f32::INFINITY, f32::NAN, f32::MAX, -1e3] {
        let mut x = x.clone();
        x[inputs - 2] = large;
        assert!(case.run(&x, &weight, &bias, None).is_none(), "{large}");
    }
    // Sums of magnitudes that overflow, and sums of products.
    for scale in [1e38, 1e36] {
        let x = numbers(inputs, 1, scale);
        assert!(
            case.run(&x, &numbers(weights, 2, 1e3), &bias, None)
                .is_none(),
            "{scale}"
        );
    }
    let mut weight = weight;
    weight[9 * 7 + 4] = 0.0;
    for kept in [None, Some(&KeptWeight::default())] {
        assert!(case.run(&x, &weight, &bias, kept).is_none());
    }
    // Kernels of zeros lose nothing.
    weight[9 * 7..9 * 8].fill(0.0);
    assert!(case.run(&x, &weight, &bias, None).is_some());
}

#[test]
fn few_channels_and_positions_gain_nothing() {
    let few = [
        Case {
            channels: 4,
            outs: 4,
            ..Case::PLAIN
        },
        Case {
            size: [8, 8],
            ..Case::PLAIN
        },
        SMALL,
    ];
    for case in few {
        let [inputs, weights, _] = case.lens();
        let (x, weight) = (numbers(inputs, 1, 1.0), numbers(weights, 2, 1.0));
        let bias = vec![0.0; case.outs];
        assert!(case.run(&x, &weight, &bias, None).is_none(), "{case:?}");
    }
    let [inputs, _, outputs] = SMALL.lens();
    let (x, grad) = (numbers(inputs, 1, 1.0), numbers(outputs, 2, 1.0));
    assert!(SMALL.gradient(&x, &grad, 1).is_none());
}

/// Pictures with half a vector of tiles in a row.
const SMALL: Case = Case {
    batch: 64,
    channels: 32,
    outs: 32,
    size: [8, 8],
    ..Case::PLAIN
};

/// A task reads all weights, so it should not be a single row of tiles.
#[test]
fn two_threads_halve_a_picture() {
    let case = Case {
        channels: 64,
        outs: 64,
        size: [28, 28],
        ..Case::PLAIN
    };
    let shape = TileShape {
        rows: 6,
        narrow: 6,
        vectors: 2,
        lanes: 8,
        depth: 384,
    };
    let tasks = Tasks::new(&case.job(), shape, 2).unwrap();
    assert_eq!((tasks.rows, tasks.outs), (7, 66));
}

#[test]
fn gradients_are_those_of_the_definition() {
    // Enough channels that they pay at every instruction set.
    let cases = [
        Case {
            channels: 192,
            outs: 200,
            ..Case::PLAIN
        },
        // Several elements of the batch at once, and the rest.
        Case {
            batch: 11,
            outs: 190,
            channels: 180,
            size: [16, 15],
            padding: 0,
            ..Case::PLAIN
        },
        // Several parts of the rows of tiles.
        Case {
            batch: 2,
            outs: 128,
            channels: 128,
            size: [130, 135],
            padding: 2,
            ..Case::PLAIN
        },
    ];
    for case in cases {
        let [inputs, _, outputs] = case.lens();
        let (x, grad) = (numbers(inputs, 1, 1.0), numbers(outputs, 2, 1.0));
        let got = case.gradient(&x, &grad, 1);
        let got = got.unwrap_or_else(|| panic!("{case:?} does not pay"));
        assert_eq!(case.gradient(&x, &grad, 2).as_ref(), Some(&got));
        let ([h, w], [high, wide]) = (case.size, [case.out(0), case.out(1)]);
        for (o, c) in (0..case.outs)
            .step_by(9)
            .flat_map(|o| (0..case.channels).step_by(13).map(move |c| (o, c)))
        {
            for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
                let (mut sum, mut terms) = (0.0, 0.0);
                for (n, y, z) in (0..case.batch)
                    .flat_map(|n| (0..high * wide).map(move |at| (n, at / wide, at % wide)))
                {
                    let at = |place: usize, size: usize| {
                        place.checked_sub(case.padding).filter(|&at| at < size)
                    };
                    let Some((row, column)) = at(y + i, h).zip(at(z + j, w)) else {
                        continue;
                    };
                    let term = f64::from(x[((n * case.channels + c) * h + row) * w + column])
                        * f64::from(grad[((n * case.outs + o) * high + y) * wide + z]);
                    sum += term;
                    terms += term.abs();
                }
                let got = got[((o * case.channels + c) * 3 + i) * 3 + j];
                assert!(
                    (f64::from(got) - sum).abs() <= 1e-6 * terms,
                    "{got} for {sum}"
                );
            }
        }
        // Sums that overflow, and a gradient that is much larger than others.
        let large = |numbers: &[f32]| numbers.iter().map(|x| x * 1e19).collect::<Vec<_>>();
        assert!(case.gradient(&large(&x), &large(&grad), 1).is_none());
        let mut grad = grad;
        grad[outputs / 2] = 1e4;
        assert!(case.gradient(&x, &grad, 1).is_none());
    }
}
