//! Comparisons with numbers that PyTorch computed (`scripts/programs/data.py`).

use serde_json::Value;

/// Reads a list of numbers.
pub fn numbers(value: &Value) -> Vec<f64> {
    let list = value.as_array().expect("a list");
    list.iter().map(|x| x.as_f64().expect("a number")).collect()
}

/// Checks that each number is as recorded, up to the tolerance.
#[track_caller]
pub fn near(found: impl IntoIterator<Item = f64>, wanted: &Value, tolerance: f64) {
    let (found, wanted) = (Vec::from_iter(found), numbers(wanted));
    assert_eq!(found.len(), wanted.len());
    let mut most = 0.0_f64;
    for (at, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        let off = (found - wanted).abs();
        most = most.max(off);
        assert!(off <= tolerance, "{at}: {found}, PyTorch {wanted}");
    }
    println!("at most {most:e} from PyTorch's");
}
