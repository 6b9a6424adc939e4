//! The attributes `#[dataset(..)]` of a struct and of its fields.

use syn::meta::ParseNestedMeta;
use syn::{DeriveInput, Field, Ident, LitStr, Path, Type, parse_quote};

/// Attributes of a variable that are written to files and not checked.
const WRITTEN: [&str; 2] = ["long_name", "standard_name"];

/// A field that is a variable of the file.
pub struct Variable<'a> {
    pub ident: &'a Ident,
    pub ty: &'a Type,
    /// The name in the file.
    pub name: LitStr,
    pub units: Option<LitStr>,
    pub written: Vec<(String, LitStr)>,
    pub is_coordinate: bool,
    pub converts: bool,
}

/// The fields of a struct.
#[derive(Default)]
pub struct DatasetFields<'a> {
    pub variables: Vec<Variable<'a>>,
    pub skipped: Vec<&'a Ident>,
}

/// The attributes of the struct.
pub struct DatasetOptions {
    pub crate_path: Path,
    /// Dims with other names in files: a marker of `dims!` and the name.
    pub renamed: Vec<(Path, LitStr)>,
}

impl Default for DatasetOptions {
    fn default() -> Self {
        Self {
            crate_path: parse_quote!(::nomina_data),
            renamed: Vec::new(),
        }
    }
}

impl DatasetOptions {
    /// Reads `#[dataset(crate = path, rename(Model = "model name"))]`.
    pub fn parse(input: &DeriveInput) -> syn::Result<Self> {
        let mut found = Self::default();
        for attribute in input
            .attrs
            .iter()
            .filter(|one| one.path().is_ident("dataset"))
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("crate") {
                    found.crate_path = meta.value()?.parse()?;
                    Ok(())
                } else if meta.path.is_ident("rename") {
                    meta.parse_nested_meta(|dim| {
                        let name = dim.value()?.parse()?;
                        found.renamed.push((dim.path, name));
                        Ok(())
                    })
                } else {
                    Err(meta.error(
                        "expected `rename(Dim = \"name in the file\")` or `crate = path`; all else goes on a field",
                    ))
                }
            })?;
        }
        Ok(found)
    }
}

impl<'a> DatasetFields<'a> {
    /// Adds a field.
    pub fn push(&mut self, field: &'a Field, ident: &'a Ident) -> syn::Result<()> {
        let own = ident.to_string();
        let mut found = Variable {
            ident,
            ty: &field.ty,
            name: LitStr::new(own.trim_start_matches("r#"), ident.span()),
            units: None,
            written: Vec::new(),
            is_coordinate: false,
            converts: false,
        };
        let (mut skip, mut others) = (None, false);
        for attribute in field
            .attrs
            .iter()
            .filter(|one| one.path().is_ident("dataset"))
        {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("skip") {
                    skip = Some(meta.path.clone());
                    return Ok(());
                }
                others = true;
                found.read(&meta)
            })?;
        }
        match skip {
            Some(skip) if others => {
                let what = "a skipped field is not in the file, so nothing else is said about it";
                Err(syn::Error::new_spanned(skip, what))
            }
            Some(_) => {
                self.skipped.push(ident);
                Ok(())
            }
            None => self.add(found),
        }
    }

    fn add(&mut self, found: Variable<'a>) -> syn::Result<()> {
        let name = found.name.value();
        if let Some(first) = self.variables.iter().find(|one| one.name.value() == name) {
            let what = format!(
                "field `{}` is already variable `{name}` of the file",
                first.ident
            );
            return Err(syn::Error::new(found.name.span(), what));
        }
        self.variables.push(found);
        Ok(())
    }
}

impl Variable<'_> {
    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        let text = |meta: &ParseNestedMeta<'_>| meta.value()?.parse::<LitStr>();
        if meta.path.is_ident("name") {
            self.name = text(meta)?;
        } else if meta.path.is_ident("units") {
            self.units = Some(text(meta)?);
        } else if meta.path.is_ident("coordinate") {
            self.is_coordinate = true;
        } else if meta.path.is_ident("convert") {
            self.converts = true;
        } else if let Some(key) = WRITTEN.iter().find(|key| meta.path.is_ident(key)) {
            self.written.push(((*key).to_owned(), text(meta)?));
        } else {
            return Err(meta.error(
                "expected `name`, `units`, `long_name` or `standard_name`, each `= \"text\"`, or `coordinate`, `convert` \
                 or `skip`",
            ));
        }
        Ok(())
    }
}
