//! The classes of dims of a model, as a table.

use nomina_onnx::{DimClass, Model};

/// The most places of a class that are printed.
const MOST_PLACES: usize = 3;

/// Returns a line for each class of dims: its name, how it was named, its sizes and where it occurs; at the end, how many names say
/// something.
pub fn table(model: &Model) -> String {
    let head = ["name", "from", "size", "places"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head)
        .chain(model.dims().iter().map(row))
        .collect();
    let width = |at: usize| {
        rows.iter()
            .map(|row| row[at].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [name, source, size, places] in &rows {
        let [a, b, c] = widths;
        text += &format!("  {name:a$}  {source:b$}  {size:c$}  {places}\n");
    }
    let all = model.dims().len();
    let good = model.dims().iter().filter(|class| class.meaningful).count();
    text + &format!("{all} names, {good} of them from you, a symbol, a parameter or a role\n")
}

fn row(class: &DimClass) -> [String; 4] {
    let sizes: Vec<String> = class.sizes.iter().map(usize::to_string).collect();
    let size = if sizes.is_empty() {
        "any".to_owned()
    } else {
        sizes.join(", ")
    };
    let shown = class.places.len().min(MOST_PLACES);
    let mut places = class.places[..shown].join(", ");
    if class.occurrences > shown {
        places += &format!(" and {} more", class.occurrences - shown);
    }
    [class.name.clone(), class.source.clone(), size, places]
}
