//! Datasets as text and HTML, in the manner of xarray.

use std::fmt;

use crate::attributes::{Attributes, show};
use crate::column::Column;
use crate::dataset::{DynDataset, is_index};
use crate::source::LeftOut;
use crate::variable::{Data, Variable};

/// The width of the text.
const WIDTH: usize = 80;

/// One line of a table of variables.
struct Row<'a> {
    is_index: bool,
    name: &'a str,
    dims: String,
    kind: String,
    values: String,
    attributes: &'a Attributes,
}

impl<'a> Row<'a> {
    fn new(variable: &'a Variable) -> Self {
        let dims = match variable.dims() {
            [] => String::new(),
            dims => format!("({})", dims.join(", ")),
        };
        Self {
            is_index: is_index(variable),
            name: variable.name(),
            dims,
            kind: variable.type_name(),
            values: values(variable),
            attributes: variable.attributes(),
        }
    }
}

/// Formats the first and the last values; of data in a file only labels, which are read.
fn values(variable: &Variable) -> String {
    if variable.is_lazy() && !is_index(variable) {
        return "...".to_owned();
    }
    if let Data::Tensor(tensor) = &variable.data
        && tensor.numel() > 4096
    {
        let ends = [0, tensor.numel() - 1].map(|at| {
            let flat = tensor
                .reshape(&[-1])
                .and_then(|flat| flat.narrow(0, at as i64, 1));
            flat.and_then(|one| Column::from_tensor(&one))
                .map(|one| one.show(0))
        });
        return match ends {
            [Ok(first), Ok(last)] => format!("{} ... {}", short(&first), short(&last)),
            _ => "...".to_owned(),
        };
    }
    let Ok(column) = variable.column() else {
        return "...".to_owned();
    };
    let all = |range: std::ops::Range<usize>| {
        range
            .map(|at| short(&column.show(at)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    match column.len() {
        0 => String::new(),
        len @ 1..=6 => all(0..len),
        len if matches!(*column, Column::Time(_) | Column::CfTime(_)) => {
            format!("{} ... {}", column.show(0), column.show(len - 1))
        }
        len => format!("{} ... {}", all(0..2), all(len - 1..len)),
    }
}

/// Shortens a number to four significant digits, as xarray does; a text to its first characters.
fn short(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(value) if text.contains('.') && value != 0.0 && (1e-4..1e15).contains(&value.abs()) => {
            let digits = 3 - value.abs().log10().floor() as i32;
            let rounded = format!("{value:.*}", digits.max(1) as usize);
            let trimmed = rounded.trim_end_matches('0');
            if trimmed.ends_with('.') {
                format!("{trimmed}0")
            } else {
                trimmed.to_owned()
            }
        }
        _ if text.chars().count() > 30 => format!("{}…", text.chars().take(29).collect::<String>()),
        _ => text.to_owned(),
    }
}

fn bytes(dataset: &DynDataset) -> usize {
    let of = |one: &Variable| one.numel() * one.dtype().map_or(8, nomina::DType::size);
    dataset.variables.iter().map(of).sum()
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes}B"),
        1_000..1_000_000 => format!("{}kB", (bytes + 500) / 1_000),
        1_000_000..1_000_000_000 => format!("{}MB", (bytes + 500_000) / 1_000_000),
        _ => format!("{:.1}GB", bytes as f64 / 1e9),
    }
}

/// Cuts a line at the width.
fn line(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    let text = text.trim_end();
    if text.chars().count() <= WIDTH {
        return writeln!(f, "{text}");
    }
    let cut: String = text.chars().take(WIDTH - 3).collect();
    writeln!(f, "{cut}...")
}

