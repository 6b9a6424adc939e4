//! Writes `docs/errors.md` from the mistakes, and fails if it was stale.
//!
//! Run it after a change to a mistake or to a text: it rewrites the file and passes the second
//! time.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use nomina_ui_tests::catalogue::{self, Mistake};

/// Folder, title, introduction: in the order of the page.
const RULES: [(&str, &str, &str); 33] = [
    (
        "broadcast",
        "Operators",
        "Two tensors can be combined if their names match, counted from the right; dims that only \
         the longer one has are unrestricted. `y.align_as(&x)` brings a tensor into the order of \
         another, with size 1 for dims that it lacks.",
    ),
    (
        "remove",
        "Reductions and other arguments that are dims",
        "A dim argument is the marker of a dim that the tensor has. `..` means all dims; a tuple \
         names several.",
    ),
    (
        "align",
        "Order of dims",
        "`align_to` needs a position for every dim of the tensor; `..` covers those that are not \
         named.",
    ),
    (
        "rename",
        "Names: rename, refine, prime, unsqueeze",
        "A tensor has no name twice. `rename` changes names, `refine_names` names dims that have \
         none, `prime` creates a second dim of the same kind.",
    ),
    (
        "flatten",
        "Flatten and unflatten",
        "Flattened dims are adjacent, in the given order; unflattened ones are given with their \
         sizes.",
    ),
    (
        "product",
        "Products",
        "`matmul` contracts by position, as in PyTorch: the last two dims are the matrix, the \
         others batch dims whose names match. `contract` contracts by name: both sides have the \
         dim. If the result of `matmul` has other dims than its annotation, the second operand is \
         transposed: rustc shows the dim that stands last in it.",
    ),
    (
        "loops",
        "Loops along a dim",
        "`scan`, `associative_scan` and `map_over` take slices along a dim that the operands have; \
         the results get it, so they must lack it. `#[derive(Batch)]` makes results of structs.",
    ),
    (
        "linalg",
        "Linear algebra and Fourier transforms",
        "Rows and columns are two dims of the tensor, `(Row, Col)`; the dim between two factors \
         is new. A right-hand side has the dim of the rows.",
    ),
    (
        "einsum",
        "einsum!",
        "Every operand is followed by all its dims in brackets, or by some of them and `..`.",
    ),
    (
        "fuse",
        "fuse!",
        "Names and dtypes are checked as for the separate operators, with the same messages. A \
         chain consists of elementwise operations and may end with a reduction.",
    ),
    (
        "view",
        "Parts of a tensor along one dim",
        "`select`, `narrow` and similar methods take the dim first.",
    ),
    (
        "index",
        "Indices",
        "`x.at(..)` takes a tuple of dims, each with a number, a range, or a tensor of indices, \
         whose dims replace the indexed dim.",
    ),
    (
        "join",
        "Cat and stack",
        "`cat` joins along a dim that all tensors have, `stack` along one that none has.",
    ),
    (
        "factory",
        "Making tensors",
        "Dims are a tuple, also for one dim: `Tensor<(N,)>`. Sizes are given as one number per \
         dim, or with the dims: `(N.of(2), C.of(3))`.",
    ),
    (
        "shape",
        "Shape",
        "Operators that repeat or expand a tensor keep its dims.",
    ),
    (
        "window",
        "Windows: convolution, pooling, padding",
        "The dims that a window slides along are named. A weight has output channels, the \
         channel, and the dims of the kernel, in this order.",
    ),
    (
        "labels",
        "Labels along dims",
        "`dims! { Lat: f64 }` declares the type of a dim's labels. `sel` takes labels of this type, a \
         range or a list of them; `isel` takes positions.",
    ),
    (
        "dataset",
        "Datasets",
        "A struct with `#[derive(Dataset)]` has a field for each variable of a file. Selections keep the types of its \
         fields, so they keep the dim.",
    ),
    (
        "search",
        "Sorted sequences",
        "There is one sequence for all values, or one for each row of values.",
    ),
    (
        "dtype",
        "Dtypes",
        "Dtypes promote in the type: f32 and f64 give f64. In-place operators do not change the \
         dtype.",
    ),
    (
        "loss",
        "Losses",
        "Targets have the dims of the input; class indices lack the dim of the classes.",
    ),
    (
        "random",
        "Random numbers",
        "Fills take their parameters as numbers or as tensors that broadcast.",
    ),
    (
        "sparse",
        "Sparse tensors",
        "Sparse tensors follow the same rules and do not broadcast.",
    ),
    (
        "wild",
        "Unknown names",
        "A `Wild` dim has a name that is unknown to rustc. No argument by name refers to it: name \
         the dims first.",
    ),
    (
        "call",
        "Functions with dims in their signature",
        "`Tensor<(N, C)>` and `Tensor<(C, N)>` are different types, and rustc reports them as \
         such.",
    ),
    (
        "crates",
        "Dims of several crates",
        "Operators treat dims of equal spelling as one dim. For a function that takes `Tensor<(N, \
         C)>` of its own crate, pass `x.to_dims()`, which compares the spellings.",
    ),
    (
        "generic",
        "Generic functions",
        "The requirements of a call are bounds in the function's signature; a call that does not \
         meet them is an error at the call. `#[relations]` writes bounds from the dims that a \
         signature names: see [generic_code.md](generic_code.md).",
    ),
    (
        "editor",
        "Types of results",
        "rustc and editors show the type of a result with its dims, however long the chain that \
         computed it. After a mistake, later lines keep their types.",
    ),
    (
        "grad",
        "Gradients",
        "Backward starts from one number. A gradient has the dims of its tensor, a seed those of \
         the result, and a Jacobian the dims of the result, then those of the input, primed.",
    ),
    (
        "nn",
        "Networks",
        "A layer accepts tensors that have its dims, in any position, and the call reports a \
         missing one. A field without parameters needs a mark.",
    ),
    (
        "imported",
        "Imported models",
        "`cargo nomina import` writes an ONNX model as Rust: each parameter, input, result and output \
         has its dims in its type (see [models.md](models.md#import-a-model-as-rust)). The programs \
         are excerpts of such models, edited or called with a mistake.",
    ),
    (
        "mesh",
        "Meshes",
        "Along each axis of a mesh a tensor is whole, synced, split, pending or private to each \
         rank. An operator works on the pieces if this gives the pieces of its result; otherwise \
         the message names the axis and the conversion.",
    ),
    (
        "dynamic",
        "DynTensor",
        "A `DynTensor` checks names at run time; its arguments are strings, its methods return \
         `Result`.",
    ),
];

