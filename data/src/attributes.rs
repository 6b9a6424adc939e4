//! Attributes of datasets and variables.

use std::ops::Index;

pub use nomina_io::zarr::Attribute;

/// The attributes of a dataset or a variable, such as `units`, in the order of the file.
///
/// ```
/// use nomina_data::{Attribute, Attributes};
/// let mut attributes = Attributes::new();
/// attributes.set("units", "K");
/// attributes.set("levels", vec![1000.0, 850.0]);
/// assert_eq!(attributes.text("units"), Some("K"));
/// assert_eq!(attributes["units"], Attribute::Text("K".into()));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Attributes(Vec<(String, Attribute)>);

impl Attributes {
    /// Creates an empty list.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Returns the number of attributes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns an attribute.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Attribute> {
        self.0
            .iter()
            .find(|(own, _)| own == name)
            .map(|(_, value)| value)
    }

    /// Returns an attribute that is a text.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Sets an attribute, and returns the old value. A new one becomes the last.
    pub fn set(&mut self, name: &str, value: impl IntoAttribute) -> Option<Attribute> {
        let value = value.into_attribute();
        match self.0.iter_mut().find(|(own, _)| own == name) {
            Some((_, old)) => Some(std::mem::replace(old, value)),
            None => {
                self.0.push((name.to_owned(), value));
                None
            }
        }
    }

    /// Removes an attribute.
    pub fn remove(&mut self, name: &str) -> Option<Attribute> {
        let at = self.0.iter().position(|(own, _)| own == name)?;
        Some(self.0.remove(at).1)
    }

    /// Iterates over names and values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Attribute)> {
        self.0.iter().map(|(name, value)| (&name[..], value))
    }
}

impl Index<&str> for Attributes {
    type Output = Attribute;

    /// Returns an attribute.
    ///
    /// # Panics
    /// If it does not exist.
    fn index(&self, name: &str) -> &Attribute {
        self.get(name)
            .unwrap_or_else(|| panic!("no attribute `{name}`"))
    }
}

impl FromIterator<(String, Attribute)> for Attributes {
    fn from_iter<I: IntoIterator<Item = (String, Attribute)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

/// A value that an attribute can be set to.
pub trait IntoAttribute {
    /// Converts to an attribute.
    fn into_attribute(self) -> Attribute;
}

macro_rules! into_attribute {
    ($($from:ty, |$value:ident| $to:expr;)*) => {$(
        impl IntoAttribute for $from {
            fn into_attribute(self) -> Attribute {
                let $value = self;
                $to
            }
        }
    )*};
}
into_attribute! {
    Attribute, |value| value;
    &str, |value| Attribute::Text(value.to_owned());
    String, |value| Attribute::Text(value);
    bool, |value| Attribute::Bool(value);
    f64, |value| Attribute::Float(value);
    i64, |value| Attribute::Int(value);
    i32, |value| Attribute::Int(value.into());
}

impl<T: IntoAttribute> IntoAttribute for Vec<T> {
    fn into_attribute(self) -> Attribute {
        Attribute::List(self.into_iter().map(T::into_attribute).collect())
    }
}

/// Formats an attribute as text: a list without brackets.
pub(crate) fn show(value: &Attribute) -> String {
    match value {
        Attribute::Null => "null".to_owned(),
        Attribute::Bool(value) => value.to_string(),
        Attribute::Int(value) => value.to_string(),
        Attribute::Float(value) => value.to_string(),
        Attribute::Text(text) => text.clone(),
        Attribute::List(list) => list.iter().map(show).collect::<Vec<_>>().join(", "),
        Attribute::Map(map) => {
            let pairs = map
                .iter()
                .map(|(key, value)| format!("{key}: {}", show(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
    }
}
