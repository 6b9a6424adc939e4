//! The program `reanalysis` beside what xarray computed from the same file (`scripts/programs/data.py`).

#[allow(dead_code)]
#[path = "../reanalysis.rs"]
mod reanalysis;

use std::path::Path;

use nomina::prelude::*;
use serde_json::Value;

/// Each of 3,000 values is xarray's to 2e-4 K, correlations to 1e-5, and NaN where xarray's is. Windows begin where they
/// are full.
#[test]
fn every_value_is_xarrays() {
    let recorded: Value = serde_json::from_str(include_str!("../reanalysis/xarray.json")).unwrap();
    let recorded = recorded["values"].as_object().unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reanalysis/t2m.zarr");
    let found = reanalysis::analyse(&folder).unwrap();
    assert_eq!(found.len(), recorded.len());
    let (mut count, mut missing) = (0, 0);
    for (name, x) in found {
        let data = recorded[name]["data"].as_array().unwrap();
        let shape = recorded[name]["shape"].as_array().unwrap();
        let mut shape: Vec<usize> = shape.iter().map(|n| n.as_u64().unwrap() as usize).collect();
        let skipped = if ["smooth", "present"].contains(&name) {
            29
        } else {
            0
        };
        shape[0] -= skipped;
        assert_eq!(x.shape(), shape, "{name}");
        let values = x.to_dtype(DType::F64).unwrap().to_vec::<f64>().unwrap();
        assert_eq!(values.len(), data.len() - skipped);
        let tolerance = if name == "corr" { 1e-5 } else { 2e-4 };
        for (at, (value, wanted)) in values.iter().zip(&data[skipped..]).enumerate() {
            count += 1;
            match wanted.as_f64() {
                None => {
                    missing += 1;
                    assert!(value.is_nan(), "{name} {at}: {value}, xarray NaN");
                }
                Some(wanted) => {
                    let off = (value - wanted).abs();
                    assert!(off <= tolerance, "{name} {at}: {value}, xarray {wanted}");
                }
            }
        }
    }
    assert!(
        count > 3000 && missing > 100,
        "{count} values, {missing} missing"
    );
}
