//! What a file's tensor becomes.

use nomina::dims::Distinct;
use nomina::{DynTensor, Element, Error, ErrorKind, Name, Names, Result, Tensor, dims::Dims};

/// What a tensor of a file is opened as: a [`Tensor`], whose names, constant sizes and dtype are checked, or a [`DynTensor`],
/// which takes any.
#[diagnostic::on_unimplemented(
    message = "a file's tensor cannot be opened as `{Self}`",
    label = "expected a tensor type, such as `Tensor<(Out, In)>`, or `DynTensor`",
    note = "no name may stand twice in the dims of a tensor type"
)]
pub trait OpenAs: sealed::Sealed + Sized {
    /// The names that its type says.
    #[doc(hidden)]
    const NAMES: &'static [Option<&'static str>];
    #[doc(hidden)]
    fn of(tensor: DynTensor) -> Result<Self>;
}

impl<D: Dims + Distinct, T: Element> OpenAs for Tensor<D, T> {
    const NAMES: &'static [Option<&'static str>] = D::NAMES;
    fn of(tensor: DynTensor) -> Result<Self> {
        tensor.try_into()
    }
}

impl OpenAs for DynTensor {
    const NAMES: &'static [Option<&'static str>] = &[];
    fn of(tensor: DynTensor) -> Result<Self> {
        Ok(tensor)
    }
}

mod sealed {
    use super::{Dims, DynTensor, Element, Tensor};

    pub trait Sealed {}
    impl<D: Dims, T: Element> Sealed for Tensor<D, T> {}
    impl Sealed for DynTensor {}
}

/// Opens what a file holds as `X`, with the names of the file.
pub(crate) fn as_it_is<X: OpenAs>(op: &'static str, tensor: DynTensor) -> Result<X> {
    X::of(tensor).map_err(|error: Error| {
        let error = error.in_op(op);
        match error.kind() {
            ErrorKind::UnnamedDim => {
                error.hint("open it with `refine`, which names its dims as the type says")
            }
            _ => error,
        }
    })
}

/// The same, where dims without a name take the one that `X` says.
pub(crate) fn refined<X: OpenAs>(op: &'static str, tensor: DynTensor) -> Result<X> {
    if X::NAMES.len() != tensor.rank() {
        return as_it_is(op, tensor);
    }
    let (raw, names) = tensor.into_parts();
    let given = X::NAMES.iter().map(|name| name.map(Name::from_static));
    let names: Names = names
        .iter()
        .zip(given)
        .map(|(own, given)| own.clone().or(given))
        .collect();
    let tensor = DynTensor::from_parts(raw, names).map_err(|error| error.in_op(op))?;
    as_it_is(op, tensor)
}