impl fmt::Display for DynDataset {
    /// Formats the dims, coordinates with their first and last labels, variables and attributes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "<DynDataset> Size: {}", size(bytes(self)))?;
        let sizes = self.sizes();
        let dims: Vec<String> = sizes
            .iter()
            .map(|(dim, size)| format!("{dim}: {size}"))
            .collect();
        let coordinates: Vec<Row<'_>> = self.coordinates().map(Row::new).collect();
        let variables: Vec<Row<'_>> = self.variables().map(Row::new).collect();
        let widest = coordinates
            .iter()
            .chain(&variables)
            .map(|row| row.name.chars().count())
            .max();
        let width = widest.unwrap_or(0);
        writeln!(f, "Dimensions:  ({})", dims.join(", "))?;
        for (title, rows) in [
            ("Coordinates:", coordinates),
            ("Data variables:", variables),
        ] {
            if rows.is_empty() && title == "Coordinates:" {
                continue;
            }
            writeln!(f, "{title}")?;
            for row in &rows {
                let mark = if row.is_index { '*' } else { ' ' };
                let middle = [&row.dims[..], &row.kind, &row.values].join(" ");
                line(
                    f,
                    &format!("  {mark} {:width$}  {}", row.name, middle.trim_start()),
                )?;
            }
            if rows.is_empty() {
                writeln!(f, "    *empty*")?;
            }
        }
        if !self.attributes.is_empty() {
            writeln!(f, "Attributes:")?;
            let widest = self
                .attributes
                .iter()
                .map(|(name, _)| name.chars().count())
                .max();
            for (name, value) in self.attributes.iter() {
                let name = format!("{name}:");
                line(
                    f,
                    &format!(
                        "    {name:width$}  {}",
                        show(value),
                        width = widest.unwrap_or(0) + 1
                    ),
                )?;
            }
        }
        if !self.left_out().is_empty() {
            writeln!(f, "Left out:")?;
        }
        for LeftOut { name, why } in self.left_out() {
            line(f, &format!("    {name:width$}  {why}"))?;
        }
        Ok(())
    }
}

/// Escapes a text for HTML.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

fn attribute_list(attributes: &Attributes) -> String {
    let items = attributes
        .iter()
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>", escape(name), escape(&show(value))));
    format!("<dl>{}</dl>", items.collect::<String>())
}

const STYLE: &str = "<style>.nomina-dataset{font-family:sans-serif;font-size:90%;max-width:70em}\
.nomina-dataset summary{cursor:pointer;font-weight:bold}\
.nomina-dataset table{border-collapse:collapse;width:100%;margin:0 0 0.5em 1em}\
.nomina-dataset td{padding:0.1em 0.8em 0.1em 0;text-align:left;vertical-align:top;white-space:nowrap}\
.nomina-dataset td:last-child{width:100%;overflow:hidden;text-overflow:ellipsis}\
.nomina-dataset dl{display:grid;grid-template-columns:max-content auto;gap:0 1em;margin:0.2em 1em}\
.nomina-dataset dd{margin:0}.nomina-dataset .index{font-weight:bold}\
.nomina-dataset td details summary{font-weight:normal}</style>";

impl DynDataset {
    /// Returns the dataset as HTML for a notebook, in sections that fold.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut out = format!(
            "{STYLE}<div class=\"nomina-dataset\"><div>DynDataset, {}</div>",
            size(bytes(self))
        );
        let dims = self.sizes().into_iter().map(|(dim, size)| {
            let class = if self.labels_exist(dim) {
                " class=\"index\""
            } else {
                ""
            };
            format!("<span{class}>{}</span>: {size}", escape(dim))
        });
        let dims: Vec<String> = dims.collect();
        out += &format!("<div>Dimensions: ({})</div>", dims.join(", "));
        let tables = [
            (
                "Coordinates",
                self.coordinates().map(Row::new).collect::<Vec<_>>(),
            ),
            ("Data variables", self.variables().map(Row::new).collect()),
        ];
        for (title, rows) in tables {
            out += &format!(
                "<details open><summary>{title} ({})</summary><table>",
                rows.len()
            );
            for row in rows {
                let name = if row.is_index {
                    format!("<span class=\"index\">{}</span>", escape(row.name))
                } else {
                    escape(row.name)
                };
                let name = if row.attributes.is_empty() {
                    name
                } else {
                    format!(
                        "<details><summary>{name}</summary>{}</details>",
                        attribute_list(row.attributes)
                    )
                };
                let cells = [
                    name,
                    escape(&row.dims),
                    escape(&row.kind),
                    escape(&row.values),
                ];
                let cells = cells.iter().map(|cell| format!("<td>{cell}</td>"));
                out += &format!("<tr>{}</tr>", cells.collect::<String>());
            }
            out += "</table></details>";
        }
        if !self.attributes.is_empty() {
            let count = self.attributes.len();
            let list = attribute_list(&self.attributes);
            out += &format!("<details><summary>Attributes ({count})</summary>{list}</details>");
        }
        for LeftOut { name, why } in self.left_out() {
            out += &format!("<div>Left out: {}, {}</div>", escape(name), escape(why));
        }
        out + "</div>"
    }

    fn labels_exist(&self, dim: &str) -> bool {
        self.variables
            .iter()
            .any(|one| one.name() == dim && is_index(one))
    }
}
