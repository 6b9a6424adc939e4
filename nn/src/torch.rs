//! States of PyTorch's modules.

use nomina::{DynTensor, Error, ErrorKind, Result};
use nomina_macros::twin;

use crate::load::ByPath;

const OP: &str = "from_torch";

/// Translates a state of PyTorch's modules: its paths to those of this crate's layers, and fused weights to separate
/// ones. Tensors that need no translation are returned as they are.
///
/// In a `MultiheadAttention`, `in_proj_weight` and `in_proj_bias` (or `q_proj_weight`, `k_proj_weight` and
/// `v_proj_weight`) become those of `query`, `key` and `value`, and `out_proj` becomes `out`. Parts of a fused tensor
/// share its elements. All other layers have PyTorch's paths already; those of recurrent layers end in `_l0`, `_l1`.
///
/// ```
/// use nomina::prelude::*;
/// use nomina_nn::{from_torch, prelude::*};
/// dims! { Seq, Hidden, Head, Feature }
///
/// let state = [
///     ("in_proj_weight", DynTensor::randn(&[12, 4], ())?),
///     ("in_proj_bias", DynTensor::zeros(&[12], ())?),
///     ("out_proj.weight", DynTensor::randn(&[4, 4], ())?),
///     ("out_proj.bias", DynTensor::zeros(&[4], ())?),
/// ];
/// let mut layer = MultiHeadAttention::<Seq, Hidden, Head, Feature>::new(Hidden.of(4), Head.of(2), Feature.of(2));
/// layer.load(from_torch(state));
/// # Ok::<(), Error>(())
/// ```
///
/// # Errors
/// If a path occurs twice, or a fused tensor cannot be divided by three.
#[twin(free)]
pub fn try_from_torch<K: Into<String>, X: Into<DynTensor>>(
    state: impl IntoIterator<Item = (K, X)>,
) -> Result<Vec<(String, DynTensor)>> {
    let state = ByPath::collect(state)
        .map_err(|error| error.in_op(OP))?
        .rest();
    let mut translated = Vec::new();
    for (path, tensor) in &state {
        let (prefix, name) = match path.rsplit_once('.') {
            Some((prefix, name)) => (format!("{prefix}."), name),
            None => (String::new(), &path[..]),
        };
        match name {
            "in_proj_weight" | "in_proj_bias" => {
                let name = &name["in_proj_".len()..];
                let parts =
                    thirds(tensor).map_err(|error| error.within(format_args!("`{path}`")))?;
                for (layer, part) in ["query", "key", "value"].into_iter().zip(parts) {
                    translated.push((format!("{prefix}{layer}.{name}"), part));
                }
            }
            "q_proj_weight" => translated.push((format!("{prefix}query.weight"), tensor.clone())),
            "k_proj_weight" => translated.push((format!("{prefix}key.weight"), tensor.clone())),
            "v_proj_weight" => translated.push((format!("{prefix}value.weight"), tensor.clone())),
            _ => {
                let attention = prefix.strip_suffix("out_proj.").filter(|attention| {
                    ["in_proj_weight", "q_proj_weight"]
                        .iter()
                        .any(|name| state.contains_key(&format!("{attention}{name}")))
                });
                let path = match attention {
                    Some(attention) => format!("{attention}out.{name}"),
                    None => path.clone(),
                };
                translated.push((path, tensor.clone()));
            }
        }
    }
    Ok(translated)
}

/// Splits the first dim into three equal parts.
fn thirds(tensor: &DynTensor) -> Result<[DynTensor; 3]> {
    let size = tensor.shape().first().copied().unwrap_or(0);
    if size % 3 != 0 {
        let what =
            format!("the first dim, of size {size}, is not that of queries, keys and values");
        return Err(Error::new(ErrorKind::Shape, OP, what)
            .operand(tensor.names(), tensor.shape())
            .hint("pass the tensors of `torch.nn.MultiheadAttention` as they are"));
    }
    let part = |index: usize| tensor.narrow(0, (index * (size / 3)) as i64, size / 3);
    Ok([part(0)?, part(1)?, part(2)?])
}
