//! Lanes of a register: reduction to one value, and padding of a partial register.

/// Combines lanes by halves until one is left. This takes log2(N) dependent steps instead of N.
#[inline(always)]
pub(crate) fn halved<T: Copy, const N: usize>(mut lanes: [T; N], join: impl Fn(T, T) -> T) -> T {
    const { assert!(N.is_power_of_two()) };
    let mut half = N / 2;
    while half > 0 {
        for at in 0..half {
            lanes[at] = join(lanes[at], lanes[at + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// Returns `rest`, which has fewer elements than there are lanes, padded with `with`.
#[inline(always)]
pub(crate) fn filled<T: Copy, const N: usize>(rest: &[T], with: T) -> [T; N] {
    let mut lanes = [with; N];
    lanes[..rest.len()].copy_from_slice(rest);
    lanes
}
