//! Products by kernels compiled without optimisation.

use nomina::prelude::*;

dims! { N, K, M }

macro_rules! as_the_definition {
    ($t:ty, $most:expr) => {
        for [n, k, m] in [
            [1, 1, 1],
            [5, 7, 9],
            [6, 256, 16],
            [7, 257, 17],
            [13, 300, 33],
            [64, 784, 10],
            [130, 40, 70],
        ] {
            let value = |at: usize| ((at * 7919) % 64) as $t / 16.0 - 2.0;
            let a =
                Tensor::<(N, K), $t>::from_vec((0..n * k).map(value).collect(), [n, k]).unwrap();
            let b =
                Tensor::<(K, M), $t>::from_vec((0..k * m).map(value).collect(), [k, m]).unwrap();
            let (product, left, right) = (a.contract(&b, K).to_vec(), a.to_vec(), b.to_vec());
            for i in 0..n {
                for j in 0..m {
                    let want: $t = (0..k).map(|l| left[i * k + l] * right[l * m + j]).sum();
                    let got = product[i * m + j];
                    assert!(
                        (got - want).abs() <= $most,
                        "{n} {k} {m}, {i} {j}: {got}, not {want}"
                    );
                }
            }
        }
    };
}

#[test]
fn of_f32() {
    as_the_definition!(f32, 1e-2);
}

#[test]
fn of_f64() {
    as_the_definition!(f64, 1e-9);
}
