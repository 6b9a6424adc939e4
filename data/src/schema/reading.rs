//! Comparison of a struct with a dataset, and the text of an error about all differences.

use std::fmt::Write;
use std::sync::Arc;

use nomina::dims::LabelType;
use nomina::labelled::AnyLabels;
use nomina::{DType, DynLabelled, Error, ErrorKind, Labels, Result};

use super::spec::VariableSpec;
use crate::calendar::{Calendar, CfTime};
use crate::column::Column;
use crate::dataset::{DynDataset, is_index};
use crate::variable::Variable;

/// Labels of a dim that were asked for.
struct AskedLabels {
    dim: String,
    declared: LabelType,
    labels: Option<Arc<dyn AnyLabels>>,
}

/// A dataset that is compared with a struct, and then loaded as one.
pub struct Reading<'a> {
    dataset: &'a DynDataset,
    problems: Vec<String>,
    /// Converted once for all fields, so that they share one object.
    labels: Vec<AskedLabels>,
}

/// Formats dims with their sizes, and the type and units of elements.
fn describe(one: &Variable) -> String {
    let dims: Vec<String> = one
        .dims()
        .iter()
        .zip(one.shape())
        .map(|(dim, size)| format!("{dim}={size}"))
        .collect();
    let units = one.attributes().text("units");
    let units = units.map_or_else(String::new, |units| format!(" in {units}"));
    format!("({}) {}{units}", dims.join(", "), one.type_name())
}

/// Formats what a field asks for.
fn wanted(spec: &VariableSpec, names: &[Option<&str>], kind: &str) -> String {
    let dims: Vec<&str> = names.iter().map(|name| name.unwrap_or("_")).collect();
    let units = spec
        .units
        .map_or_else(String::new, |units| format!(" in {units}"));
    let dtype = if spec.converts { "any dtype" } else { kind };
    format!("({}) {dtype}{units}", dims.join(", "))
}

impl<'a> Reading<'a> {
    pub(crate) const fn new(dataset: &'a DynDataset) -> Self {
        Self {
            dataset,
            problems: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn find(&self, spec: &VariableSpec) -> Option<&'a Variable> {
        let mut all = self.dataset.variables.iter();
        all.find(|one| one.name() == spec.name)
    }

    /// Returns whether the dataset has the variable of a field.
    pub(crate) fn has(&self, spec: &VariableSpec) -> bool {
        self.find(spec).is_some()
    }

    /// Returns the variable of a field if its dims, its elements and its units are those wanted; else notes a problem.
    fn compare(
        &mut self,
        spec: &VariableSpec,
        names: &[Option<&str>],
        kind: &str,
        is_kind: impl Fn(&Variable) -> bool,
    ) -> Option<&'a Variable> {
        let field = match spec.field.trim_start_matches("r#") {
            field if field == spec.name => format!("`{field}`"),
            field => format!("`{field}` (variable `{}`)", spec.name),
        };
        let wanted = wanted(spec, names, kind);
        let Some(found) = self.find(spec) else {
            self.problems.push(format!(
                "{field}: {wanted}; there is no variable `{}`",
                spec.name
            ));
            return None;
        };
        let is_dim = |(name, own): (&Option<&str>, &String)| name.is_none_or(|name| name == own);
        let same_dims =
            found.dims().len() == names.len() && names.iter().zip(found.dims()).all(is_dim);
        let units = found.attributes().text("units");
        let same_units = spec.units.is_none() || spec.units == units;
        if same_dims && same_units && is_kind(found) {
            return Some(found);
        }
        let mut sorted = [
            names.iter().map(|name| name.unwrap_or("_")).collect(),
            found.dims().iter().map(|dim| &dim[..]).collect::<Vec<_>>(),
        ];
        sorted.iter_mut().for_each(|names| names.sort_unstable());
        let order = if !same_dims && sorted[0] == sorted[1] {
            ", which are the same dims in another order"
        } else {
            ""
        };
        self.problems.push(format!(
            "{field}: {wanted}; the variable is {}{order}",
            describe(found)
        ));
        None
    }

