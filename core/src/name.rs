//! Names of dims, and lists of them.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::sync::Arc;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

use smallvec::SmallVec;

use crate::error::{Error, ErrorKind, Result};

/// The maximum number of dims of a tensor in the dynamic path.
pub const MAX_DIMS: usize = 64;

/// The name of a dim: an ASCII identifier (letters, digits, `_`, no leading digit), followed by one `'` for each time
/// it is primed: `N'` is a second axis with the same meaning as `N`.
///
/// ```
/// use nomina_core::Name;
/// let batch = Name::new("batch")?;
/// assert_eq!(batch.as_str(), "batch");
/// assert!(Name::new("2d").is_err());
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Name(Text);

#[derive(Clone)]
enum Text {
    Static(&'static str),
    Shared(Arc<str>),
}

impl Name {
    /// Creates a name after checking its spelling.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidName`] if `name` is not an ASCII identifier, primed or not.
    pub fn new(name: &str) -> Result<Self> {
        if is_name(name) {
            Ok(Self(Text::Shared(Arc::from(name))))
        } else {
            Err(invalid(name))
        }
    }

    /// Creates the name of a dim declared with `dims!`, which checked the spelling.
    ///
    /// # Panics
    /// If `name` is not an ASCII identifier; in a `const`, that stops the compilation.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        assert!(is_name(name), "a dim name is an ASCII identifier");
        Self(Text::Static(name))
    }

    /// Returns the spelling.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Text::Static(name) => name,
            Text::Shared(name) => name,
        }
    }
}

/// Returns whether `name` is spelled like a name: an identifier, followed by any number of `'`.
#[must_use]
pub const fn is_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let mut end = bytes.len();
    while end > 0 && bytes[end - 1] == b'\'' {
        end -= 1;
    }
    // Quotes are one byte each, so this never splits a character.
    is_identifier(name.split_at(end).0)
}

/// Returns whether `name` is an identifier: letters, digits and `_`, no leading digit, not empty.
#[must_use]
pub const fn is_identifier(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.is_empty() || bytes[0].is_ascii_digit() {
        return false;
    }
    let mut i = 0;
    while i < bytes.len() {
        if !(bytes[i].is_ascii_alphanumeric() || bytes[i] == b'_') {
            return false;
        }
        i += 1;
    }
    true
}

#[cold]
fn invalid(name: &str) -> Error {
    Error::new(
        ErrorKind::InvalidName,
        "name",
        alloc::format!("{name:?} is not a valid dim name"),
    )
    .hint("a name is an ASCII identifier: letters, digits and `_`, no leading digit; a final `'` primes it")
}

impl PartialEq for Name {
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (self.as_str(), other.as_str());
        core::ptr::eq(a, b) || a == b
    }
}

impl Eq for Name {}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl Hash for Name {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl PartialOrd for Name {
    fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Name {
    fn cmp(&self, other: &Self) -> core::cmp::Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl TryFrom<&str> for Name {
    type Error = Error;
    fn try_from(name: &str) -> Result<Self> {
        Self::new(name)
    }
}

impl TryFrom<String> for Name {
    type Error = Error;
    fn try_from(name: String) -> Result<Self> {
        Self::new(&name)
    }
}

impl From<Name> for Cow<'static, str> {
    fn from(name: Name) -> Self {
        match name.0 {
            Text::Static(name) => Cow::Borrowed(name),
            Text::Shared(name) => Cow::Owned(String::from(&*name)),
        }
    }
}

/// The names of a tensor's dims, in order; `None` for an unnamed dim.
///
/// Lists of up to 8 dims are stored inline. A tensor's list repeats no name ([`Names::new`] checks it); the rules in
/// [`crate::rule`] rely on it.
#[derive(PartialEq, Eq, Default, Hash)]
pub struct Names(SmallVec<[Option<Name>; 8]>);

impl Clone for Names {
    /// Clones one by one: there are few names, and they fit inline.
    fn clone(&self) -> Self {
        let mut names = SmallVec::new();
        for name in &self.0 {
            names.push(name.clone());
        }
        Self(names)
    }
}

impl Names {
    /// Creates a list of names, checked: at most [`MAX_DIMS`] dims, no repeated name.
    ///
    /// # Errors
    /// [`ErrorKind::DuplicateNames`] or [`ErrorKind::Rank`].
    pub fn new(names: impl IntoIterator<Item = Option<Name>>) -> Result<Self> {
        let names = Self::unchecked(names);
        if names.len() > MAX_DIMS {
            return Err(Error::new(
                ErrorKind::Rank,
                "names",
                alloc::format!(
                    "{} dims are more than the {MAX_DIMS} a tensor can have",
                    names.len()
                ),
            ));
        }
        match names.duplicate() {
            None => Ok(names),
            Some(name) => Err(Error::new(
                ErrorKind::DuplicateNames,
                "names",
                alloc::format!("dim `{name}` appears more than once in {names}"),
            )
            .hint("give each dim a name of its own")),
        }
    }

    /// Creates a list without checks: for orders and arguments, which may be wrong, and for results that a rule has
    /// checked.
    pub fn unchecked(names: impl IntoIterator<Item = Option<Name>>) -> Self {
        Self(names.into_iter().collect())
    }

    /// Creates a list of `rank` unnamed dims.
    #[must_use]
    pub fn unnamed(rank: usize) -> Self {
        Self(smallvec::smallvec![None; rank])
    }

