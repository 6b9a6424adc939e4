use std::sync::atomic::{AtomicUsize, Ordering};

use nomina_core::Element;

use super::*;
use crate::call::duplicate;

type Versioned = DLManagedTensorVersioned;

fn counting(shape: &[usize], dtype: DType) -> Raw {
    let count: usize = shape.iter().product();
    let bytes: Vec<u8> = (0..count * dtype.size()).map(|at| (at % 2) as u8).collect();
    Raw::from_bytes("test", dtype, shape, &bytes).unwrap()
}

#[test]
fn every_dtype_goes_both_ways_without_a_copy() {
    fn both_ways<M: Managed>(raw: &Raw) {
        let address = raw.as_ptr();
        let copy = Raw::from_bytes("test", raw.dtype(), raw.shape(), raw.as_bytes().unwrap());
        let raw = if M::HAS_FLAGS {
            raw.clone()
        } else {
            copy.unwrap()
        };
        let expected = (raw.dtype(), raw.as_bytes().unwrap().to_vec());
        let alone = raw.as_ptr();
        let capsule = raw.into_dlpack::<M>(duplicate).unwrap();
        let back = Raw::from_dlpack(capsule).unwrap();
        assert_eq!(back.as_ptr(), if M::HAS_FLAGS { address } else { alone });
        assert_eq!((back.dtype(), back.as_bytes().unwrap().to_vec()), expected);
        assert!(!back.is_unique());
    }
    for dtype in DType::ALL {
        let raw = counting(&[2, 3, 4], dtype);
        both_ways::<Versioned>(&raw);
        both_ways::<DLManagedTensor>(&raw);
        assert_eq!(DLDataType::from_dtype(dtype).to_dtype(), Some(dtype));
    }
}

#[test]
fn views_keep_their_strides() {
    let raw = counting(&[4, 6], DType::I32);
    let view = raw.permute(&[1, 0]).unwrap().flip(0).unwrap();
    let expected = view.to_vec::<i32>().unwrap();
    let capsule = view.clone().into_dlpack::<Versioned>(duplicate).unwrap();
    let tensor = capsule.get().dl_tensor;
    assert_eq!((tensor.ndim, tensor.byte_offset), (2, 0));
    assert_eq!(tensor.data.cast_const().cast(), view.as_ptr());
    let back = Raw::from_dlpack(capsule).unwrap();
    assert_eq!(
        (back.strides(), back.as_ptr()),
        (&[-1, 6][..], view.as_ptr())
    );
    assert_eq!(back.to_vec::<i32>().unwrap(), expected);
    for shape in [&[][..], &[0, 3], &[1, 1]] {
        let raw = counting(shape, DType::F32);
        let back = Raw::from_dlpack(raw.into_dlpack::<Versioned>(duplicate).unwrap()).unwrap();
        assert_eq!(back.shape(), shape);
    }
}

#[test]
fn shared_elements_are_read_only_or_copied() {
    let raw = counting(&[3], DType::F32);
    let shared = raw.clone().into_dlpack::<Versioned>(duplicate).unwrap();
    assert_eq!(
        (shared.get().flags, shared.get().version),
        (READ_ONLY, VERSION)
    );
    let older = raw
        .clone()
        .into_dlpack::<DLManagedTensor>(duplicate)
        .unwrap();
    assert_ne!(older.get().dl_tensor.data.cast_const().cast(), raw.as_ptr());
    // The capsule holds the buffer, so nomina copies it before it writes.
    let mut raw = raw;
    assert!(raw.unique_ptr().is_none());
    drop(shared);
    assert!(raw.unique_ptr().is_some());
    let address = raw.as_ptr();
    let alone = raw.into_dlpack::<Versioned>(duplicate).unwrap();
    assert_eq!(
        (
            alone.get().flags,
            alone.get().dl_tensor.data.cast_const().cast()
        ),
        (0, address)
    );
}

/// A tensor of another library, which counts how often it is freed.
struct Foreign {
    shape: Vec<i64>,
    strides: Vec<i64>,
    elements: Vec<f32>,
    freed: Arc<AtomicUsize>,
}

unsafe extern "C" fn free_foreign(managed: *mut Versioned) {
    // SAFETY: made by `foreign`.
    unsafe {
        let managed = Box::from_raw(managed);
        let foreign = Box::from_raw(managed.manager_ctx.cast::<Foreign>());
        foreign.freed.fetch_add(1, Ordering::Relaxed);
    }
}

