//! Whether the fields of a dataset agree about the dims they share: their sizes, labels, and types of labels.

use std::sync::Arc;

use nomina::dims::LabelType;
use nomina::labelled::{AnyLabels, Difference};

use super::Dataset;
use super::field::FieldValue;
use super::spec::VariableSpec;
use super::tree::{DeclaredDims, FieldTree};

/// Returns whether no two fields give one dim labels of different types.
#[must_use]
pub const fn fields_agree<S: Dataset>() -> bool {
    is_consistent(&<S::Fields as FieldTree>::DECLARED)
}

const fn is_consistent(all: &DeclaredDims) -> bool {
    match all {
        DeclaredDims::Pair(left, right) => {
            is_consistent(left) && is_consistent(right) && agree(left, right)
        }
        _ => true,
    }
}

const fn agree(left: &DeclaredDims, right: &DeclaredDims) -> bool {
    match (left, right) {
        (DeclaredDims::Pair(a, b), _) => agree(a, right) && agree(b, right),
        (_, DeclaredDims::Pair(a, b)) => agree(left, a) && agree(left, b),
        (DeclaredDims::Field(names, labels), DeclaredDims::Field(others, other_labels)) => {
            let mut at = 0;
            while at < names.len() {
                let mut other = 0;
                while other < others.len() {
                    if let (Some(a), Some(b)) = (names[at], others[other])
                        && is_same(a, b)
                        && let (Some(a), Some(b)) = (labels[at], other_labels[other])
                        && !is_same(a.name(), b.name())
                    {
                        return false;
                    }
                    other += 1;
                }
                at += 1;
            }
            true
        }
        _ => true,
    }
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// A dim as the first field with it has it.
struct SeenDim {
    dim: String,
    field: &'static str,
    size: usize,
    /// The first field with labels, and these.
    labels: Option<(&'static str, Arc<dyn AnyLabels>)>,
}

/// Gives fields with equal labels along a dim the same object, which operators compare by its address. Returns what the
/// fields disagree about.
pub(crate) fn share_labels(values: &mut [FieldValue], specs: &[VariableSpec]) -> Vec<String> {
    let mut seen: Vec<SeenDim> = Vec::new();
    let mut problems = Vec::new();
    for (value, spec) in values.iter_mut().zip(specs) {
        let field = spec.field;
        for (at, (dim, size)) in value.sizes().into_iter().enumerate() {
            let Some(dim) = dim else { continue };
            let labels = value.labels_for(at, spec);
            let Some(first) = seen.iter_mut().find(|one| one.dim == dim) else {
                let labels = labels.map(|labels| (field, labels));
                seen.push(SeenDim {
                    dim,
                    field,
                    size,
                    labels,
                });
                continue;
            };
            if first.size != size {
                problems.push(format!(
                    "dim `{dim}` has size {} in `{}` and {size} in `{field}`",
                    first.size, first.field
                ));
                continue;
            }
            match (&first.labels, labels) {
                (Some((other, own)), Some(labels)) if !Arc::ptr_eq(own, &labels) => {
                    match own.first_difference(&*labels) {
                        Some(difference) => problems.push(format!(
                            "dim `{dim}` has other labels in `{other}` than in `{field}`: {}",
                            describe(&**own, &*labels, difference)
                        )),
                        None => value.set_labels(at, own.clone()),
                    }
                }
                (None, Some(labels)) => first.labels = Some((field, labels)),
                _ => {}
            }
        }
    }
    problems
}

/// Returns the text of a difference along a dim.
fn describe(a: &dyn AnyLabels, b: &dyn AnyLabels, difference: Difference) -> String {
    match difference {
        Difference::At(at) => format!(
            "the first difference is at {at}: {} and {}",
            a.text(at),
            b.text(at)
        ),
        Difference::Type => {
            let name = |labels: &dyn AnyLabels| LabelType::name(labels.label_type());
            format!("their types are {} and {}", name(a), name(b))
        }
        Difference::Length => format!("there are {} and {}", a.len(), b.len()),
    }
}
