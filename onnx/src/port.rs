//! Inputs and outputs of models.

use std::fmt;

use nomina::{DType, DynTensor};
use nomina_core::{Error, ErrorKind, Names, Result};

use crate::graph::{StatedSize, ValueId};
use crate::proto::READ;

/// An input or output of a model.
#[derive(Clone, Debug)]
pub struct Port {
    /// The name of the value.
    pub name: String,
    /// The names of its dims; `None` if its rank is unknown.
    pub names: Option<Names>,
    /// Its dtype; `None` if it is no tensor, or of a dtype that nomina lacks.
    pub dtype: Option<DType>,
    /// Its sizes, as the file states them; `None` if its rank is not stated.
    pub sizes: Option<Vec<StatedSize>>,
    pub(crate) id: ValueId,
}

/// Formats name, dims and dtype: `image: (Batch, Channel=3, H, W) f32`.
impl fmt::Display for Port {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.name)?;
        match &self.names {
            None => write!(f, "of any rank")?,
            Some(names) => {
                write!(f, "(")?;
                for (at, name) in names.iter().enumerate() {
                    let name = name.as_ref().map_or("_", |name| name.as_str());
                    write!(f, "{}{name}", if at == 0 { "" } else { ", " })?;
                    if let Some(StatedSize::Fixed(size)) =
                        self.sizes.as_ref().and_then(|sizes| sizes.get(at))
                    {
                        write!(f, "={size}")?;
                    }
                }
                write!(f, "{}", if names.len() == 1 { ",)" } else { ")" })?;
            }
        }
        match self.dtype {
            Some(dtype) => write!(f, " {dtype}"),
            None => Ok(()),
        }
    }
}

impl Port {
    /// Returns a tensor in the order of the input's dims, without names.
    ///
    /// # Errors
    /// If the dtype, the number of dims, their names or a stated size differ.
    pub(crate) fn aligned(&self, tensor: &DynTensor) -> Result<DynTensor> {
        let place = || format!("input `{}`", self.name);
        if let Some(dtype) = self.dtype
            && dtype != tensor.dtype()
        {
            let what = format!(
                "{}: the dtype is {} and not {dtype}",
                place(),
                tensor.dtype()
            );
            return Err(Error::new(ErrorKind::DType, READ, what)
                .hint(format!("convert it: `x.to_dtype(DType::{dtype:?})`")));
        }
        let Some(names) = &self.names else {
            return Ok(tensor.drop_names());
        };
        let aligned = if tensor.rank() != names.len() {
            let what = format!(
                "{}: {} dims and not {}",
                place(),
                tensor.rank(),
                names.len()
            );
            return Err(Error::new(ErrorKind::Rank, READ, what)
                .operand(tensor.names(), tensor.shape())
                .hint(format!("the model has {names}")));
        } else if !tensor.has_names() {
            tensor.clone()
        } else {
            let named = if tensor.names().fully_named() {
                tensor.align_to(names)
            } else {
                tensor.refine_names(names)
            };
            named.map_err(|_| {
                let what = format!(
                    "{}: the dims {} are not those of the model, {names}",
                    place(),
                    tensor.names()
                );
                Error::new(ErrorKind::NameMismatch, READ, what)
                    .operand(tensor.names(), tensor.shape())
                    .hint("rename the dims, or name those of the model by `Model::open_with_names`")
            })?
        };
        for (at, size) in self.sizes.iter().flatten().enumerate() {
            if let StatedSize::Fixed(size) = size
                && aligned.shape()[at] != *size
            {
                let what = format!(
                    "{}: dim `{}` has size {} and not {size}",
                    place(),
                    names
                        .get(at)
                        .and_then(|n| n.as_ref())
                        .map_or("_", |n| n.as_str()),
                    aligned.shape()[at]
                );
                return Err(Error::new(ErrorKind::Shape, READ, what));
            }
        }
        Ok(aligned.drop_names())
    }
}
