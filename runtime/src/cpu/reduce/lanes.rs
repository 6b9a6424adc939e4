//! Lanes of a register: one of all, and the last elements of a line in one.

/// Lanes joined by halves, until one is left: as many steps as a power of two has, where one lane after the other would wait for each.
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

/// Fewer elements than there are lanes, and what fills the others.
#[inline(always)]
pub(crate) fn filled<T: Copy, const N: usize>(rest: &[T], with: T) -> [T; N] {
    let mut lanes = [with; N];
    lanes[..rest.len()].copy_from_slice(rest);
    lanes
}
