//! Memory beyond the cache: asking for it ahead, and writing past the cache.

/// Bytes of a line of the cache.
const LINE: usize = 64;

/// Asks for a line.
#[inline(always)]
pub(super) fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which reads nothing.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Copies bytes. Whole lines go past the cache, so that they are not read before they are written; others
/// see them after a [`fence`].
///
/// # Safety
/// `bytes` are readable at `from` and writable at `to`; they do not overlap.
#[inline]
pub(super) unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let head = to.align_offset(LINE).min(bytes);
    let lines = if cfg!(target_arch = "x86_64") {
        (bytes - head) / LINE
    } else {
        0
    };
    let tail = head + lines * LINE;
    // SAFETY: the parts make up the bytes, of which the middle is whole lines.
    unsafe {
        from.copy_to_nonoverlapping(to, head);
        for line in 0..lines {
            let at = head + line * LINE;
            store(from.add(at), to.add(at));
        }
        from.add(tail)
            .copy_to_nonoverlapping(to.add(tail), bytes - tail);
    }
}

/// Writes a line past the cache.
///
/// # Safety
/// As [`copy`], of a line that `to` begins.
#[inline(always)]
unsafe fn store(from: *const u8, to: *mut u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a line is four vectors, and those at `to` are aligned. Bytes of any dtype are bytes.
    unsafe {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (from, to) = (from.cast::<__m128i>(), to.cast::<__m128i>());
        for i in 0..4 {
            _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    // SAFETY: the caller's promise.
    unsafe {
        from.copy_to_nonoverlapping(to, LINE);
    }
}

/// Lets others see what [`copy`] wrote, before whatever this thread writes next.
#[inline]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every such machine has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_every_byte_and_no_other() {
        let from: Vec<u8> = (0..500).map(|i| (i % 251) as u8).collect();
        for start in [0, 1, 4, 63, 64, 70] {
            for bytes in [0, 1, 3, 64, 65, 127, 128, 200, 320] {
                let mut to = vec![255_u8; 500];
                // SAFETY: both have more bytes than are copied.
                unsafe { copy(from.as_ptr().add(7), to.as_mut_ptr().add(start), bytes) };
                fence();
                assert_eq!(to[start..start + bytes], from[7..7 + bytes]);
                let others = to[..start].iter().chain(&to[start + bytes..]);
                assert!(others.into_iter().all(|&byte| byte == 255));
            }
        }
    }
}
