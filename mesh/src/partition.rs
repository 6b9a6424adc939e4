//! The part of a dim that a rank holds: a formula of sizes and ranks, so that no rank has to ask another.

/// Returns the first index and the length of the part of `size` that rank `rank` of `ranks` holds. The first
/// `size % ranks` ranks hold one more.
#[must_use]
pub fn part(size: usize, ranks: usize, rank: usize) -> (usize, usize) {
    let (each, more) = (size / ranks, size % ranks);
    (
        rank * each + rank.min(more),
        each + usize::from(rank < more),
    )
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn parts_follow_each_other_and_are_all() {
        for size in [0, 1, 2, 3, 4, 5, 7, 8, 100] {
            for ranks in 1..=9 {
                let mut next = 0;
                for rank in 0..ranks {
                    let (start, len) = part(size, ranks, rank);
                    assert_eq!(start, next);
                    assert!(len.abs_diff(size / ranks) <= 1);
                    next = start + len;
                }
                assert_eq!(next, size);
            }
        }
        assert_eq!(part(usize::MAX, 2, 1), (usize::MAX / 2 + 1, usize::MAX / 2));
    }
}
