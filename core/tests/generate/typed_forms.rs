//! The signatures of the typed methods, read from their sources.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_core::op::{Forms, Row};

use super::signature::functions;

/// Typed forms under other names: an operator on dims by position has one on dims by name; other methods are of
/// [`Sparse`], or written by a macro. Each occurs in `docs/torch_users.md`, whose snippets are compiled.
///
/// [`Sparse`]: https://docs.rs/nomina/latest/nomina/struct.Sparse.html
pub const OTHER_NAMES: &[(&str, &str)] = &[
    ("split_with_sizes", "x.split(H, [1, 3])"),
    ("hsplit", "x.tensor_split(C, 3)"),
    ("vsplit", "x.tensor_split(N, 2)"),
    ("dsplit", "x.tensor_split(H, 2)"),
    ("movedim", "x.align_to((W, ..))"),
    ("reshape", "x.flatten((H, W), K)"),
    ("reshape_as", "x.flatten((H, W), K)"),
    ("view", "y.unflatten(K, (H.of(4), W.of(5)))"),
    ("view_as", "y.unflatten(K, (H.of(4), W.of(5)))"),
    ("atleast_1d", "a.unsqueeze(K)"),
    ("atleast_2d", "a.unsqueeze(K)"),
    ("atleast_3d", "a.unsqueeze(K)"),
    ("zeros_like", "x.zeros_like()"),
    ("ones_like", "x.ones_like()"),
    ("empty_like", "x.empty_like()"),
    ("full_like", "x.full_like(0.5)"),
    ("rand_like", "x.rand_like()"),
    ("randn_like", "x.randn_like()"),
    ("fliplr", "x.flip(C)"),
    ("flipud", "x.flip(N)"),
    ("narrow_copy", "x.narrow(H, 1..3)"),
    ("hstack", "cat(&[&x, &x], C)"),
    ("vstack", "cat(&[&x, &x], N)"),
    ("dstack", "cat(&[&x, &x], H)"),
    ("column_stack", "stack(&[&a, &a], K)"),
    ("conj_physical", "z.conj()"),
    ("manual_seed", "manual_seed(0)"),
    ("seed", "nomina::seed()"),
    ("initial_seed", "nomina::initial_seed()"),
    ("type", "x.type_name()"),
    (
        "sparse_coo_tensor",
        "Sparse::<(N, C)>::from_coo(&at, &values, [2, 3])",
    ),
    ("coalesce", "s.coalesce()"),
    ("indices", "s.indices()"),
    ("values", "s.values()"),
    ("to_dense", "s.to_dense()"),
    (
        "multi_dot",
        "einsum!(p[N, C] * w[C, K] * v[K, M] -> [N, M])",
    ),
    (
        "bilinear",
        "einsum!(p[N, C] * t[K, C, M] * q[N, M] -> [N, K])",
    ),
    ("constant_pad_nd", "x.pad(W, [(1, 2)])"),
    ("im2col", "x.unfold(H, 3, 1, KH)"),
];

/// The parameters of every function of the typed tensor, by its name.
pub struct TypedForms(BTreeMap<String, Signature>);

struct Signature {
    /// Whether it is called on a tensor.
    method: bool,
    params: Vec<String>,
}

impl TypedForms {
    /// Reads the sources; `generated` is the new text of the file of that name, which is about to change.
    pub fn read(generated: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("core lies in the workspace");
        let mut found = Self(BTreeMap::new());
        found.add(generated);
        found.walk(&root.join("src/tensor"));
        found
    }

    fn walk(&mut self, folder: &Path) {
        let mut entries: Vec<_> = std::fs::read_dir(folder)
            .expect("the sources of the typed tensor")
            .flatten()
            .map(|entry| entry.path())
            .collect();
        entries.sort();
        for path in entries {
            let others = ["fused", "refused.rs", "feature_off.rs"];
            if others.iter().any(|name| path.ends_with(name)) {
                // Not methods of a tensor.
            } else if path.is_dir() {
                self.walk(&path);
            } else if !path.ends_with("generated.rs") && !path.ends_with("options.rs") {
                self.add(&std::fs::read_to_string(&path).expect("a source"));
            }
        }
    }

    fn add(&mut self, text: &str) {
        for function in functions(text) {
            let mut params: Vec<String> = Vec::new();
            let mut method = false;
            for param in function.params {
                match param.split_once(':') {
                    Some((name, _)) => params.push(name.trim_start_matches("mut ").trim().into()),
                    None => method |= param.ends_with("self"),
                }
            }
            let signature = Signature { method, params };
            self.0.entry(function.name).or_insert(signature);
        }
    }

    /// The typed form of a row, as code, and marks for the other forms.
    pub fn form(&self, row: &Row) -> String {
        let name = match row.name {
            name if OTHER_NAMES.iter().any(|other| other.0 == name) => return other_form(row),
            "where" => "where_cond",
            "tensor" => return "`tensor!([[1., 2.]]; N, C)`".to_owned(),
            "clone" => return "`x.clone()`".to_owned(),
            name => name,
        };
        let plain = self.0.get(name);
        let in_place = format!("{name}_");
        let only_in_place = row.forms.contains(Forms::IN_PLACE_ONLY);
        let (name, signature) = match (plain, self.0.get(&in_place)) {
            (Some(signature), _) if !only_in_place => (name, signature),
            (_, Some(signature)) => (&in_place[..], signature),
            (Some(signature), None) => (name, signature),
            (None, None) => return other_form(row),
        };
        let list = signature.params.join(", ");
        let call = if signature.method {
            format!("`x.{name}({list})`")
        } else if self.is_free(name) {
            format!("`{name}({list})`")
        } else {
            format!("`Tensor::{name}({list})`")
        };
        let others = [
            (!only_in_place && row.forms.contains(Forms::IN_PLACE), "`_`"),
            (row.forms.contains(Forms::OUT), "`o`"),
            (self.0.contains_key(&format!("{name}_with")), "with"),
        ];
        let others: Vec<&str> = others
            .into_iter()
            .filter_map(|(there, what)| there.then_some(what))
            .collect();
        if others.is_empty() {
            call
        } else {
            format!("{call} {}", others.join(" "))
        }
    }

    /// Whether tensors have a method of this name with this number of parameters.
    pub fn has(&self, method: &str, parameters: usize) -> bool {
        let found = self.0.get(method);
        found.is_some_and(|found| found.method && found.params.len() == parameters)
    }

    /// Whether it is a free function: one that joins tensors takes a list of them.
    fn is_free(&self, name: &str) -> bool {
        self.0
            .get(name)
            .and_then(|signature| signature.params.first())
            .is_some_and(|first| first == "tensors")
    }
}

/// The typed form under another name, as code, with marks like those of [`TypedForms::form`].
fn other_form(row: &Row) -> String {
    let found = OTHER_NAMES.iter().find(|(name, _)| *name == row.name);
    found.map_or("–".to_owned(), |(_, code)| format!("`{code}`"))
}
