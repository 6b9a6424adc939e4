//! Conversion of a file's tensor to the requested type.

use nomina::dims::Distinct;
use nomina::{
    DType, DynTensor, Element, Error, ErrorKind, Name, Names, Result, Tensor, dims::Dims,
};

/// A type that a file's tensor can be opened as: a [`Tensor`], whose names, constant sizes and dtype are checked, or a
/// [`DynTensor`], which accepts any.
#[diagnostic::on_unimplemented(
    message = "a file's tensor cannot be opened as `{Self}`",
    label = "expected a tensor type, such as `Tensor<(Out, In)>`, or `DynTensor`",
    note = "a tensor type must not repeat a dim name"
)]
pub trait OpenAs: sealed::Sealed + Sized {
    /// The names of the type's dims.
    #[doc(hidden)]
    const NAMES: &'static [Option<&'static str>];
    /// The dtype of the type.
    #[doc(hidden)]
    const DTYPE: Option<DType>;
    #[doc(hidden)]
    fn from_dyn(tensor: DynTensor) -> Result<Self>;
    /// Returns the tensor with run-time names.
    #[doc(hidden)]
    fn dynamic(&self) -> DynTensor;
}

impl<D: Dims + Distinct, T: Element> OpenAs for Tensor<D, T> {
    const NAMES: &'static [Option<&'static str>] = D::NAMES;
    const DTYPE: Option<DType> = Some(T::DTYPE);
    fn from_dyn(tensor: DynTensor) -> Result<Self> {
        tensor.try_into()
    }
    fn dynamic(&self) -> DynTensor {
        self.to_dyn()
    }
}

impl OpenAs for DynTensor {
    const NAMES: &'static [Option<&'static str>] = &[];
    const DTYPE: Option<DType> = None;
    fn from_dyn(tensor: DynTensor) -> Result<Self> {
        Ok(tensor)
    }
    fn dynamic(&self) -> DynTensor {
        self.clone()
    }
}

mod sealed {
    use super::{Dims, DynTensor, Element, Tensor};

    pub trait Sealed {}
    impl<D: Dims, T: Element> Sealed for Tensor<D, T> {}
    impl Sealed for DynTensor {}
}

/// Opens a file's tensor as `X`, with the names of the file.
pub(crate) fn open_as<X: OpenAs>(op: &'static str, tensor: DynTensor) -> Result<X> {
    X::from_dyn(tensor).map_err(|error: Error| {
        let error = error.in_op(op);
        match error.kind() {
            ErrorKind::UnnamedDim => {
                error.hint("open it with `refine`, which names its dims by the type")
            }
            _ => error,
        }
    })
}

/// Like [`open_as`], but dims without a name take their names from `X`.
#[cfg(any(
    feature = "image",
    feature = "npy",
    feature = "png",
    feature = "pth",
    feature = "safetensors"
))]
pub(crate) fn open_refined<X: OpenAs>(op: &'static str, tensor: DynTensor) -> Result<X> {
    let (raw, names) = tensor.into_parts();
    let names = refined_names::<X>(&names);
    let tensor = DynTensor::from_parts(raw, names).map_err(|error| error.in_op(op))?;
    open_as(op, tensor)
}

/// Returns the names of a file's dims; dims without a name take their names from `X`. Duplicates are found later, when
/// a tensor gets the names.
pub(crate) fn refined_names<X: OpenAs>(names: &Names) -> Names {
    if X::NAMES.len() != names.len() {
        return names.clone();
    }
    let given = X::NAMES.iter().map(|name| name.map(Name::from_static));
    let names = names.iter().zip(given);
    names.map(|(own, given)| own.clone().or(given)).collect()
}
