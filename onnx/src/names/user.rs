//! Names that a user gives, and the text of `names.toml`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use nomina_core::{Error, ErrorKind, Name, Result};

use super::classes::DimClass;

/// Names for the dims of a model, as `names.toml` has them.
///
/// A table `[names]` has a name by `value.position`; the whole class of that dim gets it. Two classes with one name become one class.
/// A table `[[split]]` begins a class at a dim of a node's result.
///
/// ```
/// let names = nomina_onnx::DimNames::parse(r#"
///     [names]
///     "image.2" = "Row"
///
///     [[split]]
///     node = "/encoder/Concat"      # the node's name, or that of its result
///     dim = 1
///     name = "Token"
/// "#)?;
/// assert_eq!(names.get("image.2"), Some("Row"));
/// # Ok::<(), nomina_core::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DimNames {
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) splits: Vec<Split>,
}

/// A dim of a node's result at which a class begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Split {
    /// The node's name, or the name of its result.
    pub node: String,
    /// Which of its results.
    pub output: usize,
    /// The dim.
    pub dim: usize,
    /// The name of the new class.
    pub name: String,
}

impl Split {
    /// Returns whether a node is the one to split at.
    pub fn is_at(&self, node: &str, output: &str) -> bool {
        self.node == node || self.node == output
    }
}

const OP: &str = "onnx names";

#[cold]
fn fail(kind: ErrorKind, what: impl Into<String>) -> Error {
    Error::new(kind, OP, what.into())
}

impl DimNames {
    /// Reads a file.
    ///
    /// # Errors
    /// If the file cannot be read, and like [`DimNames::parse`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|e| fail(ErrorKind::File, format!("{}: {e}", path.display())))?;
        Self::parse(&text).map_err(|e| e.within(path.display()))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// If the text is not TOML, has other tables or keys, or a name is not an identifier.
    pub fn parse(text: &str) -> Result<Self> {
        let table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| fail(ErrorKind::File, e.message().to_owned()))?;
        let mut all = Self::default();
        for (key, value) in table {
            match (&key[..], value) {
                ("names", toml::Value::Table(names)) => {
                    for (place, name) in names {
                        let toml::Value::String(name) = name else {
                            return Err(fail(
                                ErrorKind::File,
                                format!("the name of `{place}` is no text"),
                            ));
                        };
                        all = all.name(place, name)?;
                    }
                }
                ("split", toml::Value::Array(splits)) => {
                    for split in splits {
                        all.splits.push(split_of(&split)?);
                    }
                }
                _ => {
                    let what = format!("the table `{key}` is unknown");
                    return Err(fail(ErrorKind::File, what)
                        .hint("the tables are `[names]` and `[[split]]`"));
                }
            }
        }
        Ok(all)
    }

    /// Adds a name for the class of a dim, by `value.position`.
    ///
    /// # Errors
    /// If the name is not an identifier.
    pub fn name(mut self, place: impl Into<String>, name: impl Into<String>) -> Result<Self> {
        let name = name.into();
        Name::new(&name)?;
        self.names.insert(place.into(), name);
        Ok(self)
    }

    /// Begins a class called `name` at dim `dim` of the first result of a node. The node is given by its name, or by the name of
    /// its result.
    ///
    /// # Errors
    /// If the name is not an identifier.
    pub fn split(
        mut self,
        node: impl Into<String>,
        dim: usize,
        name: impl Into<String>,
    ) -> Result<Self> {
        let (node, name) = (node.into(), name.into());
        Name::new(&name)?;
        self.splits.push(Split {
            node,
            output: 0,
            dim,
            name,
        });
        Ok(self)
    }

    /// Returns the name given at `value.position`.
    #[must_use]
    pub fn get(&self, place: &str) -> Option<&str> {
        self.names.get(place).map(|name| &name[..])
    }
}

impl From<BTreeMap<String, String>> for DimNames {
    fn from(names: BTreeMap<String, String>) -> Self {
        Self {
            names,
            splits: Vec::new(),
        }
    }
}

impl From<&BTreeMap<String, String>> for DimNames {
    fn from(names: &BTreeMap<String, String>) -> Self {
        names.clone().into()
    }
}

impl From<&DimNames> for DimNames {
    fn from(names: &DimNames) -> Self {
        names.clone()
    }
}

fn split_of(value: &toml::Value) -> Result<Split> {
    let table = value
        .as_table()
        .ok_or_else(|| fail(ErrorKind::File, "a split is no table"))?;
    if let Some(key) = table
        .keys()
        .find(|key| !["node", "output", "dim", "name"].contains(&&key[..]))
    {
        return Err(fail(
            ErrorKind::File,
            format!("a split has the unknown key `{key}`"),
        )
        .hint("the keys are `node`, `output`, `dim` and `name`"));
    }
    let text = |key: &str| {
        let text = table.get(key).and_then(toml::Value::as_str);
        text.map(str::to_owned)
            .ok_or_else(|| fail(ErrorKind::File, format!("a split has no text `{key}`")))
    };
    let number = |key: &str, default: Option<usize>| match table.get(key) {
        None => default.ok_or_else(|| fail(ErrorKind::File, format!("a split has no `{key}`"))),
        Some(value) => value
            .as_integer()
            .and_then(|n| usize::try_from(n).ok())
            .ok_or_else(|| {
                fail(
                    ErrorKind::File,
                    format!("`{key}` of a split is no position"),
                )
            }),
    };
    let name = text("name")?;
    Name::new(&name)?;
    Ok(Split {
        node: text("node")?,
        output: number("output", Some(0))?,
        dim: number("dim", None)?,
        name,
    })
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut all = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => all.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(all, "\\u{:04X}", u32::from(letter));
            }
            letter => all.push(letter),
        }
    }
    all.push('"');
    all
}

/// Writes classes as the text of a `names.toml` to edit: the classes in order of first use, each below a comment with its sizes, how
/// it was named and where it occurs.
pub(crate) fn names_toml(classes: &[DimClass], splits: &[Split]) -> String {
    let mut text = String::from(
        "# Names of the dims of a model. A name belongs to a class of dims that operators identify; its key is the first dim of\n\
         # the class. Two classes with one name become one class. To begin a class at a node's result:\n\
         #\n\
         # [[split]]\n\
         # node = \"name of the node, or of its result\"\n\
         # dim = 1\n\
         # name = \"Token\"\n\n[names]\n",
    );
    for class in classes {
        let sizes: Vec<_> = class.sizes.iter().map(ToString::to_string).collect();
        let size = match &sizes[..] {
            [] => "any size".to_owned(),
            sizes => format!("size {}", sizes.join(", ")),
        };
        let shown = class.places.len().min(4);
        let mut places = class.places[..shown].join(", ");
        if class.occurrences > shown {
            let _ = write!(places, " and {} more", class.occurrences - shown);
        }
        // A comment ends with its line.
        let places: String = places.chars().filter(|c| !c.is_control()).collect();
        let _ = writeln!(text, "# {size}; from {}; {places}", class.source);
        if let Some(place) = class.places.first() {
            let _ = writeln!(text, "{} = {}", quoted(place), quoted(&class.name));
        }
    }
    for split in splits {
        let _ = write!(
            text,
            "\n[[split]]\nnode = {}\noutput = {}\ndim = {}\nname = {}\n",
            quoted(&split.node),
            split.output,
            split.dim,
            quoted(&split.name)
        );
    }
    text
}