fn foreign(
    elements: Vec<f32>,
    shape: &[i64],
    strides: &[i64],
    change: impl FnOnce(&mut Versioned),
) -> (Capsule, Arc<AtomicUsize>) {
    let freed = Arc::<AtomicUsize>::default();
    let mut foreign = Box::new(Foreign {
        shape: shape.to_vec(),
        strides: strides.to_vec(),
        elements,
        freed: freed.clone(),
    });
    let dl_tensor = DLTensor {
        data: foreign.elements.as_mut_ptr().cast(),
        device: DLDevice {
            device_type: CPU,
            device_id: 0,
        },
        ndim: shape.len() as i32,
        dtype: DLDataType::from_dtype(f32::DTYPE),
        shape: foreign.shape.as_mut_ptr(),
        strides: if strides.is_empty() {
            null_mut()
        } else {
            foreign.strides.as_mut_ptr()
        },
        byte_offset: 0,
    };
    let mut managed = Box::new(Versioned {
        version: DLPackVersion { major: 1, minor: 3 },
        manager_ctx: Box::into_raw(foreign).cast(),
        deleter: Some(free_foreign),
        flags: 0,
        dl_tensor,
    });
    change(&mut managed);
    // SAFETY: a struct as DLPack describes it, with elements that only it has; or one that is refused.
    (
        unsafe { Capsule::from_raw(Box::into_raw(managed)).unwrap() },
        freed,
    )
}

#[test]
fn foreign_elements_live_as_long_as_their_tensors() {
    let elements = vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0];
    let (capsule, freed) = foreign(elements, &[2, 2], &[3, -1], |managed| {
        managed.dl_tensor.byte_offset = 8;
    });
    let raw = Raw::from_dlpack(capsule).unwrap();
    assert_eq!(raw.to_vec::<f32>().unwrap(), [2.0, 1.0, 5.0, 4.0]);
    let part = raw.select(0, 1).unwrap();
    let other = std::thread::spawn(move || {
        drop(raw);
        part.to_vec::<f32>().unwrap()
    });
    assert_eq!(other.join().unwrap(), [5.0, 4.0]);
    assert_eq!(freed.load(Ordering::Relaxed), 1);
    let (capsule, freed) = foreign(vec![1.0, 2.0], &[2, 1], &[], |_| ());
    assert_eq!(Raw::from_dlpack(capsule).unwrap().strides(), [1, 1]);
    assert_eq!(freed.load(Ordering::Relaxed), 1);
}

#[test]
fn a_struct_that_is_broken_is_an_error_and_is_freed() {
    type Change = fn(&mut Versioned);
    let broken: [(Change, ErrorKind); 9] = [
        (|managed| managed.version.major = 2, ErrorKind::Argument),
        (
            |managed| managed.dl_tensor.device.device_type = 2,
            ErrorKind::Device,
        ),
        (
            |managed| managed.dl_tensor.dtype.lanes = 4,
            ErrorKind::DType,
        ),
        (
            |managed| {
                managed.dl_tensor.dtype = DLDataType {
                    code: 1,
                    bits: 16,
                    lanes: 1,
                }
            },
            ErrorKind::DType,
        ),
        (|managed| managed.dl_tensor.ndim = -1, ErrorKind::Rank),
        (|managed| managed.dl_tensor.ndim = 65, ErrorKind::Rank),
        (
            |managed| managed.dl_tensor.shape = null_mut(),
            ErrorKind::Argument,
        ),
        (
            |managed| managed.dl_tensor.data = null_mut(),
            ErrorKind::Argument,
        ),
        (
            |managed| managed.dl_tensor.byte_offset = 2,
            ErrorKind::Argument,
        ),
    ];
    for (at, (change, kind)) in broken.into_iter().enumerate() {
        let (capsule, freed) = foreign(vec![1.0; 6], &[2, 2], &[2, 1], change);
        assert_eq!(Raw::from_dlpack(capsule).unwrap_err().kind(), kind, "{at}");
        assert_eq!(freed.load(Ordering::Relaxed), 1, "{at}");
    }
    let lists: [([i64; 2], [i64; 2]); 7] = [
        ([2, -1], [2, 1]),
        ([i64::MAX, i64::MAX], [1, 1]),
        ([1 << 40, 1 << 40], [0, 0]),
        ([2, 2], [i64::MAX, 1]),
        ([2, 2], [i64::MIN, 1]),
        ([3, 1], [i64::MAX / 4, 1]),
        ([0, i64::MAX], [1, 1]),
    ];
    for (shape, strides) in lists {
        let (capsule, freed) = foreign(vec![1.0; 4], &shape, &strides, |_| ());
        Raw::from_dlpack(capsule).unwrap_err();
        assert_eq!(freed.load(Ordering::Relaxed), 1);
    }
    let (capsule, _) = foreign(vec![1.0; 4], &[2], &[1], |managed| {
        managed.dl_tensor.dtype = DLDataType::from_dtype(DType::Bool);
        // The second byte of 1.0 from the end is 0x80.
        managed.dl_tensor.byte_offset = 2;
    });
    assert_eq!(
        Raw::from_dlpack(capsule).unwrap_err().kind(),
        ErrorKind::Parse
    );
    // SAFETY: null is refused.
    let null = unsafe { Capsule::<Versioned>::from_raw(null_mut()) };
    assert_eq!(null.unwrap_err().kind(), ErrorKind::Argument);
}