/// The macros.
const MACROS: [(&str, &str, &str); 4] = [
    (
        "dims",
        "dims!",
        "A list of names, each with a size or a spelling if it needs one.",
    ),
    (
        "names",
        "names!",
        "Names in quotes, `_` for a dim without one.",
    ),
    (
        "tensor",
        "tensor!",
        "Values, a semicolon, the dims; optionally another semicolon and the dtype.",
    ),
    (
        "relations",
        "#[relations]",
        "Items between commas: `let Q = ..` names dims, `D: Has<C>` is a bound.",
    ),
];

fn rules() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    RULES.iter().chain(&MACROS)
}

/// Converts a name like `later_lines_keep_their_types` to a title.
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}

/// Returns whether a line only declares plain dims.
fn plain_dims(line: &str) -> bool {
    line.starts_with("dims! {") && !line.contains('=') && !line.contains('"')
}

/// Returns the relevant lines of a program: without imports and plain declarations, and with a
/// `main` replaced by its body.
fn essence(mistake: &Mistake) -> Vec<String> {
    let mut lines: Vec<String> = mistake
        .program
        .iter()
        .filter(|line| !line.starts_with("use nomina::") && !line.starts_with("//!"))
        .filter(|line| mistake.rule == "dims" || !plain_dims(line))
        .filter(|line| *line != "fn main() {}")
        .cloned()
        .collect();
    if let Some(main) = lines.iter().position(|line| line == "fn main() {") {
        let end = lines.iter().skip(main).position(|line| line == "}");
        if let Some(end) = end {
            let body: Vec<String> = lines[main + 1..main + end]
                .iter()
                .map(|line| line.strip_prefix("    ").unwrap_or(line).to_owned())
                .collect();
            lines.splice(main..=main + end, body);
        }
    }
    tidy(lines)
}

