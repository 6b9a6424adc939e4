//! Descriptors: objects of cuDNN with attributes. They are used once they are finalized, and not changed afterwards.

use std::ffi::c_void;
use std::ptr::null_mut;

use cudarc::cudnn::sys::{
    cudnnBackendAttributeName_t as Attribute, cudnnBackendAttributeType_t as AttributeType,
    cudnnBackendDescriptorType_t as DescriptorKind, cudnnBackendHeurMode_t as HeuristicMode,
    cudnnConvolutionMode_t as ConvolutionMode, cudnnDataType_t as ElementType,
    cudnnPointwiseMode_t as PointwiseMode,
};

use super::api::{CudnnFunctions, Object, Status};

/// A value of an attribute.
///
/// # Safety
/// The library reads values of this type from an attribute of the type `TYPE`.
pub(super) unsafe trait AttributeValue: Copy {
    const TYPE: AttributeType;
}

/// A value of an attribute that the library may write.
///
/// # Safety
/// Every value that the library writes to an attribute of the type `TYPE` is one of the Rust type.
pub(super) unsafe trait ReadableValue: AttributeValue + Default {}

/// A note about an engine's arithmetic; later versions have more of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub(super) struct NumericalNote(pub(super) u32);

/// The library's handle.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct CudnnHandle(pub(super) Object);

/// An address in the device's memory.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub(super) struct DeviceAddress(pub(super) *mut u8);

macro_rules! values {
    ($($value:ty: $name:ident,)*) => {
        $(
            // SAFETY: the types of `cudnn_graph.h`.
            unsafe impl AttributeValue for $value {
                const TYPE: AttributeType = AttributeType::$name;
            }
        )*
    };
}

values! {
    CudnnHandle: CUDNN_TYPE_HANDLE,
    ElementType: CUDNN_TYPE_DATA_TYPE,
    bool: CUDNN_TYPE_BOOLEAN,
    i64: CUDNN_TYPE_INT64,
    f32: CUDNN_TYPE_FLOAT,
    f64: CUDNN_TYPE_DOUBLE,
    DeviceAddress: CUDNN_TYPE_VOID_PTR,
    ConvolutionMode: CUDNN_TYPE_CONVOLUTION_MODE,
    HeuristicMode: CUDNN_TYPE_HEUR_MODE,
    NumericalNote: CUDNN_TYPE_NUMERICAL_NOTE,
    PointwiseMode: CUDNN_TYPE_POINTWISE_MODE,
    Object: CUDNN_TYPE_BACKEND_DESCRIPTOR,
    u8: CUDNN_TYPE_CHAR,
}

// SAFETY: any number is a value of these types.
unsafe impl ReadableValue for i64 {}
// SAFETY: as above.
unsafe impl ReadableValue for u8 {}
// SAFETY: as above.
unsafe impl ReadableValue for NumericalNote {}

/// A finalized descriptor, or one that the library fills. It is destroyed when dropped.
#[derive(Debug)]
pub(super) struct Descriptor {
    api: &'static CudnnFunctions,
    object: Object,
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // SAFETY: created by the library, and dropped once. A drop has no caller for errors.
        let _ = unsafe { (self.api.destroy_descriptor)(self.object) };
    }
}

impl Descriptor {
    fn new(api: &'static CudnnFunctions, kind: DescriptorKind) -> Result<Self, Status> {
        let mut object = null_mut();
        // SAFETY: the pointer is to a descriptor.
        unsafe { (api.create_descriptor)(kind, &raw mut object) }.result()?;
        Ok(Self { api, object })
    }

    pub(super) fn object(&self) -> Object {
        self.object
    }

    /// Returns the number of values of an attribute.
    fn count<T: AttributeValue>(&self, name: Attribute) -> Result<usize, Status> {
        let mut count = 0;
        // SAFETY: the pointer is to a number, and no values are requested.
        unsafe {
            (self.api.get_attribute)(self.object, name, T::TYPE, 0, &raw mut count, null_mut())
        }
        .result()?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// Reads values of an attribute into a list, and returns how many there are at most.
    fn read<T: AttributeValue>(&self, name: Attribute, into: &mut [T]) -> Result<usize, Status> {
        let mut count = 0;
        let (most, at) = (into.len() as i64, into.as_mut_ptr().cast());
        // SAFETY: there is room for `most` values of the type; the callers say why those written are valid.
        unsafe { (self.api.get_attribute)(self.object, name, T::TYPE, most, &raw mut count, at) }
            .result()?;
        Ok(usize::try_from(count).unwrap_or(0).min(into.len()))
    }

    /// Returns all values of an attribute.
    pub(super) fn values<T: ReadableValue>(&self, name: Attribute) -> Result<Vec<T>, Status> {
        self.values_up_to(name, self.count::<T>(name)?)
    }

    /// Returns the values of an attribute, `most` of them at most.
    pub(super) fn values_up_to<T: ReadableValue>(
        &self,
        name: Attribute,
        most: usize,
    ) -> Result<Vec<T>, Status> {
        let mut values = vec![T::default(); most];
        let read = self.read(name, &mut values)?;
        values.truncate(read);
        Ok(values)
    }

    /// Returns the value of an attribute.
    pub(super) fn value<T: ReadableValue>(&self, name: Attribute) -> Result<T, Status> {
        let mut value = [T::default()];
        self.read(name, &mut value)?;
        Ok(value[0])
    }

    /// Returns the number of descriptors of an attribute.
    pub(super) fn descriptor_count(&self, name: Attribute) -> Result<usize, Status> {
        self.count::<Object>(name)
    }

    /// Returns the first descriptors of an attribute, `most` of them at most.
    pub(super) fn descriptors(
        &self,
        name: Attribute,
        kind: DescriptorKind,
        most: usize,
    ) -> Result<Vec<Self>, Status> {
        // The library fills descriptors that the caller has created.
        let empty = (0..most).map(|_| Self::new(self.api, kind));
        let mut filled = empty.collect::<Result<Vec<_>, _>>()?;
        let mut objects: Vec<Object> = filled.iter().map(Self::object).collect();
        let read = self.read(name, &mut objects)?;
        filled.truncate(read);
        Ok(filled)
    }
}

/// A descriptor whose attributes are being set.
#[derive(Debug)]
pub(super) struct DescriptorDraft(Descriptor);

impl DescriptorDraft {
    pub(super) fn new(api: &'static CudnnFunctions, kind: DescriptorKind) -> Result<Self, Status> {
        Descriptor::new(api, kind).map(Self)
    }

    /// Sets the values of an attribute.
    pub(super) fn set<T: AttributeValue>(
        self,
        name: Attribute,
        values: &[T],
    ) -> Result<Self, Status> {
        let Descriptor { api, object } = self.0;
        let (count, at) = (values.len() as i64, values.as_ptr().cast::<c_void>());
        // SAFETY: there are `count` values of the type.
        unsafe { (api.set_attribute)(object, name, T::TYPE, count, at) }.result()?;
        Ok(self)
    }

    /// Sets the descriptors of an attribute, which outlive this one's use.
    pub(super) fn refer(
        self,
        name: Attribute,
        descriptors: &[&Descriptor],
    ) -> Result<Self, Status> {
        let objects: Vec<Object> = descriptors.iter().map(|each| each.object).collect();
        self.set(name, &objects)
    }

    /// Lets the library check the attributes, after which the descriptor can be used.
    pub(super) fn finalize(self) -> Result<Descriptor, Status> {
        // SAFETY: the descriptor lives.
        unsafe { (self.0.api.finalize)(self.0.object) }.result()?;
        Ok(self.0)
    }
}
