//! The variables of a dataset as Rust, for `cargo nomina types`.

use std::collections::BTreeSet;
use std::fmt::Write;

use nomina::{Name, Result};

use crate::dataset::DynDataset;
use crate::variable::Variable;

/// Words that no field of a struct can have.
const KEYWORDS: [&str; 38] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use",
    "where", "while", "yield",
];

/// Types that the text uses.
const TYPES: [&str; 8] = [
    "CfTime",
    "DynDataset",
    "DynLabelled",
    "Labelled",
    "Result",
    "String",
    "Timestamp",
    "Wild",
];

/// The largest number of dims of a typed tensor.
const MOST_DIMS: usize = 8;

impl DynDataset {
    /// Returns the text of a module with the dims and label types of the dataset, and a struct of its variables that
    /// opens a file: for [`cargo nomina types`]. Units are in the documentation of fields.
    ///
    /// [`cargo nomina types`]: https://docs.rs/cargo-nomina
    ///
    /// # Errors
    /// Returns the errors of reading labels.
    pub fn to_rust(&self, file: &str, name: &str) -> Result<String> {
        let root = camel(name);
        let mut taken: BTreeSet<String> = TYPES
            .map(str::to_owned)
            .into_iter()
            .chain([root.clone()])
            .collect();
        // The dims of variables that become fields.
        let fields: Vec<&Variable> = self
            .variables()
            .filter(|one| one.dtype().is_some())
            .collect();
        let mut dims: Vec<(String, String)> = Vec::new();
        let mut lines = String::new();
        let mut has_calendar = false;
        for one in &fields {
            for name in one.names().iter().flatten() {
                let name = name.as_str();
                if dims.iter().any(|(own, _)| own == name) {
                    continue;
                }
                let ident = unique(&camel(name), &mut taken);
                let spelling = if ident == name {
                    String::new()
                } else {
                    format!("(\"{name}\")")
                };
                let labels = self.labels(name).ok();
                let label = labels
                    .as_ref()
                    .map_or(String::new(), |one| format!(": {}", one.type_name()));
                has_calendar |= label == ": CfTime";
                let comment = match self.variables.iter().find(|one| one.name() == name) {
                    Some(index) => describe(
                        index,
                        labels
                            .as_deref()
                            .map(|column| (column.show(0), column.len())),
                    ),
                    None => String::new(),
                };
                let _ = writeln!(lines, "    pub {ident}{spelling}{label},{comment}");
                dims.push((name.to_owned(), ident));
            }
        }
        let mut declared = String::new();
        let mut opened = String::new();
        let mut idents = BTreeSet::new();
        for one in &fields {
            let ident = unique(&field(one.name()), &mut idents);
            let comment = documentation(one);
            let (kind, typed) = self.field_type(one, &dims);
            let _ = writeln!(declared, "{comment}    pub {ident}: {kind},");
            let name = one.name().escape_default();
            let _ = writeln!(
                opened,
                "            {ident}: file.labelled(\"{name}\")?{typed},"
            );
        }
        let mut imports = Vec::new();
        for (name, used) in [
            ("DynLabelled", declared.contains(": DynLabelled,")),
            ("Labelled", declared.contains(": Labelled<")),
            ("Timestamp", lines.contains(": Timestamp,")),
        ] {
            imports.extend(used.then_some(name));
        }
        let mut out = format!(
            "//! The variables of `{file}`, written by `cargo nomina types`.\n\nuse nomina::prelude::*;\n"
        );
        match &imports[..] {
            [] => {}
            [only] => out += &format!("use nomina::{only};\n"),
            all => out += &format!("use nomina::{{{}}};\n", all.join(", ")),
        }
        out += if has_calendar {
            "use nomina_data::{CfTime, DynDataset};\n"
        } else {
            "use nomina_data::DynDataset;\n"
        };
        if !lines.is_empty() {
            let _ = write!(out, "\ndims! {{\n{lines}}}\n");
        }
        let _ = write!(
            out,
            "\n/// The variables of `{file}`.\n#[derive(Clone)]\npub struct {root} {{\n{declared}}}\n\n\
             impl {root} {{\n    /// Opens a file, and checks its dims, dtypes and labels.\n    \
             pub fn open(path: impl AsRef<std::path::Path>) -> Result<Self> {{\n        \
             let file = DynDataset::open(path)?;\n        Ok(Self {{\n{opened}        }})\n    }}\n}}\n"
        );
        Ok(out)
    }

    /// Returns the type of a field, and what follows the labelled tensor to get it.
    fn field_type(&self, one: &Variable, dims: &[(String, String)]) -> (String, &'static str) {
        let ident = |name: &Option<Name>| match name {
            Some(name) => {
                let own = dims.iter().find(|(own, _)| own == name.as_str());
                own.map_or_else(|| "Wild".to_owned(), |(_, ident)| ident.clone())
            }
            None => "Wild".to_owned(),
        };
        let names: Vec<String> = one.names().iter().map(ident).collect();
        let dtype = one.type_name();
        if names.len() > MOST_DIMS || names.iter().any(|name| name == "Wild") {
            return ("DynLabelled".to_owned(), "");
        }
        let list = match &names[..] {
            [only] => format!("({only},)"),
            all => format!("({})", all.join(", ")),
        };
        (format!("Labelled<{list}, {dtype}>"), ".typed()?")
    }
}

/// Formats a comment with units and extent of a dim.
fn describe(index: &Variable, extent: Option<(String, usize)>) -> String {
    let units = index
        .attributes()
        .text("units")
        .map(|units| units.replace('\n', " "));
    let extent = extent.map(|(first, len)| format!("{len} from {first}"));
    let parts: Vec<String> = units.into_iter().chain(extent).collect();
    if parts.is_empty() {
        String::new()
    } else {
        format!("   // {}", parts.join(", "))
    }
}

/// Formats the documentation of a field: its long name and units.
fn documentation(one: &Variable) -> String {
    let text = |name: &str| {
        one.attributes()
            .text(name)
            .map(|text| text.replace('\n', " "))
    };
    let name = text("long_name")
        .or_else(|| text("standard_name"))
        .unwrap_or_else(|| one.name().to_owned());
    let units = text("units")
        .map(|units| format!(", in {units}"))
        .unwrap_or_default();
    format!("    /// {name}{units}.\n")
}

/// Converts a name to that of a type.
fn camel(name: &str) -> String {
    let words = name
        .split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let camel: String = words
        .map(|word| {
            let (first, rest) = word.split_at(1);
            first.to_ascii_uppercase() + rest
        })
        .collect();
    match camel.chars().next() {
        Some(first) if first.is_ascii_alphabetic() => camel,
        _ => format!("D{camel}"),
    }
}

/// Converts a name to that of a field.
fn field(name: &str) -> String {
    let plain: String = name
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter.to_ascii_lowercase()
            } else {
                '_'
            }
        })
        .collect();
    if KEYWORDS.contains(&&plain[..]) || plain.chars().all(|letter| letter == '_') {
        return plain + "_";
    }
    if plain.starts_with(|letter: char| letter.is_ascii_digit()) {
        format!("x{plain}")
    } else {
        plain
    }
}

fn unique(name: &str, taken: &mut BTreeSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}{number}"));
    let free = std::iter::once(name.to_owned())
        .chain(numbered)
        .find(|name| !taken.contains(name));
    let free = free.unwrap_or_else(|| name.to_owned());
    taken.insert(free.clone());
    free
}