    /// Creates the list of a typed tensor's dims: `None` for `Wild`.
    #[must_use]
    pub fn from_static(names: &[Option<&'static str>]) -> Self {
        Self(
            names
                .iter()
                .map(|name| name.map(Name::from_static))
                .collect(),
        )
    }

    /// Returns the first name that is repeated.
    #[must_use]
    pub fn duplicate(&self) -> Option<&Name> {
        self.iter().enumerate().find_map(|(i, name)| {
            let name = name.as_ref()?;
            self[i + 1..]
                .iter()
                .any(|other| other.as_ref() == Some(name))
                .then_some(name)
        })
    }

    /// Returns the position of `name`.
    #[must_use]
    pub fn position(&self, name: &Name) -> Option<usize> {
        self.iter().position(|other| other.as_ref() == Some(name))
    }

    /// Returns whether any dim has a name.
    #[must_use]
    pub fn has_names(&self) -> bool {
        self.iter().any(Option::is_some)
    }

    /// Returns whether every dim has a name.
    #[must_use]
    pub fn fully_named(&self) -> bool {
        self.iter().all(Option::is_some)
    }

    /// Appends a dim.
    pub fn push(&mut self, name: Option<Name>) {
        self.0.push(name);
    }

    /// Inserts a dim before position `at`.
    ///
    /// # Panics
    /// If `at` is greater than the length.
    pub fn insert(&mut self, at: usize, name: Option<Name>) {
        self.0.insert(at, name);
    }

    /// Removes the dim at `at` and returns its name.
    ///
    /// # Panics
    /// If `at` is out of range.
    pub fn remove(&mut self, at: usize) -> Option<Name> {
        self.0.remove(at)
    }
}

impl Deref for Names {
    type Target = [Option<Name>];
    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl core::ops::DerefMut for Names {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl FromIterator<Option<Name>> for Names {
    fn from_iter<I: IntoIterator<Item = Option<Name>>>(names: I) -> Self {
        Self::unchecked(names)
    }
}

impl<'a> IntoIterator for &'a Names {
    type Item = &'a Option<Name>;
    type IntoIter = core::slice::Iter<'a, Option<Name>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Prints the list like a tuple type: `(N, C)`, `(N,)`, `()`; `_` for an unnamed dim.
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, name) in self.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            match name {
                Some(name) => f.write_str(name.as_str())?,
                None => f.write_str("_")?,
            }
        }
        f.write_str(if self.len() == 1 { ",)" } else { ")" })
    }
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;

    use super::*;

    fn kind(names: &[Option<&str>]) -> ErrorKind {
        let names = names
            .iter()
            .map(|name| name.map(|name| Name::new(name).expect("a name")));
        Names::new(names.collect::<Vec<_>>())
            .expect_err("an error")
            .kind()
    }

    #[test]
    fn a_name_is_an_ascii_identifier() {
        for name in ["N", "_", "__", "_a", "feat_in", "B1", "N'", "N''"] {
            assert_eq!(
                Name::new(name).map(|name| name.to_string()),
                Ok(name.to_string())
            );
        }
        for name in [
            "", "1", "2d", "*", "a b", "a-b", "ä", "'N", "N'a", "'", "...",
        ] {
            let error = Name::new(name).expect_err("no name");
            assert_eq!(error.kind(), ErrorKind::InvalidName);
            assert!(
                error.to_string().contains(&alloc::format!("{name:?}")),
                "{error}"
            );
        }
    }

    #[test]
    fn the_same_spelling_is_the_same_name() {
        let (fixed, spelled) = (Name::from_static("N"), Name::new("N").expect("a name"));
        assert_eq!(fixed, spelled);
        assert_eq!(fixed, "N");
        assert!(fixed != Name::from_static("M") && fixed < Name::from_static("NN"));
        let hash = |name: &Name| {
            // FNV-1a: `alloc` has no hasher.
            struct Fnv(u64);
            impl Hasher for Fnv {
                fn finish(&self) -> u64 {
                    self.0
                }
                fn write(&mut self, bytes: &[u8]) {
                    for byte in bytes {
                        self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
                    }
                }
            }
            let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
            name.hash(&mut hasher);
            hasher.finish()
        };
        assert_eq!(hash(&fixed), hash(&spelled));
    }

    #[test]
    fn no_tensor_has_a_name_twice_or_too_many_dims() {
        assert_eq!(
            kind(&[Some("N"), None, Some("N")]),
            ErrorKind::DuplicateNames
        );
        assert_eq!(kind(&[None; MAX_DIMS + 1]), ErrorKind::Rank);
        assert!(Names::new([None, None]).is_ok());
        assert_eq!(Names::unnamed(MAX_DIMS).len(), MAX_DIMS);
    }

    #[test]
    fn shown_as_a_tuple_type() {
        let shown = |names: &[Option<&'static str>]| Names::from_static(names).to_string();
        assert_eq!(shown(&[]), "()");
        assert_eq!(shown(&[Some("N")]), "(N,)");
        assert_eq!(shown(&[Some("N"), None]), "(N, _)");
    }

    #[test]
    fn asked_for_names() {
        let mut names = Names::from_static(&[Some("N"), None]);
        assert_eq!(names.position(&Name::from_static("N")), Some(0));
        assert!(names.has_names() && !names.fully_named());
        names.insert(1, Some(Name::from_static("C")));
        assert_eq!(names.remove(2), None);
        assert!(names.fully_named());
        // A zero-dim tensor has no unnamed dim either.
        assert!(Names::default().fully_named() && !Names::default().has_names());
    }
}
