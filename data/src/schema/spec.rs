//! Descriptions of fields, from the attributes `#[dataset(..)]`.

/// The variable of a field, as `#[derive(Dataset)]` describes it.
#[derive(Clone, Copy, Debug)]
pub struct VariableSpec {
    /// The field, for errors.
    pub(crate) field: &'static str,
    /// The name in files.
    pub(crate) name: &'static str,
    pub(crate) units: Option<&'static str>,
    /// Attributes that are written and not checked.
    pub(crate) attributes: &'static [(&'static str, &'static str)],
    /// Whether it is written as a coordinate.
    pub(crate) is_coordinate: bool,
    /// Whether elements of another dtype are converted.
    pub(crate) converts: bool,
}

impl VariableSpec {
    /// Describes a variable by its field and its name in files.
    #[must_use]
    pub const fn new(field: &'static str, name: &'static str) -> Self {
        Self {
            field,
            name,
            units: None,
            attributes: &[],
            is_coordinate: false,
            converts: false,
        }
    }

    /// Demands units.
    #[must_use]
    pub const fn units(self, units: &'static str) -> Self {
        Self {
            units: Some(units),
            ..self
        }
    }

    /// Adds attributes for files.
    #[must_use]
    pub const fn attributes(self, attributes: &'static [(&'static str, &'static str)]) -> Self {
        Self { attributes, ..self }
    }

    /// Makes it a coordinate.
    #[must_use]
    pub const fn coordinate(self) -> Self {
        Self {
            is_coordinate: true,
            ..self
        }
    }

    /// Converts elements of another dtype.
    #[must_use]
    pub const fn convert(self) -> Self {
        Self {
            converts: true,
            ..self
        }
    }
}

/// Returns the name of a dim, for a constant.
///
/// # Panics
/// If it has none.
#[must_use]
pub const fn dim_name<X: nomina::dims::Axis>() -> &'static str {
    match X::NAME {
        Some(name) => name,
        None => panic!("a dim without a name is not renamed"),
    }
}
