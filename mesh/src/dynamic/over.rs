//! Which dims a reduction or a product goes over, by name.

/// Dims of a reduction: those that each rank has all of, or across split ones; in a product also one via the axis that splits it.
#[derive(Clone, Debug)]
pub struct Over {
    pub(super) dims: Vec<String>,
    pub(super) across: bool,
    pub(super) via: Option<String>,
}

impl Over {
    /// Dims of which ranks have different parts: the result is pending. No dims are all of them.
    pub fn across<N: Into<String>>(dims: impl IntoIterator<Item = N>) -> Self {
        Self {
            dims: dims.into_iter().map(Into::into).collect(),
            across: true,
            via: None,
        }
    }

    /// A dim of a product that is split in its second factor alone: its parts go round the axis.
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
