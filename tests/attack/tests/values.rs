//! Values: of many elements, beside the ends of a dtype's range, of one row.

use nomina::{DynTensor, QuantileOptions};

fn number(x: &DynTensor) -> f64 {
    x.item().unwrap().to_f64()
}

/// More elements than `f32` tells apart.
#[test]
fn quantiles_of_more_elements_than_f32_counts() {
    let mut values = vec![0.0_f32; 16_777_220];
    values[..5].copy_from_slice(&[3.0, 5.0, 1.0, 4.0, 2.0]);
    let count = values.len();
    let x = DynTensor::from_vec(values, &[count], ()).unwrap();
    for (q, expected) in [(1.0, 5.0), (0.5, 0.0), (0.0, 0.0)] {
        assert_eq!(number(&x.quantile(q, 0).unwrap()), expected);
    }
    let lower = QuantileOptions {
        interpolation: nomina::Interpolation::Lower,
        ..QuantileOptions::default()
    };
    assert_eq!(number(&x.nanquantile_with(1.0, .., lower).unwrap()), 5.0);
}
