//! The program `climate_change` beside what xarray computed from the same files (`scripts/programs/climate_change.py`).

#[allow(dead_code)]
#[path = "../climate_change.rs"]
mod climate_change;

use std::path::Path;

use nomina::prelude::*;
use serde_json::Value;

/// Each value is xarray's, to a few units in the last place of the temperatures; NaN where xarray's is.
#[test]
fn every_value_is_xarrays() {
    let recorded: Value =
        serde_json::from_str(include_str!("../climate_change/xarray.json")).unwrap();
    let recorded = recorded["values"].as_object().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../data/tests/data");
    let found = climate_change::analyse(&folder).unwrap();
    assert_eq!(found.len(), recorded.len());
    let (mut count, mut missing) = (0, 0);
    for (name, x) in found {
        let wanted = recorded[name]["data"].as_array().unwrap();
        let shape: Vec<usize> = serde_json::from_value(recorded[name]["shape"].clone()).unwrap();
        assert_eq!(x.shape(), shape, "{name}");
        let values = x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
        for (at, (value, wanted)) in values.iter().zip(wanted).enumerate() {
            count += 1;
            match wanted.as_f64() {
                None => {
                    missing += 1;
                    assert!(value.is_nan(), "{name} {at}: {value}, xarray NaN");
                }
                // Temperatures around 300 K have steps of 3e-5 K in `f32`.
                Some(wanted) => {
                    let off = (value - wanted).abs();
                    assert!(off <= 2e-4, "{name} {at}: {value}, xarray {wanted}");
                }
            }
        }
    }
    assert!(
        count > 2000 && missing > 10,
        "{count} values, {missing} missing"
    );
}