    /// Compares a field that is a tensor with the variable.
    pub(crate) fn check_tensor(
        &mut self,
        spec: &VariableSpec,
        names: &[Option<&str>],
        labels: &[Option<LabelType>],
        dtype: DType,
    ) {
        let kind = dtype.to_string();
        let converts = spec.converts;
        let is_kind =
            |one: &Variable| one.dtype() == Some(dtype) || (converts && one.dtype().is_some());
        let Some(found) = self.compare(spec, names, &kind, is_kind) else {
            return;
        };
        for (dim, declared) in found.dims().iter().zip(labels) {
            if let Some(declared) = declared {
                self.convert(dim, *declared);
            }
        }
    }

    /// Notes a problem if there is no tensor for a field.
    pub(crate) fn check_any(&mut self, spec: &VariableSpec) {
        let rank = self.find(spec).map_or(0, |one| one.dims().len());
        self.compare(spec, &vec![None; rank], "numbers", |one| {
            one.dtype().is_some()
        });
    }

    /// Loads a tensor with the dims and labels of the file.
    pub(crate) fn any(&self, spec: &VariableSpec) -> Result<DynLabelled> {
        self.dataset.labelled(spec.name)
    }

    /// Compares a field of single values or values along a dim with the variable.
    pub(crate) fn check_column(
        &mut self,
        spec: &VariableSpec,
        names: &[Option<&str>],
        declared: LabelType,
    ) {
        // Numbers are converted if none changes.
        let is_number = matches!(declared, LabelType::F64 | LabelType::F32 | LabelType::I64);
        let name = declared.name();
        let is_kind = |one: &Variable| {
            if is_number {
                one.dtype().is_some()
            } else {
                one.dtype().is_none()
            }
        };
        if self.compare(spec, names, name, is_kind).is_some()
            && let Err(problem) = self.try_column(spec, declared)
        {
            self.problems.push(format!("`{}` {problem}", spec.name));
        }
    }

    fn try_column(
        &self,
        spec: &VariableSpec,
        declared: LabelType,
    ) -> Result<Arc<dyn AnyLabels>, String> {
        let variable = self
            .dataset
            .variable(spec.name)
            .map_err(|error| error.to_string())?;
        let column = variable.column().map_err(|error| error.to_string())?;
        converted(&column, declared)
    }

    /// Loads the values of a field that [`check_column`](Self::check_column) accepted.
    pub(crate) fn column(
        &mut self,
        spec: &VariableSpec,
        declared: LabelType,
    ) -> Result<Arc<dyn AnyLabels>> {
        let failed = |what: String| {
            Error::new(
                ErrorKind::DType,
                "column",
                format!("variable `{}` {what}", spec.name),
            )
        };
        self.try_column(spec, declared).map_err(failed)
    }

    /// Converts the labels of a dim to the declared type; a problem is noted the first time.
    fn convert(&mut self, dim: &str, declared: LabelType) -> Option<Arc<dyn AnyLabels>> {
        let mut asked = self.labels.iter();
        if let Some(known) = asked.find(|one| one.dim == dim && one.declared == declared) {
            return known.labels.clone();
        }
        let mut all = self.dataset.variables.iter();
        let index = all.find(|one| is_index(one) && one.name() == dim);
        let found = match (index, declared) {
            (None, LabelType::Words(words)) => {
                let words = words.iter().map(|word| (*word).to_owned());
                Ok(Arc::new(Labels::new(words)) as Arc<dyn AnyLabels>)
            }
            (None, _) => Err(format!(
                "has no labels, and its declaration says {}: declare it without a type of labels",
                declared.name()
            )),
            (Some(index), _) => match index.column() {
                Ok(own) if own.type_name() == declared.name() && !is_words(declared) => {
                    index.shared_labels().map_err(|error| error.to_string())
                }
                Ok(own) => converted(&own, declared),
                Err(error) => Err(error.to_string()),
            },
        };
        let labels = match found {
            Ok(labels) => Some(labels),
            Err(problem) => {
                self.problems.push(format!("dim `{dim}` {problem}"));
                None
            }
        };
        self.labels.push(AskedLabels {
            dim: dim.to_owned(),
            declared,
            labels: labels.clone(),
        });
        labels
    }

