//! The signatures of the typed methods, read from their sources.

use std::collections::BTreeMap;
use std::path::Path;

use nomina_core::op::{Forms, Row};

use super::signature::functions;

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
            if path.ends_with("fused") || path.ends_with("refused.rs") {
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
            (None, None) => return "–".to_owned(),
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
