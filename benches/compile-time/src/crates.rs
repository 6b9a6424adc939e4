//! Three crates with 200 dims in total: one reads data, one has layers, and a program passes the
//! tensors of the first to the second. Each declares its own dims, and they match by spelling.

use crate::draw::MARKERS;
use crate::program::{Form, strings, tuple};
use crate::scratch::{Package, Texts};

/// The packages, in the order of [`texts`].
pub const PACKAGES: &[Package] = &[
    Package {
        name: "readers",
        dependencies: &[],
    },
    Package {
        name: "layers",
        dependencies: &[],
    },
    Package {
        name: "trainer",
        dependencies: &["readers", "layers"],
    },
];

/// The number of dims that all three declare, and of those that only the reader or only the layers
/// declare.
const SHARED: usize = 40;

/// Returns the spelling of dim `i`.
fn name(i: usize) -> String {
    format!("{}{}", MARKERS[i % MARKERS.len()], i / MARKERS.len())
}

/// The dims of step `i`: three shared ones, one of the reader's and one of the layers'.
struct Step {
    shared: [String; 3],
    read: String,
    made: String,
}

impl Step {
    fn new(i: usize) -> Self {
        Self {
            shared: [0, 1, 2].map(|k| name((i + k) % SHARED)),
            read: name(SHARED + i % SHARED),
            made: name(2 * SHARED + i % SHARED),
        }
    }
}

/// Writes `names` as dims of crate `of`.
fn dims(of: &str, names: &[&str]) -> String {
    let paths: Vec<String> = names.iter().map(|name| format!("{of}{name}")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    tuple(&paths)
}

fn declared(form: Form, names: impl Iterator<Item = usize>) -> String {
    let names: Vec<String> = names.map(|i| format!("pub {}", name(i))).collect();
    match form {
        Form::Typed | Form::Labelled | Form::Sharded => {
            format!("dims! {{ {} }}\n", names.join(", "))
        }
        Form::Dynamic => String::new(),
    }
}

/// Writes the three programs, with `steps` functions each.
pub fn texts(form: Form, steps: usize) -> Texts {
    let head = "//! Written by the compile-time bench.\n#![allow(missing_docs)]\nuse nomina::prelude::*;\n";
    let shared = 0..SHARED;
    let mut readers = head.to_owned() + &declared(form, 0..2 * SHARED);
    let layers_own = 2 * SHARED..3 * SHARED;
    let mut layers = head.to_owned() + &declared(form, shared.clone().chain(layers_own));
    let mut trainer = head.to_owned() + &declared(form, shared);
    let mut calls = String::new();
    for i in 0..steps {
        let step = Step::new(i);
        let (read, layer, train) = match form {
            Form::Typed | Form::Labelled | Form::Sharded => step.typed(i),
            Form::Dynamic => step.dynamic(i),
        };
        readers.push_str(&read);
        layers.push_str(&layer);
        trainer.push_str(&train);
        let pass = if form != Form::Dynamic { "" } else { "?" };
        calls.push_str(&format!("    let _ = train{i}(){pass};\n"));
    }
    trainer.push_str(&match form {
        Form::Typed | Form::Labelled | Form::Sharded => format!("fn main() {{\n{calls}}}\n"),
        Form::Dynamic => format!("fn main() -> Result<()> {{\n{calls}    Ok(())\n}}\n"),
    });
    vec![readers, layers, trainer]
}

impl Step {
    fn typed(&self, i: usize) -> (String, String, String) {
        let [a, b, c] = self.shared.each_ref().map(String::as_str);
        let (read, made) = (self.read.as_str(), self.made.as_str());
        let reader = format!(
            "pub fn read{i}() -> Tensor<{}> {{\n    \
             let x: Tensor<{}> = Tensor::ones([2, 3, 4, 5]);\n    x.sum({read})\n}}\n",
            tuple(&[a, b, c]),
            tuple(&[a, read, b, c]),
        );
        let layer = format!(
            "pub fn layer{i}(x: &Tensor<{}>) -> Tensor<{}> {{\n    \
             let w: Tensor<{}> = Tensor::ones([5, 6]);\n    x.contract(&w, {c})\n}}\n",
            tuple(&[a, b, c]),
            tuple(&[a, b, made]),
            tuple(&[c, made]),
        );
        let trainer = format!(
            "pub fn train{i}() -> Tensor<{}> {{\n    \
             let bias: Tensor<{}> = Tensor::ones([5]);\n    \
             let x = readers::read{i}() + bias;\n    \
             let y = layers::layer{i}(&x.align_to({}));\n    \
             y.sum({b})\n}}\n",
            dims("layers::", &[a, made]),
            tuple(&[c]),
            dims("layers::", &[a, b, c]),
        );
        (reader, layer, trainer)
    }

    fn dynamic(&self, i: usize) -> (String, String, String) {
        let [a, b, c] = self.shared.each_ref().map(String::as_str);
        let (read, made) = (self.read.as_str(), self.made.as_str());
        let reader = format!(
            "pub fn read{i}() -> Result<DynTensor> {{\n    \
             let x = DynTensor::ones(&[2, 3, 4, 5], {})?;\n    x.sum(\"{read}\")\n}}\n",
            strings(&[a, read, b, c]),
        );
        let layer = format!(
            "pub fn layer{i}(x: &DynTensor) -> Result<DynTensor> {{\n    \
             let w = DynTensor::ones(&[5, 6], {})?;\n    x.contract(&w, \"{c}\")\n}}\n",
            strings(&[c, made]),
        );
        let trainer = format!(
            "pub fn train{i}() -> Result<DynTensor> {{\n    \
             let bias = DynTensor::ones(&[5], {})?;\n    \
             let x = readers::read{i}()?.add(&bias)?;\n    \
             let y = layers::layer{i}(&x.align_to({})?)?;\n    \
             y.sum(\"{b}\")\n}}\n",
            strings(&[c]),
            strings(&[a, b, c]),
        );
        (reader, layer, trainer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_crates_declare_two_hundred_dims() {
        let texts = texts(Form::Typed, 1);
        let declared: Vec<usize> = texts
            .iter()
            .map(|text| text.lines().find(|line| line.starts_with("dims!")).unwrap())
            .map(|line| line.matches("pub ").count())
            .collect();
        assert_eq!(declared, [80, 80, 40]);
    }

    #[test]
    fn spellings_are_distinct() {
        let mut names: Vec<String> = (0..3 * SHARED).map(name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), 3 * SHARED);
    }
}
