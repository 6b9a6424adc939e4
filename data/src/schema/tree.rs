//! The fields of a dataset as a tree of types.

use std::vec::IntoIter;

use nomina::Result;
use nomina::dims::{Axis, Bool, DimList, DimTuple, False, LabelType};

use super::field::{Field, FieldValue};
use super::reading::Reading;
use super::spec::VariableSpec;

/// The dims of fields with the types of their labels, for a check by rustc.
#[derive(Debug)]
pub enum DeclaredDims {
    /// The dims of a field, and the types of their labels.
    Field(
        &'static [Option<&'static str>],
        &'static [Option<LabelType>],
    ),
    /// The dims of two parts of a tree.
    Pair(&'static Self, &'static Self),
    /// No field.
    Nothing,
}

/// The types of the fields, as a balanced tree `((OneField<A>, OneField<B>), OneField<C>)`.
///
/// `#[derive(Dataset)]` writes it from tokens, and traits ask the types: so aliases of a field's type work.
pub trait FieldTree: Sized {
    /// The number of fields.
    const LEN: usize;
    /// The dims of all fields.
    const DECLARED: DeclaredDims;
    /// Whether a field has a dim.
    type Has<X: Axis>: Bool;

    /// Appends the value of each field.
    fn push_values(self, to: &mut Vec<FieldValue>);
    /// Takes the value of each field.
    fn from_values(values: &mut IntoIter<FieldValue>, specs: &[VariableSpec]) -> Result<Self>;
    /// Compares each field with the dataset.
    fn check(reading: &mut Reading<'_>, specs: &[VariableSpec]);
    /// Loads each field.
    fn load(reading: &mut Reading<'_>, specs: &[VariableSpec]) -> Result<Self>;
}

/// A tree of a single field.
#[derive(Clone, Debug)]
pub struct OneField<F>(pub F);

impl FieldTree for () {
    const LEN: usize = 0;
    const DECLARED: DeclaredDims = DeclaredDims::Nothing;
    type Has<X: Axis> = False;

    fn push_values(self, _: &mut Vec<FieldValue>) {}
    fn from_values(_: &mut IntoIter<FieldValue>, _: &[VariableSpec]) -> Result<Self> {
        Ok(())
    }
    fn check(_: &mut Reading<'_>, _: &[VariableSpec]) {}
    fn load(_: &mut Reading<'_>, _: &[VariableSpec]) -> Result<Self> {
        Ok(())
    }
}

// Both without `do_not_recommend`: rustc then names the field whose type is none.
impl<F: Field> FieldTree for OneField<F> {
    const LEN: usize = 1;
    const DECLARED: DeclaredDims =
        DeclaredDims::Field(<F::Dims as DimTuple>::NAMES, <F::Dims as DimTuple>::LABELS);
    type Has<X: Axis> = <F::Dims as DimList>::Contains<X>;

    fn push_values(self, to: &mut Vec<FieldValue>) {
        to.push(self.0.into_field());
    }
    fn from_values(values: &mut IntoIter<FieldValue>, specs: &[VariableSpec]) -> Result<Self> {
        let value = values.next().unwrap_or(FieldValue::Absent);
        let found = F::from_field(value);
        found
            .map(Self)
            .map_err(|error| error.within(format_args!("field `{}`", specs[0].field)))
    }
    fn check(reading: &mut Reading<'_>, specs: &[VariableSpec]) {
        F::check_field(reading, &specs[0]);
    }
    fn load(reading: &mut Reading<'_>, specs: &[VariableSpec]) -> Result<Self> {
        F::load_field(reading, &specs[0]).map(Self)
    }
}

impl<L: FieldTree, R: FieldTree> FieldTree for (L, R) {
    const LEN: usize = L::LEN + R::LEN;
    const DECLARED: DeclaredDims = DeclaredDims::Pair(&L::DECLARED, &R::DECLARED);
    type Has<X: Axis> = <L::Has<X> as Bool>::Or<R::Has<X>>;

    fn push_values(self, to: &mut Vec<FieldValue>) {
        self.0.push_values(to);
        self.1.push_values(to);
    }
    fn from_values(values: &mut IntoIter<FieldValue>, specs: &[VariableSpec]) -> Result<Self> {
        let (left, right) = specs.split_at(L::LEN);
        Ok((
            L::from_values(values, left)?,
            R::from_values(values, right)?,
        ))
    }
    fn check(reading: &mut Reading<'_>, specs: &[VariableSpec]) {
        let (left, right) = specs.split_at(L::LEN);
        L::check(reading, left);
        R::check(reading, right);
    }
    fn load(reading: &mut Reading<'_>, specs: &[VariableSpec]) -> Result<Self> {
        let (left, right) = specs.split_at(L::LEN);
        Ok((L::load(reading, left)?, R::load(reading, right)?))
    }
}
