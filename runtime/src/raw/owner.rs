//! Elements that another library owns.

use std::any::Any;
use std::ptr::NonNull;
use std::sync::Arc;

use nomina_core::{Element, Error, ErrorKind, Names, Result};

use super::Raw;
use crate::shape::numel;
use crate::storage::Storage;

impl Raw {
    /// Creates a row-major tensor from the elements of an owner, such as a buffer of another library, without a copy.
    /// The owner is dropped with the last tensor that views its elements. They are copied before nomina writes to them.
    ///
    /// # Errors
    /// [`ErrorKind::Shape`] if the sizes do not multiply to the number of elements, [`ErrorKind::Memory`].
    pub fn from_owner<T: Element, O: AsRef<[T]> + Any + Send + Sync>(
        op: &'static str,
        owner: O,
        shape: &[usize],
    ) -> Result<Self> {
        let owner = Arc::new(owner);
        let elements = (*owner).as_ref();
        let count = numel(op, shape)?;
        if count != elements.len() {
            let what = format!("{} elements, but the sizes need {count}", elements.len());
            return Err(Error::new(ErrorKind::Shape, op, what).operand(&Names::default(), shape));
        }
        let (first, bytes) = (NonNull::from(elements).cast(), size_of_val(elements));
        // SAFETY: the slice is borrowed from the owner, which is neither moved out of its `Arc` nor borrowed mutably
        // until the storage drops it.
        let storage = unsafe { Storage::borrowed(op, first, bytes, owner)? };
        Ok(Self::row_major(storage, shape, T::DTYPE))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_where_they_are_until_they_are_written_to() {
        let owner = Arc::new(vec![1.0_f32, 2.0, 3.0, 4.0]);
        let shared: Arc<dyn AsRef<[f32]> + Send + Sync> = owner.clone();
        struct Elements(Arc<dyn AsRef<[f32]> + Send + Sync>);
        impl AsRef<[f32]> for Elements {
            fn as_ref(&self) -> &[f32] {
                (*self.0).as_ref()
            }
        }
        let mut raw = Raw::from_owner("open", Elements(shared), &[2, 2]).unwrap();
        assert_eq!(raw.as_ptr(), owner.as_ptr().cast());
        assert!(!raw.is_unique() && raw.unique_ptr().is_none());
        assert_eq!(raw.to_vec::<f32>().unwrap(), *owner);
        let copy = raw.clone().into_vec::<f32>().unwrap();
        assert_ne!(copy.as_ptr(), owner.as_ptr());
        assert_eq!(Arc::strong_count(&owner), 2);
        drop(raw);
        assert_eq!(Arc::strong_count(&owner), 1);
    }

    #[test]
    fn sizes_that_do_not_fit_are_an_error() {
        for shape in [&[3][..], &[2, 2, 2], &[], &[usize::MAX, 2], &[1; 65]] {
            assert!(Raw::from_owner("open", vec![1_i64, 2], shape).is_err());
        }
        let none = Raw::from_owner("open", Vec::<f64>::new(), &[0, 3]).unwrap();
        assert_eq!(none.to_vec::<f64>().unwrap(), []);
    }
}
