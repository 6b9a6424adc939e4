//! The cases with a typed form.

use std::path::PathBuf;

use nomina::{DType, DynTensor};
use nomina_by_name::Value;

use crate::case::{Case, Wanted};
use crate::generated_crate::root;

/// A case and its location.
pub struct Recorded {
    pub file: PathBuf,
    /// Counted from 0.
    pub line: usize,
    pub case: Case,
}

impl Recorded {
    /// Returns whether rustc must reject the case: its mistake is in the names, not in sizes or
    /// dtypes.
    pub fn rejected_for_names(&self) -> bool {
        const RUN_TIME: [&str; 7] = [
            "shape", "rank", "resize", "dtype", "index", "argument", "layout",
        ];
        match &self.case.wanted {
            // Sizes whose product is wrong; types check only constant sizes.
            Wanted::Error { kind } if kind == "flatten" => !self.case.op.contains("unflatten"),
            Wanted::Error { kind } => !RUN_TIME.contains(&kind.as_str()),
            Wanted::Result { .. } | Wanted::Gradients { .. } => false,
        }
    }

    /// Returns whether PyTorch gave a result.
    pub fn is_result(&self) -> bool {
        matches!(self.case.wanted, Wanted::Result { .. })
    }
}

/// Returns every recorded case of `f32` and `f64` tensors with all dims named.
#[allow(dead_code, reason = "one of two tests wants more")]
pub fn all() -> Vec<Recorded> {
    read(&files(), floats, true)
}

/// Returns whether recorded cases of a dtype are used directly, rather than as converted samples.
pub fn floats(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::F64)
}

/// Returns the files of recorded cases.
pub fn files() -> Vec<PathBuf> {
    let data = root().join("tests/data");
    let mut files = vec![data.join("cases.jsonl"), data.join("promotion.jsonl")];
    let beyond = std::fs::read_dir(data.join("beyond")).into_iter().flatten();
    let mut beyond: Vec<PathBuf> = beyond.flatten().map(|entry| entry.path()).collect();
    beyond.sort();
    files.extend(beyond);
    let given = std::env::var_os("NOMINA_CASES").unwrap_or_default();
    files.extend(std::env::split_paths(&given).filter(|path| !path.as_os_str().is_empty()));
    files
}

/// Returns the cases of files whose tensors have dtypes that `takes` accepts, with all dims named
/// if `fully` is set.
pub fn read(files: &[PathBuf], takes: impl Fn(DType) -> bool, fully: bool) -> Vec<Recorded> {
    let only = std::env::var("NOMINA_ONLY").unwrap_or_default();
    let mut all = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("recorded cases");
        for (line, text) in text.lines().enumerate() {
            if text.trim().is_empty() {
                continue;
            }
            let case = Case::parse(text).expect("a recorded case");
            let gradients = matches!(case.wanted, Wanted::Gradients { .. });
            if gradients || !case.id.contains(&only) {
                continue;
            }
            let mut tensors = Vec::new();
            case.args
                .iter()
                .for_each(|arg| tensors_in(arg, &mut tensors));
            case.kwargs
                .iter()
                .for_each(|(_, arg)| tensors_in(arg, &mut tensors));
            // An index or mask always has the same dtype, whatever the dtype of the numbers.
            let index = |x: &&DynTensor| {
                indexes(&case.op) && matches!(x.dtype(), DType::I64 | DType::I32 | DType::Bool)
            };
            let numbers = tensors.is_empty() || tensors.iter().any(|x| takes(x.dtype()));
            let args = case.args.iter();
            let sparse = args
                .chain(case.kwargs.iter().map(|(_, arg)| arg))
                .all(|arg| match arg {
                    Value::Sparse(x) => takes(x.dtype()) && (!fully || x.names().fully_named()),
                    _ => true,
                });
            if numbers
                && sparse
                && tensors
                    .iter()
                    .all(|x| (takes(x.dtype()) || index(x)) && (!fully || x.names().fully_named()))
            {
                let file = file.clone();
                all.push(Recorded { file, line, case });
            }
        }
    }
    all
}

/// Returns whether an operator takes indices or masks.
fn indexes(op: &str) -> bool {
    let Some((op, _)) = nomina_by_name::parse(op) else {
        return false;
    };
    nomina_core::op::families()
        .any(|(family, rows)| family == "gather" && rows.iter().any(|row| row.name == op.name()))
}

/// Collects the tensors of an argument, in order.
pub fn tensors_in<'a>(value: &'a Value, found: &mut Vec<&'a DynTensor>) {
    match value {
        Value::Tensor(x) => found.push(x),
        Value::List(items) => items.iter().for_each(|item| tensors_in(item, found)),
        _ => {}
    }
}
