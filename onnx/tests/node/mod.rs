//! Cases of ONNX's own tests, and the comparison of results.
#![allow(dead_code)]

use nomina::DynTensor;
use nomina_onnx::{Model, read_tensor};

/// The inputs and outputs of a case, as messages.
pub struct DataSet {
    pub inputs: Vec<Vec<u8>>,
    pub outputs: Vec<Vec<u8>>,
}

/// A model with what it is given and what it must return.
pub struct Case {
    pub name: String,
    pub model: Vec<u8>,
    pub sets: Vec<DataSet>,
}

/// Why a case did not pass.
#[derive(Debug)]
pub enum Miss {
    /// Something is not supported, and an error says so.
    Refused(String),
    /// The result is wrong.
    Failed(String),
}

impl From<nomina_core::Error> for Miss {
    fn from(error: nomina_core::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

impl Case {
    /// Runs the model on each set of data.
    pub fn run(&self) -> Result<(), Miss> {
        let model = Model::from_bytes(&self.model)?;
        check(&model, &self.sets, 4e-7).map(drop)
    }
}

/// Compares the results of a model with what it must return. Returns the largest difference, relative to the largest element.
pub fn check(model: &Model, sets: &[DataSet], slack: f64) -> Result<f64, Miss> {
    let mut most = 0.0f64;
    if sets.is_empty() {
        return Err(Miss::Failed("there are no outputs to compare with".into()));
    }
    for set in sets {
        let read = |all: &[Vec<u8>]| {
            all.iter()
                .map(|bytes| Ok(read_tensor(bytes)?.1))
                .collect::<Result<Vec<_>, Miss>>()
        };
        let (inputs, wanted) = (read(&set.inputs)?, read(&set.outputs)?);
        let named = model
            .inputs()
            .iter()
            .map(|port| &port.name[..])
            .zip(&inputs);
        let outputs = model.run(named)?;
        let outputs: Vec<_> = outputs.iter().collect();
        if outputs.len() != wanted.len() {
            return Err(Miss::Failed(format!(
                "{} outputs and not {}",
                outputs.len(),
                wanted.len()
            )));
        }
        for ((name, output), wanted) in outputs.into_iter().zip(&wanted) {
            let difference = compare(output, wanted, slack)
                .map_err(|what| Miss::Failed(format!("`{name}`: {what}")))?;
            most = most.max(difference);
        }
    }
    Ok(most)
}

/// Compares with ONNX's tolerances: `1e-3` relative and `1e-7` absolute; wider for halves; integers exactly. A recorded sum of `f32`
/// is itself wrong by some last digits of its largest element: `slack` relative to it. Returns the largest difference, relative to the
/// largest element.
pub fn compare(x: &DynTensor, wanted: &DynTensor, slack: f64) -> Result<f64, String> {
    if (x.dtype(), x.shape()) != (wanted.dtype(), wanted.shape()) {
        return Err(format!(
            "{} {:?} and not {} {:?}",
            x.dtype(),
            x.shape(),
            wanted.dtype(),
            wanted.shape()
        ));
    }
    let text = |e: nomina_core::Error| e.to_string();
    if wanted.dtype().is_complex() {
        let mut most = 0.0f64;
        for part in [DynTensor::real, DynTensor::imag] {
            let part = |x: &DynTensor| part(x).map_err(text);
            most = most.max(compare(&part(x)?, &part(wanted)?, slack)?);
        }
        return Ok(most);
    }
    if !wanted.dtype().is_float() {
        let same = x.drop_names().equal(wanted).map_err(text)?;
        return if same {
            Ok(0.0)
        } else {
            Err(format!("integers differ: {x:?} and not {wanted:?}"))
        };
    }
    let (relative, absolute) = match wanted.dtype().size() {
        2 => (1e-2_f64, 1e-3_f64),
        _ => (1e-3, 1e-7),
    };
    let values = |x: &DynTensor| x.to::<f64>().and_then(|x| x.to_vec::<f64>()).map_err(text);
    let wanted_values = values(wanted)?;
    let largest = wanted_values
        .iter()
        .filter(|v| v.is_finite())
        .fold(0.0, |most: f64, v| most.max(v.abs()));
    let absolute = absolute.max(slack * largest);
    let mut most = 0.0f64;
    for (at, (a, b)) in values(x)?.iter().zip(&wanted_values).enumerate() {
        let same =
            a == b || a.is_nan() && b.is_nan() || (a - b).abs() <= absolute + relative * b.abs();
        if !same {
            return Err(format!("element {at} is {a} and not {b}"));
        }
        if a != b && b.is_finite() {
            most = most.max((a - b).abs() / largest.max(f64::MIN_POSITIVE));
        }
    }
    Ok(most)
}
