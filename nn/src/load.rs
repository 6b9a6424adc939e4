//! Loading a state into a module.

use std::collections::BTreeMap;

use nomina::{DynTensor, Error, ErrorKind, Names, Result};

pub(crate) const OP: &str = "load";

/// Whether a state must have exactly the paths of the module that loads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strict {
    /// A path that only one of the two has is an error.
    #[default]
    Yes,
    /// Paths that only one of the two has are skipped.
    No,
}

/// The paths that a state and a module do not have in common, from [`load_with`](crate::Module::load_with).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unmatched {
    /// The paths of the module that the state lacks, in the module's order.
    pub missing: Vec<String>,
    /// The paths of the state that the module lacks, sorted.
    pub unexpected: Vec<String>,
}

impl Unmatched {
    /// Returns an error if there are any paths.
    pub(crate) fn require_none(&self) -> Result<()> {
        let list = |paths: &[String]| {
            const SHOWN: usize = 8;
            let mut text: Vec<String> =
                paths.iter().take(SHOWN).map(|p| format!("`{p}`")).collect();
            if paths.len() > SHOWN {
                text.push(format!("{} more", paths.len() - SHOWN));
            }
            text.join(", ")
        };
        let what = match (&self.missing[..], &self.unexpected[..]) {
            ([], []) => return Ok(()),
            (missing, []) => format!("the state lacks {}", list(missing)),
            ([], unexpected) => format!("the module lacks {}", list(unexpected)),
            (missing, unexpected) => format!(
                "the state lacks {}, and the module lacks {}",
                list(missing),
                list(unexpected)
            ),
        };
        Err(Error::new(ErrorKind::Argument, OP, what).hint(
            "change the paths of the state with `.map(..)`, or skip tensors: `load_with(state, Strict::No)`",
        ))
    }
}

/// The tensors of a state by their paths.
pub(crate) struct ByPath(BTreeMap<String, DynTensor>);

impl ByPath {
    /// Collects a state, whose paths must differ.
    pub(crate) fn collect(
        state: impl IntoIterator<Item = (impl Into<String>, impl Into<DynTensor>)>,
    ) -> Result<Self> {
        let mut all = BTreeMap::new();
        for (path, tensor) in state {
            let path = path.into();
            if all.contains_key(&path) {
                let what = format!("the state has two tensors at `{path}`");
                return Err(Error::new(ErrorKind::Argument, OP, what)
                    .hint("give each tensor a different path"));
            }
            all.insert(path, tensor.into());
        }
        Ok(Self(all))
    }

    /// Removes and returns the tensor at a path.
    pub(crate) fn take(&mut self, path: &str) -> Result<DynTensor> {
        self.0.remove(path).ok_or_else(|| {
            let what = format!("the state lacks `{path}`");
            Error::new(ErrorKind::Argument, OP, what).hint("load the state of this model")
        })
    }

    /// Returns the tensors that were not taken.
    pub(crate) fn rest(self) -> BTreeMap<String, DynTensor> {
        self.0
    }
}

/// Converts `value` to a replacement of `own`: with its names and sizes. The dtypes must be equal.
pub(crate) fn fit_to(own: &DynTensor, value: DynTensor) -> Result<DynTensor> {
    let value = match value.names().has_names() {
        false if is_merged(own.shape(), value.shape()) => value.reshape(&to_signed(own.shape()))?,
        _ => value,
    };
    check_sizes(own, &value)?;
    if own.dtype() != value.dtype() {
        let what = format!(
            "the module's dtype is {}, not {}",
            own.dtype(),
            value.dtype()
        );
        return Err(mismatch(ErrorKind::DType, what, own, &value)
            .hint("convert it before loading: `x.to_dtype(..)`"));
    }
    let named = value.names().iter().zip(own.names().iter());
    let names: Names = named
        .map(|(value, own)| value.clone().or_else(|| own.clone()))
        .collect();
    if let Some(at) =
        (0..names.len()).find(|&at| own.names()[at].is_some() && own.names()[at] != names[at])
    {
        let what = "the dims' names are not the module's";
        return Err(
            mismatch(ErrorKind::NameMismatch, what.to_owned(), own, &value)
                .at(0, at)
                .hint("align or rename before loading"),
        );
    }
    let (raw, _) = value.into_parts();
    DynTensor::from_parts(raw, names)
}

/// Returns whether `merged` is `sizes` with some adjacent sizes merged into their product, and sizes of 1 added.
fn is_merged(sizes: &[usize], merged: &[usize]) -> bool {
    let mut sizes = sizes.iter().copied().peekable();
    let whole = merged.iter().all(|&wanted| {
        if wanted == 1 && sizes.peek() != Some(&1) {
            return true;
        }
        let mut product = sizes.next();
        while let Some(found) = product.filter(|&found| found != wanted) {
            product = sizes.next().and_then(|next| found.checked_mul(next));
        }
        product.is_some()
    });
    whole && sizes.all(|size| size == 1)
}

fn to_signed(sizes: &[usize]) -> Vec<i64> {
    sizes
        .iter()
        .map(|&size| i64::try_from(size).unwrap_or(i64::MAX))
        .collect()
}

/// Checks that the sizes are equal.
pub(crate) fn check_sizes(own: &DynTensor, value: &DynTensor) -> Result<()> {
    if own.shape() == value.shape() {
        return Ok(());
    }
    let what = "sizes differ from the module's";
    Err(mismatch(ErrorKind::Shape, what.to_owned(), own, value)
        .hint("load the file of a module of these sizes"))
}

fn mismatch(kind: ErrorKind, what: String, own: &DynTensor, value: &DynTensor) -> Error {
    Error::new(kind, OP, what)
        .operand(value.names(), value.shape())
        .operand(own.names(), own.shape())
}

#[cfg(test)]
mod tests {
    use super::is_merged;

    #[test]
    fn dims_side_by_side_may_be_one() {
        assert!(is_merged(&[12, 32, 384], &[384, 384]));
        assert!(is_merged(&[384, 12, 32], &[384, 384]));
        assert!(is_merged(&[2, 3, 4], &[24]));
        assert!(is_merged(&[2, 3], &[2, 3]));
        assert!(is_merged(&[2, 3, 1], &[2, 3]));
        // Dims of size 1 that the model lacks.
        assert!(is_merged(&[3], &[3, 1, 1]));
        assert!(is_merged(&[3], &[1, 3]));
        assert!(is_merged(&[], &[1]));
        for merged in [&[4, 6][..], &[24, 2], &[8], &[], &[2, 12, 2], &[3, 8]] {
            assert!(!is_merged(&[2, 3, 4], merged), "{merged:?}");
        }
        assert!(!is_merged(&[usize::MAX, 4], &[3]));
    }
}
