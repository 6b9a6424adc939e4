use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// The cache and its statistics are global to the process: tests that read them take turns.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn sizes_are_close_and_in_order() {
    let mut before = 0;
    for class in 0..class::COUNT {
        let size = class::size(class);
        assert!(size > before && size.is_multiple_of(ALIGNMENT));
        assert_eq!(class::for_bytes(size), class);
        assert_eq!(class::for_bytes(before + 1), class);
        assert!(size - before <= ALIGNMENT.max(before / 8), "{size}");
        assert!(size < 1 << 20 || size.is_multiple_of(128 << 10));
        before = size;
    }
    // The address space of a process on 64-bit machines.
    assert!(before >= (1 << 47));
    assert_eq!(class::size(class::of_size(32 << 10)), 32 << 10);
}

/// Sizes beyond the address space are refused, whether freed blocks are kept or not.
#[test]
fn no_size_is_too_large_to_be_refused() {
    for bytes in (47..usize::BITS).flat_map(|bit| [1 << bit, (1_usize << bit) - 1 + (1 << bit)]) {
        assert!(Block::new(bytes, false).is_none(), "{bytes}");
        assert!(Block::new(bytes, true).is_none(), "{bytes}");
    }
    assert!(Block::new(usize::MAX, false).is_none());
}

/// Writes to all of a block, and reads it back.
fn check(block: &Block, bytes: usize, mark: u8) {
    let ptr = block.as_ptr().as_ptr();
    assert_eq!(ptr as usize % ALIGNMENT, 0);
    // SAFETY: `bytes` were requested, and the block belongs to this test.
    unsafe {
        ptr.write_bytes(mark, bytes);
        let content = std::slice::from_raw_parts(ptr, bytes);
        assert!(content.iter().all(|&byte| byte == mark));
    }
}

#[test]
fn zeroed_blocks_are_zero_also_when_used_before() {
    for bytes in [1, 64, 4097, 40 << 10, (1 << 20) + 1, 9 << 20] {
        let bytes = if cfg!(miri) { bytes.min(5000) } else { bytes };
        for _ in 0..3 {
            let block = Block::new(bytes, true).unwrap();
            // SAFETY: of the requested length, and zeroed.
            let content = unsafe { std::slice::from_raw_parts(block.as_ptr().as_ptr(), bytes) };
            assert!(content.iter().all(|&byte| byte == 0));
            check(&block, bytes, 0xAB);
        }
    }
}

#[test]
#[cfg(all(unix, not(miri)))]
fn large_blocks_begin_where_huge_pages_do() {
    for bytes in [8 << 20, 33 << 20] {
        let block = Block::new(bytes, false).unwrap();
        if cap() > 0 {
            assert_eq!(block.as_ptr().as_ptr() as usize % (2 << 20), 0);
        }
        check(&block, bytes, 7);
    }
}

#[test]
fn what_is_freed_comes_back() {
    let _turn = alone();
    if cap() == 0 {
        return;
    }
    // Sizes that no other test uses: other tests might take the blocks that this one frees.
    for bytes in [11 * 64, 3_000_000] {
        let first = Block::new(bytes, false).unwrap();
        let address = first.as_ptr();
        drop(first);
        let second = Block::new(bytes - 1, false).unwrap();
        assert_eq!(second.as_ptr(), address);
    }
}

#[test]
fn no_bytes_are_no_block() {
    let block = Block::new(0, true).unwrap();
    assert_eq!(block.as_ptr().as_ptr() as usize % ALIGNMENT, 0);
}

#[test]
fn what_cannot_be_had_is_none() {
    assert!(Block::new((isize::MAX as usize) >> 16, false).is_none());
    assert!(Block::exact(isize::MAX as usize, false).is_none());
}
