//! The variables of a dataset as Rust, for `cargo nomina types`.

use std::collections::BTreeSet;
use std::fmt::Write;

use nomina::{Name, Result};

use crate::dataset::{DynDataset, is_index};
use crate::variable::Variable;

/// Words that no field of a struct can have.
const KEYWORDS: [&str; 38] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub",
    "ref", "return", "self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use",
    "where", "while", "yield",
];

/// Types that the text uses, or that a reader expects to be those of the standard library.
const TYPES: [&str; 12] = [
    "CfTime",
    "Clone",
    "Coordinate",
    "Dataset",
    "DynLabelled",
    "Labelled",
    "Option",
    "Result",
    "String",
    "Tensor",
    "Timestamp",
    "Wild",
];

/// The largest number of dims of a typed tensor.
const MOST_DIMS: usize = 8;

/// A dim of the file, and its marker.
struct DimMarker {
    name: String,
    ident: String,
}

impl DynDataset {
    /// Returns the text of a module with the dims of the dataset, and a struct of its variables with
    /// [`#[derive(Dataset)]`](trait@crate::Dataset) that opens the file: for [`cargo nomina types`].
    ///
    /// Dims and variables whose names are no identifiers get attributes. Texts and times along several dims have no field.
    ///
    /// [`cargo nomina types`]: https://docs.rs/cargo-nomina
    ///
    /// # Errors
    /// Returns the errors of reading labels.
    pub fn to_rust(&self, file: &str, name: &str) -> Result<String> {
        let root = camel(name);
        let mut taken: BTreeSet<String> = TYPES.map(str::to_owned).into_iter().collect();
        taken.insert(root.clone());
        let variables = || self.variables.iter().filter(|one| !is_index(one));
        let mut dims: Vec<DimMarker> = Vec::new();
        let (mut lines, mut renamed) = (String::new(), Vec::new());
        // Texts and times along several dims have no field.
        let has_field = |one: &&Variable| one.dtype().is_some() || one.dims().len() < 2;
        for name in variables().filter(has_field).flat_map(Variable::dims) {
            if dims.iter().any(|dim| dim.name == *name) {
                continue;
            }
            let ident = unique(&camel(name), &mut taken);
            let spelling = if ident == *name {
                String::new()
            } else if Name::new(name).is_ok() {
                format!("(\"{name}\")")
            } else {
                renamed.push(format!("{ident} = {name:?}"));
                String::new()
            };
            let labels = self.labels(name).ok();
            let label = labels
                .as_ref()
                .map(|labels| format!(": {}", labels.type_name()));
            let extent = labels.as_ref().map(|labels| (labels.show(0), labels.len()));
            let index = self.variables.iter().find(|one| one.name() == name);
            let comment = index
                .map(|index| describe(index, extent))
                .unwrap_or_default();
            let label = label.unwrap_or_default();
            let _ = writeln!(lines, "    pub {ident}{spelling}{label},{comment}");
            dims.push(DimMarker {
                name: name.clone(),
                ident,
            });
        }
        let mut declared = String::new();
        let mut idents = BTreeSet::new();
        for one in variables() {
            let Some(kind) = self.field_type(one, &dims) else {
                let (name, dims) = (one.name().escape_debug(), one.dims().join(", "));
                let kind = one.type_name();
                let _ = writeln!(declared, "    // No field holds `{name}` ({dims}) {kind}.");
                continue;
            };
            let ident = unique(&field(one.name()), &mut idents);
            declared += &documentation(one);
            declared += &self.attribute(one, &ident, &kind);
            let _ = writeln!(declared, "    pub {ident}: {kind},");
        }
        let text = format!("{lines}{declared}");
        let used = |name: &&str| {
            let letter = |c: char| c.is_alphanumeric() || c == '_';
            text.split(|c: char| !letter(c)).any(|word| word == *name)
        };
        let import = |krate: &str, names: &[&str]| {
            let used: Vec<&str> = names
                .iter()
                .copied()
                .filter(|name| *name == "Dataset" || used(name))
                .collect();
            match &used[..] {
                [] => String::new(),
                [only] => format!("use {krate}::{only};\n"),
                all => format!("use {krate}::{{{}}};\n", all.join(", ")),
            }
        };
        let mut out =
            format!("//! The variables of `{file}`, written by `cargo nomina types`.\n\n");
        // In rustfmt's order.
        let prelude = "use nomina::prelude::*;\n";
        let own = import("nomina", &["DynLabelled", "Labelled", "Timestamp"]);
        if own.contains('{') || own.is_empty() {
            out = out + prelude + &own;
        } else {
            out = out + &own + prelude;
        }
        out += &import("nomina_data", &["CfTime", "Coordinate", "Dataset"]);
        if !lines.is_empty() {
            let _ = write!(out, "\ndims! {{\n{lines}}}\n");
        }
        let _ = write!(
            out,
            "\n/// The variables of `{file}`.\n#[derive(Dataset, Clone)]\n"
        );
        if !renamed.is_empty() {
            let _ = writeln!(out, "#[dataset(rename({}))]", renamed.join(", "));
        }
        let _ = write!(out, "pub struct {root} {{\n{declared}}}\n");
        Ok(out)
    }

    /// Returns the type of a field; none for texts and times along several dims.
    fn field_type(&self, one: &Variable, dims: &[DimMarker]) -> Option<String> {
        let ident = |name: &String| {
            let own = dims.iter().find(|dim| dim.name == *name);
            own.map_or("Wild", |dim| &dim.ident)
        };
        let names: Vec<&str> = one.dims().iter().map(ident).collect();
        let dtype = one.type_name();
        match (one.dtype(), &names[..]) {
            (None, []) => return Some(dtype),
            (None, [dim]) => return Some(format!("Coordinate<{dim}, {dtype}>")),
            (None, _) => return None,
            (Some(dtype), [])
                if self.is_coordinate(one) && (dtype.is_float() || dtype.is_integral()) =>
            {
                return Some(if dtype.is_float() { "f64" } else { "i64" }.to_owned());
            }
            _ => {}
        }
        let distinct: BTreeSet<&str> = names.iter().copied().collect();
        if names.len() > MOST_DIMS || distinct.len() < names.len() {
            return Some("DynLabelled".to_owned());
        }
        let list = match names[..] {
            [only] => format!("({only},)"),
            _ => format!("({})", names.join(", ")),
        };
        Some(format!("Labelled<{list}, {dtype}>"))
    }

    /// Returns the attribute of a field.
    fn attribute(&self, one: &Variable, ident: &str, kind: &str) -> String {
        let mut parts = Vec::new();
        if ident != one.name() {
            parts.push(format!("name = {:?}", one.name()));
        }
        if let Some(units) = one.attributes().text("units") {
            parts.push(format!("units = {units:?}"));
        }
        if self.is_coordinate(one) && kind.contains("Labelled") {
            parts.push("coordinate".to_owned());
        }
        if parts.is_empty() {
            String::new()
        } else {
            format!("    #[dataset({})]\n", parts.join(", "))
        }
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
