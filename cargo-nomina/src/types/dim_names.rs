//! Names for dims that have none in the file.

use nomina_io::TensorDescription;

use super::tree::{Branch, Segment, camel};

/// The dims of the weight of a linear layer or a convolution: outputs, inputs, and the kernel's.
const KERNEL: [(usize, &[&str]); 4] = [
    (2, &["Out", "In"]),
    (3, &["Out", "In", "KernelWidth"]),
    (4, &["Out", "In", "KernelHeight", "KernelWidth"]),
    (
        5,
        &["Out", "In", "KernelDepth", "KernelHeight", "KernelWidth"],
    ),
];

/// Returns the names of a tensor's dims: those of the file, or names made of the path of its module and the dim's role.
///
/// The roles follow PyTorch's layers: a `weight` of two or more dims has outputs and inputs, and a `bias` beside it its
/// outputs. Tensors beside a `weight` of one dim, such as those of a norm, have its dim. Other dims are numbered.
pub fn names(
    module: &[String],
    branch: &Branch<'_>,
    leaf: &Segment,
    tensor: &TensorDescription,
) -> Vec<String> {
    let path = |role: &str| camel(module.iter().map(String::as_str).chain([role]));
    let sizes = &tensor.shape;
    let leaf = leaf.text();
    let kernel = KERNEL.iter().find(|row| row.0 == sizes.len());
    let made: Vec<String> = match (leaf.as_str(), kernel) {
        ("weight", Some((2, _))) if is_embedding(module) => vec![path("Id"), path("Feature")],
        ("weight", Some((_, roles))) => roles.iter().map(|role| path(role)).collect(),
        _ if sizes.len() == 1 => {
            let of_weight = sibling(branch, "weight").filter(|weight| {
                leaf == "bias" && weight.shape.len() > 1 && weight.shape[0] == sizes[0]
            });
            let is_norm = sibling(branch, "weight").is_some_and(|weight| weight.shape == *sizes);
            match of_weight {
                Some(_) => vec![path("Out")],
                None if is_norm => vec![path("Feature")],
                None => vec![path(&camel([leaf.as_str(), "dim", "0"]))],
            }
        }
        _ => {
            let numbers = (0..sizes.len()).map(|at| at.to_string());
            numbers
                .map(|at| path(&camel([leaf.as_str(), "dim", at.as_str()])))
                .collect()
        }
    };
    let own = tensor.names.iter();
    own.zip(made)
        .map(|(own, made)| own.as_ref().map_or(made, |name| name.as_str().to_owned()))
        .collect()
}

fn is_embedding(module: &[String]) -> bool {
    module
        .last()
        .is_some_and(|name| name.to_lowercase().contains("embed"))
}

fn sibling<'a>(branch: &Branch<'a>, name: &str) -> Option<&'a TensorDescription> {
    let found = branch.below.get(&Segment::Word(name.to_owned()));
    found.and_then(|branch| branch.tensor)
}
