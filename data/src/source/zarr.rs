//! Groups of zarr.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nomina::{DynTensor, ErrorKind, Names, Result};
use nomina_io::zarr::{self, Zarr};

use super::{Source, Stored, StoredType, StoredVariable, broken};

#[derive(Debug)]
struct Store {
    path: PathBuf,
}

impl Store {
    fn array(&self, variable: &str) -> Result<Zarr<DynTensor>> {
        Zarr::<DynTensor>::open_lenient(self.path.join(variable))
    }
}

/// Opens a group, with its arrays.
pub(super) fn open(path: &Path) -> Result<Stored> {
    let store = Store {
        path: path.to_owned(),
    };
    let attributes = zarr::attributes(path)?.into_iter().collect();
    let mut variables = Vec::new();
    for name in zarr::keys(path)? {
        let folder = path.join(&name);
        if zarr::is_group(&folder) {
            continue;
        }
        let unnamed = |at: usize| format!("{name}_dim_{at}");
        let dims = |names: &[Option<String>]| {
            let names = names.iter().enumerate();
            names
                .map(|(at, dim)| dim.clone().unwrap_or_else(|| unnamed(at)))
                .collect()
        };
        let variable = match Zarr::<DynTensor>::open_lenient(&folder) {
            Ok(array) => StoredVariable {
                name: name.clone(),
                dims: dims(array.dimension_names()),
                shape: array.shape(),
                stored: StoredType::Number(array.dtype()),
                attributes: array.attributes()?.into_iter().collect(),
                chunks: Some(array.chunks().to_vec()),
            },
            // Texts, or elements that no tensor has: those are left out.
            Err(error) if error.kind() == ErrorKind::DType => match zarr::read_texts(&folder) {
                Ok(Some(texts)) => StoredVariable {
                    name: name.clone(),
                    dims: dims(&texts.dimension_names),
                    shape: texts.shape,
                    stored: StoredType::Text,
                    attributes: zarr::attributes(&folder)?.into_iter().collect(),
                    chunks: None,
                },
                _ => continue,
            },
            Err(error) => return Err(error),
        };
        variables.push(variable);
    }
    Ok(Stored {
        source: Arc::new(store),
        variables,
        attributes,
    })
}

impl Source for Store {
    fn read(&self, variable: &str, ranges: &[Range<usize>]) -> Result<DynTensor> {
        let array = self.array(variable)?.narrow_to(ranges)?;
        let tensor = array.read()?;
        DynTensor::from_parts(tensor.into_parts().0, Names::unnamed(ranges.len()))
    }

    fn read_text(&self, variable: &str) -> Result<Vec<String>> {
        let texts = zarr::read_texts(self.path.join(variable))?;
        let none = || broken(format_args!("variable `{variable}` has no texts"));
        Ok(texts.ok_or_else(none)?.texts)
    }
}
