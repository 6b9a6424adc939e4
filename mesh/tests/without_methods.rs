//! The list of operators without a method on `Sharded`, in docs/mesh.md.

use nomina_core::op::{self, Class, Forms, Row, Spread, Status};

/// The sources of the methods of `Sharded`; `Nd` in them means `1d`, `2d` and `3d`.
const SOURCES: [&str; 13] = [
    include_str!("../src/sharded/along.rs"),
    include_str!("../src/sharded/entropy.rs"),
    include_str!("../src/sharded/gather.rs"),
    include_str!("../src/sharded/generated.rs"),
    include_str!("../src/sharded/grad.rs"),
    include_str!("../src/sharded/layers.rs"),
    include_str!("../src/sharded/mod.rs"),
    include_str!("../src/sharded/order.rs"),
    include_str!("../src/sharded/pairs.rs"),
    include_str!("../src/sharded/product.rs"),
    include_str!("../src/sharded/reduce.rs"),
    include_str!("../src/sharded/view.rs"),
    include_str!("../src/sharded/window.rs"),
];

/// Returns why an operator has no method, and how to compute it.
fn reason(row: &Row) -> &'static str {
    match (row.spread, row.class) {
        (Spread::Refused, _) => "sparse tensors, and addresses: no form on a mesh",
        (Spread::Local, _) => "the answer is that of the piece: `x.local()`",
        (Spread::Whole, Class::Fft) => {
            "a transform needs its dims whole, and batches may be split: on the piece"
        }
        (Spread::Whole, Class::Analysis) => {
            "groups, windows and coordinates are of a whole dim: on the piece, if it is not split"
        }
        (Spread::Whole, _) => {
            "the result has positions or sizes that depend on all elements: gather first"
        }
        (Spread::Linear | Spread::Elementwise | Spread::Pointwise, _) => {
            "element by element: on the piece"
        }
        (Spread::Along | Spread::LinearAlong | Spread::Part | Spread::Rearrange, _) => {
            "along dims that are not split: on the piece"
        }
        (Spread::Contract, _) => "products by position: write `contract` or `matmul`",
        (Spread::Lookup | Spread::Scatter, _) => {
            "indices of a dim that is not split: on the piece, whose result may be pending"
        }
        (Spread::Window, _) => "windows that are not split: on the piece",
        (Spread::Create, _) => "random numbers: `mesh.rand` and `mesh.randn`",
        other => panic!("{}: no reason for {other:?}", row.name),
    }
}

/// Docs and table agree: what has no method is listed with its reason, and nothing else is.
#[test]
fn the_guide_lists_operators_without_a_method() {
    let source = SOURCES.concat();
    let has = |name: &str| {
        let name = match name {
            "where" => "where_cond".to_owned(),
            name => ["1d", "2d", "3d"]
                .iter()
                .fold(name.to_owned(), |name, d| name.replace(d, "Nd")),
        };
        let ends = ["<", "(", "_with<", "_with("].iter();
        let mut spelled =
            ends.flat_map(|end| [format!("fn try_{name}{end}"), format!("fn {name}{end}")]);
        // The macro of moments declares its methods in a list.
        spelled.any(|text| source.contains(&text))
            || source.contains(&format!("try_{name} \"{name}\""))
    };
    assert!(has("corr") && has("conv2d") && has("sum") && has("where") && !has("quantile"));
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for row in
        op::rows().filter(|row| row.forms.contains(Forms::METHOD) && row.status != Status::Part)
    {
        if has(row.name) {
            continue;
        }
        let (reason, name) = (reason(row), format!("`{}`", row.name));
        match reasons.iter_mut().find(|(own, _)| *own == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    let lines = reasons
        .iter()
        .map(|(reason, names)| format!("| {reason} | {} |\n", names.join(", ")));
    let text = format!(
        "| why, and what to write | operators |\n|---|---|\n{}",
        lines.collect::<String>()
    );
    let guide = include_str!("../../docs/mesh.md");
    assert!(guide.contains(&text), "docs/mesh.md does not have\n{text}");
}
