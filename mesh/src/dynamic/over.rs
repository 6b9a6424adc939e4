//! The dims of a reduction or a product, by name.

/// The dims of a reduction or a product: dims that each rank has all of, split dims to reduce across, or, in a product,
/// a dim via the axis that splits it.
#[derive(Clone, Debug)]
pub struct Over {
    pub(super) dims: Vec<String>,
    pub(super) across: bool,
    pub(super) via: Option<String>,
}

impl Over {
    /// Reduces across split dims; the result is pending. An empty list means all dims.
    pub fn across<N: Into<String>>(dims: impl IntoIterator<Item = N>) -> Self {
        Self {
            dims: dims.into_iter().map(Into::into).collect(),
            across: true,
            via: None,
        }
    }

    /// The names of the dims.
    pub(super) fn names(&self) -> Vec<&str> {
        self.dims.iter().map(String::as_str).collect()
    }

    /// Contracts over a dim that is split only in the second factor, whose parts travel around the axis.
    pub fn via(dim: impl Into<String>, axis: impl Into<String>) -> Self {
        Self {
            dims: vec![dim.into()],
            across: false,
            via: Some(axis.into()),
        }
    }
}

impl<N: Into<String>, const K: usize> From<[N; K]> for Over {
    fn from(dims: [N; K]) -> Self {
        Self {
            dims: dims.into_iter().map(Into::into).collect(),
            across: false,
            via: None,
        }
    }
}

impl From<&str> for Over {
    fn from(dim: &str) -> Self {
        [dim].into()
    }
}
