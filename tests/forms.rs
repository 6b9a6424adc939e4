//! Every form that a row of the table promises exists: on `Tensor` with its `try_` twin, and on
//! `DynTensor`. The test reads the sources, so that no promised form can be forgotten.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use nomina_core::op::{self, Class, Forms, Row, Status};

/// Returns the method's name, if PyTorch's name is a Rust keyword or means something else in Rust.
fn spelled(name: &str) -> &str {
    match name {
        "where" => "where_cond",
        "conj_physical" => "conj",
        "type" => "type_name",
        other => other,
    }
}

/// Typed methods that cannot fail: only the reference count of the buffer changes.
const INFALLIBLE: &[&str] = &["clone", "detach"];

/// Forms whose typed spelling differs, with that spelling.
const OTHERWISE: &[(&str, &str)] = &[
    ("split_with_sizes", "`split` with a list"),
    ("hsplit", "`tensor_split` by name"),
    ("vsplit", "`tensor_split` by name"),
    ("dsplit", "`tensor_split` by name"),
    ("hstack", "`cat` by name"),
    ("hstack_out", "`cat_out` by name"),
    ("vstack", "`cat` by name, `stack` for vectors"),
    ("vstack_out", "`cat_out` by name"),
    ("dstack", "`cat` by name, `stack` for matrices"),
    ("dstack_out", "`cat_out` by name"),
    ("column_stack", "`cat` by name, `stack` for vectors"),
    ("column_stack_out", "`cat_out` by name"),
    ("movedim", "`align_to`: an order of names"),
    ("fliplr", "`flip` by name"),
    ("flipud", "`flip` by name"),
    ("reshape", "sizes without names: `flatten`, `unflatten`"),
    ("reshape_as", "sizes without names: `flatten`, `unflatten`"),
    ("view", "sizes without names: `flatten`, `unflatten`"),
    ("view_as", "sizes without names: `flatten`, `unflatten`"),
    ("as_strided", "strides without names: on `DynTensor`"),
    ("atleast_1d", "`unsqueeze`, which names the dim"),
    ("atleast_2d", "`unsqueeze`, which names the dim"),
    ("atleast_3d", "`unsqueeze`, which names the dim"),
    ("narrow_copy", "`narrow`, then `contiguous`"),
    ("narrow_copy_out", "`narrow`, then `copy_`"),
    ("constant_pad_nd", "`pad` by name"),
    ("im2col", "`unfold` along each dim"),
    ("fold", "on `DynTensor`"),
    ("bilinear", "`einsum!`, which plans it"),
    ("multi_dot", "`einsum!`, which plans it"),
    ("multi_dot_out", "`einsum!`, which plans it"),
    ("sparse_coo_tensor", "`Sparse`'s own constructors"),
    ("manual_seed", "a free function"),
    ("seed", "a free function"),
    ("initial_seed", "a free function"),
    ("tensor", "the macro `tensor!`"),
    ("rename_", "a type does not change in place: `rename`"),
];

/// Forms whose spelling on `DynTensor` differs, with that spelling.
const OTHERWISE_DYNAMIC: &[(&str, &str)] = &[
    ("split_with_sizes", "`split` with a list"),
    ("constant_pad_nd", "`pad`"),
    ("sparse_coo_tensor", "`DynSparse`'s own constructors"),
    ("tensor", "`from_vec`"),
    ("clone", "the trait `Clone`"),
    ("manual_seed", "a free function"),
    ("seed", "a free function"),
    ("initial_seed", "a free function"),
];

