use crate::Device;
use nomina_core::ErrorKind;

use super::*;

#[test]
fn blocks_are_aligned_and_zeroed() {
    for bytes in [1, 63, 64, 4097, 1 << 17, (1 << 20) + 1] {
        let storage = Storage::cpu_zeroed("zeros", bytes).unwrap();
        assert_eq!(storage.as_ptr() as usize % ALIGNMENT, 0);
        assert_eq!((storage.len(), storage.device()), (bytes, Device::Cpu));
        // SAFETY: `bytes` bytes were allocated, all zero.
        let content = unsafe { std::slice::from_raw_parts(storage.as_ptr(), bytes) };
        assert!(content.iter().all(|&byte| byte == 0));
    }
    assert!(Storage::cpu("empty", 0).unwrap().is_empty());
}

#[test]
fn refused_memory_is_an_error() {
    let error = Storage::cpu("zeros", isize::MAX as usize - 64).unwrap_err();
    assert_eq!((error.kind(), error.op()), (ErrorKind::Memory, "zeros"));
    assert_eq!(
        Storage::cpu("zeros", usize::MAX).unwrap_err().kind(),
        ErrorKind::Memory
    );
}

#[test]
fn a_vector_comes_back_without_a_copy() {
    let mut data = Vec::with_capacity(10);
    data.extend([1.0_f64, 2.0, 3.0]);
    let address = data.as_ptr();
    let storage = Storage::adopt("from_vec", data).unwrap();
    assert_eq!(storage.as_ptr(), address.cast());
    let back = storage.into_vec::<f64>().unwrap();
    assert_eq!((back.as_ptr(), back.capacity()), (address, 10));
    assert_eq!(back, [1.0, 2.0, 3.0]);
    assert!(
        Storage::adopt("from_vec", Vec::<u8>::new())
            .unwrap()
            .into_vec::<u8>()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn sharing_forbids_writing() {
    let mut storage = Storage::adopt("from_vec", vec![1_u8, 2]).unwrap();
    assert!(storage.unique_ptr().is_some());
    let other = storage.clone();
    assert!(!storage.is_unique() && storage.shares(&other) && storage.unique_ptr().is_none());
    let storage = storage.into_vec::<u8>().unwrap_err();
    drop(other);
    assert!(storage.is_unique());
    // A block that is aligned to a cache line cannot become a vector.
    assert!(
        Storage::cpu_zeroed("zeros", 8)
            .unwrap()
            .into_vec::<u8>()
            .is_err()
    );
}

/// Small buffers, buffers with their own block, and adopted vectors: several threads read, clone,
/// write once unshared, and drop each.
#[test]
fn the_last_reference_frees_whoever_holds_it() {
    let rounds = if cfg!(miri) { 20 } else { 2000 };
    for round in 0..rounds {
        let bytes = [8, 4096, 100_000][round % 3];
        let bytes = if cfg!(miri) { bytes.min(40_000) } else { bytes };
        let storage = if round % 5 == 0 {
            Storage::adopt("from_vec", vec![0_u8; bytes]).unwrap()
        } else {
            Storage::cpu_zeroed("zeros", bytes).unwrap()
        };
        let written: usize = std::thread::scope(|scope| {
            let all = [storage.clone(), storage.clone(), storage];
            let threads = all.map(|mut storage| {
                scope.spawn(move || {
                    let view = storage.clone();
                    // SAFETY: of the requested length, and initialised.
                    let read = unsafe { view.as_ptr().add(bytes - 1).read() };
                    drop(view);
                    match storage.unique_ptr() {
                        Some(ptr) if read == 0 => {
                            // SAFETY: it is not shared.
                            unsafe { ptr.add(bytes - 1).write(1) };
                            1
                        }
                        _ => 0,
                    }
                })
            });
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        // At most the last thread had it alone.
        assert!(written <= 1);
    }
}

#[test]
fn storage_crosses_threads() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Storage>();
}