    /// Loads the tensor of a field that [`check_tensor`](Self::check_tensor) accepted.
    pub(crate) fn tensor(
        &mut self,
        spec: &VariableSpec,
        labels: &[Option<LabelType>],
        dtype: DType,
    ) -> Result<DynLabelled> {
        let mut found = self.dataset.labelled(spec.name)?;
        if found.tensor().dtype() != dtype {
            let converted = found.tensor().to_dtype(dtype)?;
            let mut with = DynLabelled::new(converted);
            for at in 0..found.shape().len() {
                with = with.with_shared(at as i64, found.coords().get(at).cloned())?;
            }
            found = with;
        }
        let variable = self.dataset.variable(spec.name)?;
        for (at, (dim, declared)) in variable.dims().iter().zip(labels).enumerate() {
            if let Some(labels) = declared.and_then(|declared| self.convert(dim, declared)) {
                found = found.with_shared(at as i64, Some(labels))?;
            }
        }
        Ok(found)
    }

    /// Returns an error about all problems, if there are some.
    pub(crate) fn finish(&self, dataset: &str, op: &'static str) -> Result<()> {
        if self.problems.is_empty() {
            return Ok(());
        }
        let mut text = format!("`{dataset}` asks for what is not there:\n");
        for problem in &self.problems {
            let _ = writeln!(text, "  {problem}");
        }
        text += "the file has:\n";
        for one in &self.dataset.variables {
            let labels = if is_index(one) {
                ", labels of the dim"
            } else {
                ""
            };
            let _ = writeln!(text, "  `{}` {}{labels}", one.name(), describe(one));
        }
        text += "`cargo nomina types FILE` prints a struct that fits. Other names: `#[dataset(name = \"..\")]` for a variable, \
                 `dims! { Lat(\"latitude\"): f64 }` for a dim. A variable that a file may lack: `Option`.";
        Err(Error::new(ErrorKind::Argument, op, text))
    }
}

const fn is_words(declared: LabelType) -> bool {
    matches!(declared, LabelType::Words(_))
}

/// Converts labels of a file to a declared type, if none changes.
///
/// # Errors
/// If one would change; the text continues a sentence that begins with the dim.
fn converted(column: &Column, declared: LabelType) -> Result<Arc<dyn AnyLabels>, String> {
    /// Integers that `f64` has.
    const EXACT: u64 = 1 << 53;
    let refused = || {
        let own = column.type_name();
        let (declared, first) = (declared.name(), column.show(0));
        format!(
            "has labels of type {own}, the first is {first}, and its declaration says {declared}: declare `{own}`, or remove the type"
        )
    };
    let is_whole = |value: &f64| value.fract() == 0.0 && value.abs() <= EXACT as f64;
    Ok(match (column, declared) {
        (Column::Text(own), LabelType::Words(words)) if own.iter().eq(words) => column.to_labels(),
        (Column::Text(own), LabelType::Words(words)) => {
            return Err(format!(
                "has the labels {}, and its declaration says {}",
                own.join(", "),
                words.join(", ")
            ));
        }
        _ if column.type_name() == declared.name() => column.to_labels(),
        (Column::I64(own), LabelType::F64) if own.iter().all(|v| v.unsigned_abs() <= EXACT) => {
            Arc::new(Labels::new(own.iter().map(|value| *value as f64)))
        }
        (Column::F64(own), LabelType::I64) if own.iter().all(is_whole) => {
            Arc::new(Labels::new(own.iter().map(|value| *value as i64)))
        }
        (Column::F64(own), LabelType::F32) => {
            Arc::new(Labels::new(own.iter().map(|value| *value as f32)))
        }
        (Column::Time(own), LabelType::Other("CfTime")) => {
            let times = own
                .iter()
                .map(|at| CfTime::from_timestamp(Calendar::default(), *at));
            let times: Option<Vec<CfTime>> = times.collect();
            Arc::new(Labels::new(times.ok_or_else(refused)?))
        }
        _ => return Err(refused()),
    })
}
