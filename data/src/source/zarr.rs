//! Groups of zarr.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use nomina::{DynTensor, ErrorKind, Names, Result};
use nomina_io::zarr::Group;

use super::{LeftOut, Source, Stored, StoredType, StoredVariable, broken};

/// Opens a group, with its arrays.
pub(super) fn open(path: &Path, inner: Option<&str>) -> Result<Stored> {
    let group = match inner {
        Some(inner) => Group::open(path.join(inner))?,
        None => Group::open(path)?,
    };
    let attributes = group.attributes().clone().into_iter().collect();
    let (mut variables, mut left_out) = (Vec::new(), Vec::new());
    for name in group.keys()? {
        if group.is_group(&name) {
            continue;
        }
        let unnamed = |at: usize| format!("{name}_dim_{at}");
        let dims = |names: &[Option<String>]| {
            let names = names.iter().enumerate();
            names
                .map(|(at, dim)| dim.clone().unwrap_or_else(|| unnamed(at)))
                .collect()
        };
        let variable = match group.array(&name) {
            Ok(array) => StoredVariable {
                name: name.clone(),
                dims: dims(array.dimension_names()),
                shape: array.shape(),
                stored: StoredType::Number(array.dtype()),
                attributes: array.attributes()?.into_iter().collect(),
                chunks: Some(array.chunks().to_vec()),
            },
            Err(error) if error.kind() == ErrorKind::DType => match group.texts(&name) {
                Ok(Some(texts)) => StoredVariable {
                    name: name.clone(),
                    dims: dims(&texts.dimension_names),
                    shape: texts.shape,
                    stored: StoredType::Text,
                    attributes: group.member_attributes(&name)?.into_iter().collect(),
                    chunks: None,
                },
                _ => {
                    left_out.push(LeftOut {
                        name,
                        why: error.to_string(),
                    });
                    continue;
                }
            },
            Err(error) => return Err(error),
        };
        variables.push(variable);
    }
    Ok(Stored {
        source: Arc::new(Store { group }),
        variables,
        left_out,
        attributes,
    })
}

#[derive(Debug)]
struct Store {
    group: Group,
}

impl Source for Store {
    fn read(&self, variable: &str, ranges: &[Range<usize>]) -> Result<DynTensor> {
        let array = self.group.array(variable)?.narrow_to(ranges)?;
        let tensor = array.read()?;
        DynTensor::from_parts(tensor.into_parts().0, Names::unnamed(ranges.len()))
    }

    fn read_text(&self, variable: &str) -> Result<Vec<String>> {
        let texts = self.group.texts(variable)?;
        let none = || broken(format_args!("variable `{variable}` has no texts"));
        Ok(texts.ok_or_else(none)?.texts)
    }
}