fn functions(folders: &[&str]) -> BTreeSet<String> {
    fn walk(folder: &Path, found: &mut BTreeSet<String>) {
        for entry in fs::read_dir(folder).expect("a folder of sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                let text = fs::read_to_string(&path).expect("a source");
                let names = text.split("fn ").skip(1).map(|rest| {
                    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
                    rest[..end.unwrap_or(0)].to_owned()
                });
                found.extend(names);
                found.extend(twins(&text));
                found.extend(handed_on(&text));
                // The names of methods that a macro generates appear in its call.
                for call in text.split("! {\n").skip(1) {
                    let end = call.find("\n}").unwrap_or(0);
                    let words = call[..end].split(|c: char| !c.is_alphanumeric() && c != '_');
                    found.extend(words.flat_map(|word| {
                        let twin = word.strip_prefix("try_");
                        std::iter::once(word).chain(twin).map(str::to_owned)
                    }));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in folders {
        walk(&root.join(folder), &mut found);
    }
    found
}

/// Returns the methods that `#[twin]` generates from the written ones.
fn twins(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for method in text.split("#[twin").skip(1) {
        let (attribute, rest) = method.split_once("]\n").expect("a method");
        // Within a macro the name is a variable; the names are read from the macro's calls.
        let Some((_, rest)) = rest.split_once("fn try_") else {
            continue;
        };
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let name = &rest[..end.unwrap_or(0)];
        found.push(name.to_owned());
        for (word, part) in [("with = ", "_with"), ("(from", "_from")] {
            if attribute.contains(word) {
                let name = name.replace(part, "");
                found.extend([format!("try_{name}"), name]);
            }
        }
    }
    found
}

/// Returns the methods that `#[forms]` generates from the written ones.
fn handed_on(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for method in text.split("#[forms").skip(1) {
        let (attribute, rest) = method.split_once("]\n").expect("a method");
        // An attribute may take several lines.
        let attribute: String = attribute.split_whitespace().collect();
        let (_, rest) = rest.split_once("fn ").expect("a method");
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        let mut name = rest[..end.unwrap_or(0)].to_owned();
        for (word, part) in [("with=", "_with"), ("(from", "_from")] {
            if attribute.contains(word) {
                name = name.replace(part, "");
                found.push(name.clone());
            }
        }
        if attribute.contains("out)") || attribute.contains("out(") {
            found.push(format!("{name}_out"));
        }
    }
    found
}

/// Returns the methods that a row's forms promise.
fn asked(row: &Row) -> Vec<String> {
    // `normal_` has a row in addition to that of `normal`.
    let name = spelled(row.name).trim_end_matches('_');
    let mut names = Vec::new();
    if row.forms.contains(Forms::METHOD) || row.forms.contains(Forms::FUNCTION) {
        names.push(name.to_owned());
    }
    if row.forms.contains(Forms::IN_PLACE) {
        names.push(format!("{name}_"));
    }
    if row.forms.contains(Forms::OUT) {
        names.push(format!("{name}_out"));
    }
    names
}

fn built() -> impl Iterator<Item = &'static Row> {
    op::rows().filter(|row| row.status == Status::Built)
}

fn is_otherwise(list: &[(&str, &str)], name: &str) -> bool {
    let form = name.strip_prefix("try_").unwrap_or(name);
    list.iter().any(|(other, _)| *other == form)
}

#[test]
fn every_form_is_there_in_types() {
    let there = functions(&["src"]);
    let mut missing = Vec::new();
    for row in built() {
        let fails = row.class != Class::Query && !INFALLIBLE.contains(&row.name);
        let asked = asked(row).into_iter();
        missing.extend(asked.flat_map(|name| {
            let twin = fails.then(|| format!("try_{name}"));
            std::iter::once(name).chain(twin)
        }));
    }
    missing.retain(|name| !there.contains(name) && !is_otherwise(OTHERWISE, name));
    assert!(missing.is_empty(), "{} missing: {missing:?}", missing.len());
}

#[test]
fn every_form_is_there_at_run_time() {
    let there = functions(&["runtime/src/tensor"]);
    let missing: Vec<String> = built()
        .flat_map(asked)
        .filter(|name| !there.contains(name) && !is_otherwise(OTHERWISE_DYNAMIC, name))
        .collect();
    assert!(missing.is_empty(), "{} missing: {missing:?}", missing.len());
}

#[test]
fn exceptions_are_forms_of_rows() {
    let asked: BTreeSet<String> = built().flat_map(asked).collect();
    let lists = OTHERWISE.iter().chain(OTHERWISE_DYNAMIC);
    for name in lists
        .map(|(name, _)| *name)
        .chain(INFALLIBLE.iter().copied())
    {
        let form = name.strip_prefix("try_").unwrap_or(name);
        assert!(asked.contains(form), "no row has the form {form}");
    }
}