/// Removes empty lines at the ends, and repeated ones.
fn tidy(lines: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for line in lines {
        if !(line.is_empty() && out.last().is_none_or(String::is_empty)) {
            out.push(line);
        }
    }
    while out.last().is_some_and(String::is_empty) {
        out.pop();
    }
    out
}

/// Removes the lines that rustc adds for the authors of traits: the chain of obligations, and the
/// declaration of the called item.
fn remark(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut keep = true;
    for line in text.lines() {
        if line.starts_with("note: ") || line.starts_with("help: the trait") {
            keep = false;
        } else if line.starts_with("help: ") || line.starts_with("error") {
            keep = true;
        }
        let line_of_traits = ["= note: required for `", "= help: the trait `"]
            .iter()
            .any(|start| line.trim_start().starts_with(start));
        if keep && !line_of_traits {
            out.push(line.to_owned());
        }
    }
    while out.last().is_some_and(|line| line.trim() == "|") {
        out.pop();
    }
    out
}

/// Returns the lines of the fix; declarations of dims only if nothing else changes.
fn fix(mistake: &Mistake) -> Vec<String> {
    let all: Vec<&String> = mistake.fixes.values().flatten().collect();
    let telling: Vec<&String> = all
        .iter()
        .copied()
        .filter(|line| !line.is_empty() && !plain_dims(line))
        .collect();
    let lines = if telling.is_empty() { all } else { telling };
    lines.into_iter().cloned().collect()
}

fn fenced(out: &mut String, language: &str, lines: &[String]) {
    let _ = writeln!(out, "```{language}\n{}\n```\n", lines.join("\n"));
}

fn page(mistakes: &[Mistake]) -> String {
    let mut out = String::from(
        "<!-- @generated by ui-tests/tests/generate_errors.rs from the programs and texts \
         beside it. -->\n\n# Compiler errors\n\nEach section has a program with a mistake, the \
         message of rustc, and the corrected line. Every message and every fix is a test; the \
         fixes compile and run. Notes in which rustc explains its obligations (`required for \
         …`, `required by a bound in …`) are omitted. All programs begin with `use \
         nomina::prelude::*;` and declare their dims with `dims!`.\n\n",
    );
    for (rule, title, _) in rules() {
        let count = mistakes.iter().filter(|m| m.rule == *rule).count();
        let anchor: String = title
            .to_lowercase()
            .chars()
            .filter(|c| c.is_alphanumeric() || *c == ' ')
            .map(|c| if c == ' ' { '-' } else { c })
            .collect();
        let _ = writeln!(out, "- [{title}](#{anchor}): {count}");
    }
    for (rule, title_of_rule, introduction) in rules() {
        let _ = writeln!(out, "\n## {title_of_rule}\n\n{introduction}\n");
        for mistake in mistakes.iter().filter(|m| m.rule == *rule) {
            let _ = writeln!(out, "### {}\n", title(&mistake.name));
            fenced(&mut out, "rust", &essence(mistake));
            fenced(&mut out, "text", &remark(&mistake.text));
            out.push_str("Instead:\n\n");
            fenced(&mut out, "rust", &fix(mistake));
        }
    }
    format!("{}\n", out.trim_end())
}

fn mistakes() -> Vec<Mistake> {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = catalogue::read(own).expect("the catalogue of mistakes");
    read.into_iter().map(|(_, mistake)| mistake).collect()
}

#[test]
fn every_mistake_has_a_rule_a_text_and_a_fix() {
    let mut complaints = Vec::new();
    for mistake in mistakes() {
        let path = mistake.path();
        if !rules().any(|(rule, ..)| *rule == mistake.rule) {
            complaints.push(format!("{path}: its folder has no introduction"));
        }
        if mistake.text.is_empty() {
            complaints.push(format!("{path}: no text beside it"));
        } else if let Some(problem) = &mistake.problem {
            complaints.push(format!("{path}: {problem}"));
        } else if mistake.fixes.is_empty() {
            complaints.push(format!("{path}: it ends without `// fix: code`"));
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn the_page_of_errors_is_up_to_date() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    let file = own.join("../docs/errors.md");
    let text = page(&mistakes());
    let old = fs::read_to_string(&file).unwrap_or_default();
    if old.replace("\r\n", "\n") != text {
        fs::write(&file, text).expect("the page is writable");
        panic!("docs/errors.md was stale and is rewritten, commit it");
    }
}
